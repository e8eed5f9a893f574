package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Wait groups. */
@Feature({"Y5", "Y6"})
class WaitGroupTest {
  private final WaitGroup group = new WaitGroup();

  @Test
  void allWaitersGoOnWhenTheCountIsZero() throws Exception {
    group.await();
    try (Crew crew = new Crew()) {
      for (int round = 0; round < 3; round++) {
        group.add(3);
        List<Crew.Member> members =
            Stream.generate(() -> crew.start(group::await).waits()).limit(4).toList();
        group.done();
        group.add(-1);
        assertThat(members).noneMatch(member -> member.end().isDone());
        assertThat(group.await(Duration.ofMillis(1))).isFalse();
        group.done();
        for (Crew.Member member : members) {
          member.join();
        }
        assertThat(group.await(Duration.ZERO)).isTrue();
      }
    }
  }

  @Test
  @Feature("Y7")
  void aWaiterThatGivesUpLeavesTheOthersWaiting() throws Exception {
    group.add(1);
    try (Crew crew = new Crew()) {
      List<Crew.Member> members =
          Stream.generate(() -> crew.start(group::await).waits()).limit(6).toList();
      for (int i = 0; i < 3; i++) {
        members.get(i).giveUp();
        assertThatExceptionOfType(Exception.class).isThrownBy(members.get(i)::join);
      }
      group.done();
      for (int i = 3; i < 6; i++) {
        members.get(i).join();
      }
    }
  }

  @Test
  void moreDoneThanAddedIsRefused() {
    assertThatIllegalStateException()
        .isThrownBy(group::done)
        .withMessage("cannot take 1 from 0: done() without add()");
    group.add(Integer.MAX_VALUE);
    assertThatIllegalStateException()
        .isThrownBy(() -> group.add(1))
        .withMessageContaining("too many");
    group.add(-Integer.MAX_VALUE);
    assertThatIllegalStateException().isThrownBy(() -> group.add(Integer.MIN_VALUE));
  }
}
