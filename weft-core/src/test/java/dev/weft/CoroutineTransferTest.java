package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Coroutine.State;
import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several coroutines: nesting, symmetric transfer, a stack overflow in one of many. */
class CoroutineTransferTest {
  @Test
  @Feature("C7")
  void nestedToAThousandEachYieldReturnsToItsDirectResumer() {
    int depth = 1_000;
    List<Integer> ended = new ArrayList<>();
    List<Coroutine> levels = new ArrayList<>();
    Coroutine outermost = nest(depth, levels, ended);
    outermost.resume();
    assertThat(outermost.state()).isEqualTo(State.READY);
    outermost.resume();

    assertThat(levels).hasSize(depth);
    assertThat(levels).allMatch(c -> c.state() == State.TERMINATED);
    assertThat(ended).hasSize(depth).isSorted();
    assertThat(Coroutine.current()).isEmpty();
  }

  private static Coroutine nest(int depth, List<Coroutine> levels, List<Integer> ended) {
    return Coroutine.of(
        () -> {
          Coroutine self = Coroutine.current().orElseThrow();
          levels.add(self);
          if (depth > 1) {
            Coroutine inner = nest(depth - 1, levels, ended);
            while (inner.state() != State.TERMINATED) {
              inner.resume();
              assertThat(Coroutine.current()).contains(self);
              assertThat(self.state()).isEqualTo(State.RUNNING);
            }
          }
          if (depth % 2 == 0) {
            Coroutine.yield();
          }
          ended.add(depth);
        });
  }

  @Test
  @Feature("C8")
  void transferPassesControlStraightOnAndYieldReturnsToTheFirstResumer() {
    List<String> order = new ArrayList<>();
    Coroutine b =
        Coroutine.of(
            () -> {
              order.add("b");
              Coroutine.yield();
              order.add("b again");
            });
    Coroutine a =
        Coroutine.of(
            () -> {
              order.add("a");
              Coroutine.transferTo(b);
              order.add("a again");
            });

    a.resume();
    order.add("resumer");
    assertThat(a.state()).isEqualTo(State.READY);
    assertThat(b.state()).isEqualTo(State.READY);
    b.resume();
    order.add("resumer");
    a.resume();
    assertThat(order).containsExactly("a", "b", "resumer", "b again", "resumer", "a again");
    assertThat(a.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  @Feature("C8")
  void theEndAndTheFailureOfTheLastCoroutineReachTheFirstResumer() {
    Coroutine failing =
        Coroutine.of(
            () -> {
              throw new IllegalArgumentException("from the last");
            });
    Coroutine first = Coroutine.of(() -> Coroutine.transferTo(failing));
    assertThatThrownBy(first::resume).hasMessage("from the last");
    assertThat(failing.state()).isEqualTo(State.TERMINATED);
    assertThat(first.state()).isEqualTo(State.READY);
    first.resume();
    assertThat(first.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  @Feature("C8")
  void resumingOrTransferringToAnAncestorIsRefusedAndNothingChanges() {
    List<String> refused = new ArrayList<>();
    Coroutine[] ancestor = new Coroutine[1];
    Coroutine child =
        Coroutine.of(
            () -> {
              refused.add(messageOf(() -> ancestor[0].resume()));
              refused.add(messageOf(() -> Coroutine.transferTo(ancestor[0])));
              refused.add(messageOf(() -> Coroutine.transferTo(Coroutine.current().orElseThrow())));
              Coroutine.yield();
            });
    ancestor[0] = Coroutine.of(child::resume);
    ancestor[0].resume();

    assertThat(refused)
        .containsExactly(
            "cannot resume coroutine " + ancestor[0].id() + ": it is RUNNING",
            "cannot transfer to coroutine " + ancestor[0].id() + ": it is RUNNING",
            "cannot transfer to coroutine " + child.id() + ": it is RUNNING");
    assertThat(child.state()).isEqualTo(State.READY);
    assertThat(ancestor[0].state()).isEqualTo(State.TERMINATED);
    child.close();
  }

  @Test
  @Feature("C8")
  void transferringOutsideACoroutineOrToAnEndedCoroutineIsRefused() {
    Coroutine ended = Coroutine.of(() -> {});
    ended.resume();
    assertThatIllegalStateException()
        .isThrownBy(() -> Coroutine.transferTo(ended))
        .withMessageContaining("cannot transfer outside a coroutine");
    Coroutine.of(
            () ->
                assertThatIllegalStateException()
                    .isThrownBy(() -> Coroutine.transferTo(ended))
                    .withMessage(
                        "cannot transfer to coroutine " + ended.id() + ": it is TERMINATED"))
        .resume();
  }

  @Test
  @Feature("C10")
  void aStackOverflowComesOutOfItsResumeAndTheOtherCoroutinesGoOn() {
    Coroutine other =
        Coroutine.of(
            () -> {
              while (true) {
                Coroutine.yield();
              }
            });
    other.resume();
    for (int i = 0; i < 3; i++) {
      Coroutine overflowing = Coroutine.of(() -> descend(0));
      assertThatThrownBy(overflowing::resume).isInstanceOf(StackOverflowError.class);
      assertThat(overflowing.state()).isEqualTo(State.TERMINATED);
      other.resume();
      assertThat(other.state()).isEqualTo(State.READY);
    }
    other.close();
  }

  @SuppressWarnings("InfiniteRecursion")
  private static int descend(int depth) {
    return descend(depth + 1) + 1;
  }

  private static String messageOf(Runnable refused) {
    try {
      refused.run();
      return "not refused";
    } catch (IllegalStateException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
