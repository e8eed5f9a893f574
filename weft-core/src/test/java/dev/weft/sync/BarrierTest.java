package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Barriers. */
@Feature({"Y5", "Y6"})
class BarrierTest {
  @Test
  void allPassTogetherRoundAfterRound() throws Exception {
    int parties = 5;
    int rounds = 200;
    Barrier barrier = new Barrier(parties);
    AtomicInteger arrivals = new AtomicInteger();
    ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    AtomicInteger places = new AtomicInteger();
    try (Crew crew = new Crew()) {
      List<Crew.Member> members = new ArrayList<>();
      for (int i = 0; i < parties; i++) {
        members.add(
            crew.start(
                () -> {
                  for (int round = 1; round <= rounds; round++) {
                    arrivals.incrementAndGet();
                    places.addAndGet(barrier.await());
                    if (arrivals.get() < round * parties) {
                      wrong.add("passed with " + arrivals.get() + " in round " + round);
                    }
                  }
                }));
      }
      for (Crew.Member member : members) {
        member.join();
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(places).as("0 to 4, each round").hasValue(10 * rounds);
  }

  @Test
  @Feature("Y7")
  void aPartyThatGivesUpHasNotArrived() throws Exception {
    Barrier barrier = new Barrier(3);
    try (Crew crew = new Crew()) {
      for (int i = 0; i < 3; i++) {
        Crew.Member stays = crew.start(barrier::await).waits();
        Crew.Member leaves = crew.start(barrier::await).waits();
        leaves.giveUp();
        assertThatExceptionOfType(Exception.class).isThrownBy(leaves::join);
        assertThat(barrier.await(Duration.ofMillis(1))).isFalse();
        Crew.Member second =
            crew.start(() -> assertThat(barrier.await(Duration.ofHours(1))).isTrue());
        second.waits();
        assertThat(stays.end().isDone()).isFalse();
        assertThat(barrier.await()).isEqualTo(2);
        stays.join();
        second.join();
      }
    }
  }

  @Test
  @Feature("Y7")
  void aTimeOutThatMeetsTheLastArrivalEitherPassesWithAllOrStaysWithAll() throws Exception {
    Barrier barrier = new Barrier(3);
    try (Crew crew = new Crew()) {
      for (int i = 0; i < 200; i++) {
        int nanos = 1_000 + i * 300;
        AtomicInteger passed = new AtomicInteger();
        List<Crew.Member> members =
            Stream.generate(
                    () ->
                        crew.start(
                            () -> {
                              if (barrier.await(Duration.ofNanos(nanos))) {
                                passed.incrementAndGet();
                              }
                            }))
                .limit(3)
                .toList();
        for (Crew.Member member : members) {
          member.join();
        }
        assertThat(passed.get()).isIn(0, 3);
      }
    }
  }

  @Test
  void aSinglePartyNeverWaits() throws Exception {
    Barrier barrier = new Barrier(1);
    assertThat(barrier.await()).isZero();
    assertThat(barrier.await(Duration.ZERO)).isTrue();
    assertThat(barrier.parties()).isEqualTo(1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Barrier(0))
        .withMessage("parties must be at least 1, not 0");
  }

  @Test
  @Feature("Y7")
  void theNumbersHaveNoGapsAfterAPartyGaveUp() throws Exception {
    Barrier barrier = new Barrier(3);
    try (Crew crew = new Crew()) {
      Crew.Member leaves = crew.start(barrier::await).waits();
      Crew.Member first = crew.start(() -> assertThat(barrier.await()).isEqualTo(0)).waits();
      leaves.giveUp();
      assertThatExceptionOfType(Exception.class).isThrownBy(leaves::join);
      Crew.Member second = crew.start(() -> assertThat(barrier.await()).isEqualTo(1)).waits();
      assertThat(barrier.await()).isEqualTo(2);
      first.join();
      second.join();
    }
  }
}
