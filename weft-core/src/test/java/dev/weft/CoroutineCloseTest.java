package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Coroutine.State;
import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Closing a coroutine unwinds its stack. */
@Feature("C12")
class CoroutineCloseTest {
  private final List<String> order = new ArrayList<>();

  @Test
  void finallyBlocksRunInnermostFirst() {
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              try {
                try {
                  Coroutine.yield();
                  order.add("not reached");
                } finally {
                  order.add("inner");
                }
              } finally {
                order.add("outer");
              }
            });
    coroutine.resume();
    coroutine.close();
    assertThat(order).containsExactly("inner", "outer");
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  void aBodyThatCatchesExceptionsIsUnwoundToo() {
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              while (true) {
                try {
                  Coroutine.yield();
                } catch (Exception e) {
                  order.add("swallowed " + e);
                }
              }
            });
    coroutine.resume();
    coroutine.close();
    assertThat(order).isEmpty();
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  void aYieldInAFinallyBlockDoesNotStopTheUnwinding() {
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              try {
                try {
                  Coroutine.yield();
                } finally {
                  Coroutine.yield();
                }
              } finally {
                order.add("outer");
              }
            });
    coroutine.resume();
    coroutine.close();
    assertThat(order).containsExactly("outer");
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  void aBodyThatRefusesToEndIsReportedAndLeftSuspended() {
    boolean[] stubborn = {true};
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              while (stubborn[0]) {
                try {
                  Coroutine.yield();
                } catch (Throwable e) {
                  // ignores the error deliberately
                }
              }
            });
    coroutine.resume();
    assertThatIllegalStateException()
        .isThrownBy(coroutine::close)
        .withMessageContaining("cannot close coroutine " + coroutine.id())
        .withMessageContaining("caught the unwinding");
    assertThat(coroutine.state()).isEqualTo(State.READY);
    stubborn[0] = false;
    coroutine.close();
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  void anExceptionFromAFinallyBlockComesOutOfClose() {
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              try {
                Coroutine.yield();
              } finally {
                failingCleanUp();
              }
            });
    coroutine.resume();
    assertThatThrownBy(coroutine::close).hasMessage("clean-up failed");
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  private static void failingCleanUp() {
    throw new IllegalArgumentException("clean-up failed");
  }

  @Test
  void aFailingTransferTargetDoesNotStopTheUnwinding() {
    Coroutine failing = Coroutine.of(CoroutineCloseTest::failingCleanUp);
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              try {
                Coroutine.yield();
              } finally {
                try {
                  Coroutine.transferTo(failing);
                } finally {
                  order.add("inner");
                }
              }
            });
    coroutine.resume();
    assertThatThrownBy(coroutine::close).hasMessage("clean-up failed");
    assertThat(order).containsExactly("inner");
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  void closingANeverStartedOrEndedCoroutineRunsNothing() {
    Coroutine fresh = Coroutine.of(() -> order.add("ran"));
    fresh.close();
    fresh.close();
    assertThat(fresh.state()).isEqualTo(State.TERMINATED);
    assertThat(order).isEmpty();
    fresh.reset(() -> order.add("new life"));
    fresh.resume();
    fresh.close();
    assertThat(order).containsExactly("new life");
  }

  @Test
  void aRunningCoroutineCannotCloseItself() {
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              Coroutine self = Coroutine.current().orElseThrow();
              assertThatIllegalStateException()
                  .isThrownBy(self::close)
                  .withMessage("cannot close coroutine " + self.id() + ": it is RUNNING");
              order.add("went on");
            });
    coroutine.resume();
    assertThat(order).containsExactly("went on");
  }

  @Test
  void aCoroutineThatTransferredAwayIsUnwoundToo() {
    Coroutine other = Coroutine.of(() -> order.add("other"));
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              try {
                Coroutine.transferTo(other);
              } finally {
                order.add("cleaned up");
              }
            });
    coroutine.resume();
    coroutine.close();
    assertThat(order).containsExactly("other", "cleaned up");
  }
}
