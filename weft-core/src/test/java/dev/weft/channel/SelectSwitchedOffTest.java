package dev.weft.channel;

import static dev.weft.Eventually.waits;
import static dev.weft.channel.Select.otherwise;
import static dev.weft.channel.Select.timeout;
import static dev.weft.channel.Select.when;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.channel.ChannelInsides;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clauses that are switched off, and clauses in a list. */
@Feature("K9")
class SelectSwitchedOffTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final String ALL_OFF =
      "cannot select: Select.when has switched off every clause (%d), so it would wait for ever;"
          + " keep one switched on, a timeout or otherwise too, or do not select any more";

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Channel<Integer> a = Channel.buffered(1);
  private final Channel<Integer> b = Channel.rendezvous();

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  private void assertNoWaiterIsLeft() {
    for (Channel<Integer> each : List.of(a, b)) {
      assertThat(ChannelInsides.hasNoWaiters(each)).isTrue();
    }
  }

  @Test
  void aClauseThatIsSwitchedOnIsUnchanged() {
    Select.Clause<Integer> clause = a.onReceive(value -> value);
    assertThat(when(true, clause)).isSameAs(clause);
    assertThat(when(false, clause)).isNotSameAs(clause);
  }

  @Test
  void aReadyChannelThatIsSwitchedOffIsLeftAlone() throws Exception {
    a.send(1);
    for (int i = 0; i < 100; i++) {
      assertThat(
              Select.<String>of(when(false, a.onReceive(value -> "a")), otherwise(() -> "other")))
          .isEqualTo("other");
    }
    assertThat(a.tryReceive()).contains(1);
    assertThat(Select.<String>of(when(false, a.onSend(2, () -> "sent")), otherwise(() -> "other")))
        .isEqualTo("other");
    assertThat(a.size()).isZero();
  }

  @Test
  void aClosedChannelThatIsSwitchedOffIsLeftAlone() throws Exception {
    a.close();
    assertThat(
            Select.<String>of(
                when(false, a.onReceive(value -> "a", () -> "end")),
                when(false, a.onSend(1, () -> "sent")),
                otherwise(() -> "other")))
        .isEqualTo("other");
  }

  @Test
  void aSelectWaitsForTheOtherClauses() throws Exception {
    Fiber<String> fiber =
        scheduler.go(
            () ->
                Select.of(
                    when(false, a.onReceive(value -> "a")),
                    when(true, b.onReceive(value -> "b" + value)),
                    when(false, timeout(Duration.ZERO, () -> "late")),
                    when(false, otherwise(() -> "other"))));
    waits(fiber);
    a.send(1);
    assertThat(fiber.status()).as("not at the channel that is off").isEqualTo(Fiber.Status.WAITING);
    b.send(2);
    assertThat(fiber.join()).isEqualTo("b2");
    assertNoWaiterIsLeft();
  }

  @Test
  void ofTwoOtherwisesOneMayBeSwitchedOff() throws Exception {
    assertThat(
            Select.<String>of(
                a.onReceive(value -> "a"),
                when(false, otherwise(() -> "not this")),
                when(true, otherwise(() -> "this"))))
        .isEqualTo("this");
  }

  @Test
  void withoutChannelsATimeoutOrOtherwiseIsEnough() throws Exception {
    Select.Clause<String> off = when(false, a.onReceive(value -> "a"));
    assertThat(Select.<String>of(off, timeout(Duration.ofMillis(1), () -> "late")))
        .isEqualTo("late");
    assertThat(Select.<String>of(off, otherwise(() -> "other"))).isEqualTo("other");
    assertThat(
            Select.<String>of(
                when(false, timeout(Duration.ZERO, () -> "early")),
                timeout(Duration.ofMillis(1), () -> "late")))
        .as("of two timeouts only the one that is switched on counts")
        .isEqualTo("late");
  }

  @Test
  void aSelectWithAllClausesSwitchedOffIsRefused() {
    a.trySend(1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Select.of(when(false, a.onReceive(value -> value))))
        .withMessage(ALL_OFF, 1);
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                Select.of(
                    when(false, a.onReceive(value -> value)),
                    when(false, b.onSend(1, () -> 1)),
                    when(false, timeout(LONG, () -> 1)),
                    when(false, otherwise(() -> 1))))
        .withMessage(ALL_OFF, 4);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Select.of(List.of(when(false, otherwise(() -> 1)))))
        .withMessage(ALL_OFF, 1);
    assertThat(a.size()).as("nothing was done").isEqualTo(1);
  }

  @Test
  void aListIsEquivalentToAnArray() throws Exception {
    List<Select.Clause<String>> clauses = new ArrayList<>();
    clauses.add(a.onReceive(value -> "a" + value));
    clauses.add(b.onReceive(value -> "b" + value));
    Fiber<String> fiber = scheduler.go(() -> Select.of(clauses));
    waits(fiber);
    clauses.clear(); // the select has read the list
    b.send(1);
    assertThat(fiber.join()).isEqualTo("b1");
    a.send(2);
    clauses.add(a.onReceive(value -> "a" + value));
    assertThat(Select.of(clauses)).as("a single clause").isEqualTo("a2");
    clauses.add(otherwise(() -> "other"));
    assertThat(Select.of(clauses)).isEqualTo("other");
    assertNoWaiterIsLeft();
  }

  @Test
  void badListsAndClausesAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Select.of(List.<Select.Clause<Integer>>of()))
        .withMessage("select needs at least one clause");
    assertThatNullPointerException()
        .isThrownBy(() -> Select.of((List<Select.Clause<Integer>>) null))
        .withMessage("clauses");
    List<Select.Clause<Integer>> withNull = new ArrayList<>();
    withNull.add(null);
    assertThatNullPointerException().isThrownBy(() -> Select.of(withNull)).withMessage("clause");
    assertThatNullPointerException().isThrownBy(() -> when(true, null)).withMessage("clause");
    assertThatNullPointerException().isThrownBy(() -> when(false, null)).withMessage("clause");
  }

  @Test
  @Feature("K5")
  void aCancelOfAWaitingSelectLeavesNothingBehind() {
    Fiber<Integer> fiber =
        scheduler.go(
            () ->
                Select.of(
                    List.of(
                        when(false, a.onSend(1, () -> 1)),
                        b.onReceive(value -> value, () -> -1),
                        b.onReceive(value -> value, () -> -1),
                        when(false, otherwise(() -> 2)))));
    waits(fiber);
    fiber.cancel();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join);
    assertThat(a.size()).isZero();
    assertNoWaiterIsLeft();
  }

  @Test
  @Feature("S18")
  void dumpsNameOnlyTheClausesSwitchedOn() throws Exception {
    Fiber<Integer> fiber =
        scheduler.go(
            () -> Select.of(when(false, a.onReceive(value -> 1)), b.onReceive(value -> 2)));
    waits(fiber);
    assertThat(scheduler.dump().text())
        .contains("waits for a value from " + b)
        .doesNotContain(a.toString());
    b.send(1);
    fiber.join();
  }
}
