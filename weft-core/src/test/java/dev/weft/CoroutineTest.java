package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Coroutine.State;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** The life of one coroutine: states, errors, reset, failures. */
class CoroutineTest {
  @Test
  @Feature("C1")
  void statesFollowTheLifeOfTheBody() {
    List<State> inside = new ArrayList<>();
    Coroutine[] self = new Coroutine[1];
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              inside.add(self[0].state());
              Coroutine.yield();
              inside.add(self[0].state());
            });
    self[0] = coroutine;

    assertThat(coroutine.state()).isEqualTo(State.READY);
    coroutine.resume();
    assertThat(coroutine.state()).isEqualTo(State.READY);
    coroutine.resume();
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
    assertThat(inside).containsExactly(State.RUNNING, State.RUNNING);
  }

  @Test
  @Feature("C1")
  void everyYieldAndTheEndReturnToTheResumer() {
    List<String> order = new ArrayList<>();
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              for (int i = 1; i <= 3; i++) {
                order.add("body " + i);
                Coroutine.yield();
              }
              order.add("end");
            });
    for (int i = 1; i <= 4; i++) {
      coroutine.resume();
      order.add("resumer " + i);
    }
    assertThat(order)
        .containsExactly(
            "body 1",
            "resumer 1",
            "body 2",
            "resumer 2",
            "body 3",
            "resumer 3",
            "end",
            "resumer 4");
  }

  @Test
  @Feature("C1")
  void localsSurviveTheSwitch() {
    long[] result = new long[1];
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              long sum = 0;
              for (int i = 0; i < 1_000; i++) {
                sum += i;
                Coroutine.yield();
              }
              result[0] = sum;
            });
    while (coroutine.state() != State.TERMINATED) {
      coroutine.resume();
    }
    assertThat(result[0]).isEqualTo(499_500);
  }

  @Test
  @Feature("C2")
  void resumingARunningCoroutineIsRefusedByIdAndState() {
    Coroutine[] self = new Coroutine[1];
    List<Throwable> refused = new ArrayList<>();
    self[0] =
        Coroutine.of(
            () -> {
              try {
                self[0].resume();
              } catch (IllegalStateException e) {
                refused.add(e);
              }
              assertThat(self[0].state()).isEqualTo(State.RUNNING);
            });
    self[0].resume();
    assertThat(refused)
        .singleElement()
        .extracting(Throwable::getMessage)
        .isEqualTo("cannot resume coroutine " + self[0].id() + ": it is RUNNING");
    assertThat(self[0].state()).isEqualTo(State.TERMINATED);
  }

  @Test
  @Feature("C2")
  void resumingATerminatedCoroutineIsRefusedByIdAndState() {
    int[] runs = new int[1];
    Coroutine coroutine = Coroutine.of(() -> runs[0]++);
    coroutine.resume();
    assertThatIllegalStateException()
        .isThrownBy(coroutine::resume)
        .withMessage("cannot resume coroutine " + coroutine.id() + ": it is TERMINATED");
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
    assertThat(runs[0]).isEqualTo(1);
  }

  @Test
  @Feature("C3")
  void outsideACoroutineYieldIsRefused() {
    assertThatIllegalStateException()
        .isThrownBy(Coroutine::yield)
        .withMessageContaining("cannot yield outside a coroutine");
    assertThat(Coroutine.current()).isEmpty();
  }

  @Test
  @Feature("C3")
  void currentIsTheRunningCoroutineAndEmptyAgainAfterwards() {
    List<Coroutine> seen = new ArrayList<>();
    Coroutine coroutine = Coroutine.of(() -> seen.add(Coroutine.current().orElseThrow()));
    coroutine.resume();
    assertThat(seen).containsExactly(coroutine);
    assertThat(Coroutine.current()).isEmpty();
  }

  @Test
  @Feature("C4")
  void idsIncreaseAndCountsCanBeRead() {
    long createdBefore = Coroutine.created();
    long liveBefore = Coroutine.live();
    Coroutine first = Coroutine.of(() -> {});
    Coroutine second = Coroutine.of(Coroutine::yield);

    assertThat(second.id()).isGreaterThan(first.id());
    assertThat(Coroutine.created()).isEqualTo(createdBefore + 2);
    assertThat(Coroutine.live()).isEqualTo(liveBefore + 2);
    first.resume();
    second.resume();
    assertThat(Coroutine.live()).isEqualTo(liveBefore + 1);
    first.reset(() -> {});
    assertThat(Coroutine.live()).isEqualTo(liveBefore + 2);
    assertThat(Coroutine.created()).isEqualTo(createdBefore + 2);
    first.close();
    second.close();
    assertThat(Coroutine.live()).isEqualTo(liveBefore);
  }

  @Test
  @Feature("C5")
  void resetGivesAnEndedCoroutineANewBody() {
    List<String> order = new ArrayList<>();
    Coroutine coroutine = Coroutine.of(() -> order.add("first"));
    coroutine.resume();
    coroutine.reset(
        () -> {
          order.add("second");
          Coroutine.yield();
          order.add("third");
        });
    assertThat(coroutine.state()).isEqualTo(State.READY);
    coroutine.resume();
    coroutine.resume();
    assertThat(order).containsExactly("first", "second", "third");
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  @Feature("C5")
  void resetReplacesTheBodyOfANeverStartedCoroutine() {
    List<String> order = new ArrayList<>();
    Coroutine coroutine = Coroutine.of(() -> order.add("never"));
    coroutine.reset(() -> order.add("instead"));
    coroutine.resume();
    assertThat(order).containsExactly("instead");
  }

  @Test
  @Feature("C5")
  void resetOfASuspendedOrRunningCoroutineIsRefusedByIdAndState() {
    List<String> refused = new ArrayList<>();
    Coroutine[] self = new Coroutine[1];
    self[0] =
        Coroutine.of(
            () -> {
              try {
                self[0].reset(() -> {});
              } catch (IllegalStateException e) {
                refused.add(e.getMessage());
              }
              Coroutine.yield();
            });
    self[0].resume();
    assertThat(refused)
        .containsExactly("cannot reset coroutine " + self[0].id() + ": it is RUNNING");
    assertThatIllegalStateException()
        .isThrownBy(() -> self[0].reset(() -> {}))
        .withMessageStartingWith("cannot reset coroutine " + self[0].id() + ": it is READY")
        .withMessageContaining("close()");
    self[0].resume();
    assertThat(self[0].state()).isEqualTo(State.TERMINATED);
  }

  @Test
  @Feature("C6")
  void uncheckedExceptionsAndErrorsComeOutUnchanged() {
    for (Throwable failure : List.of(new IllegalArgumentException("no"), new LinkageError("no"))) {
      Coroutine coroutine =
          Coroutine.of(
              () -> {
                Coroutine.yield();
                if (failure instanceof Error e) {
                  throw e;
                }
                throw (RuntimeException) failure;
              });
      coroutine.resume();
      assertThatThrownBy(coroutine::resume).isSameAs(failure);
      assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
    }
  }

  @Test
  @Feature("C6")
  void checkedExceptionsComeOutWrappedAndTheCoroutineCanBeReset() {
    IOException failure = new IOException("disk full");
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              throw failure;
            });
    assertThatThrownBy(coroutine::resume)
        .isInstanceOf(CompletionException.class)
        .hasMessageContaining("coroutine " + coroutine.id())
        .hasMessageContaining("disk full")
        .hasCause(failure);
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);

    boolean[] ran = new boolean[1];
    coroutine.reset(() -> ran[0] = true);
    coroutine.resume();
    assertThat(ran[0]).isTrue();
  }

  @Test
  @Feature("C6")
  void aFailureIsReportedOnceAndDoesNotAffectTheNextBody() {
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              throw new IllegalArgumentException("once");
            });
    assertThatThrownBy(coroutine::resume).hasMessage("once");
    coroutine.reset(() -> {});
    coroutine.resume();
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  void scopedValuesOfTheBodyStayInTheBody() {
    ScopedValue<String> name = ScopedValue.newInstance();
    List<String> seen = new ArrayList<>();
    Coroutine coroutine =
        Coroutine.of(
            () ->
                ScopedValue.where(name, "body")
                    .run(
                        () -> {
                          Coroutine.yield();
                          seen.add(name.get());
                        }));
    coroutine.resume();
    assertThat(name.isBound()).isFalse();
    ScopedValue.where(name, "resumer")
        .run(
            () -> {
              coroutine.resume();
              seen.add(name.get());
            });
    assertThat(seen).containsExactly("body", "resumer");
  }
}
