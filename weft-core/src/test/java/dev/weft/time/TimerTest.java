package dev.weft.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weft.testkit.Feature;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** When timers fire, on a clock that only the test moves: so timers use no other clock. */
@Feature("T5")
class TimerTest {
  /** The queue rounds up to ticks of 2^17 ns. */
  private static final Duration TICK = Duration.ofNanos(1 << 17);

  private final VirtualTimers virtual = new VirtualTimers();
  private final Timers timers = virtual.timers;
  private final List<Duration> calls = new ArrayList<>();

  private void call() {
    calls.add(virtual.elapsed());
  }

  private static Duration ms(long millis) {
    return Duration.ofMillis(millis);
  }

  /** Checks that there was one call for each of these times, at that time or up to a tick later. */
  private void assertCalledAt(long... millis) {
    assertThat(calls).hasSize(millis.length);
    for (int i = 0; i < millis.length; i++) {
      assertThat(calls.get(i)).isBetween(ms(millis[i]), ms(millis[i]).plus(TICK));
    }
  }

  // ---- once ----

  @Test
  @Feature({"T1", "T2"})
  void aOneShotFiresOnceAndNotEarly() {
    timers.after(ms(10), this::call);
    virtual.advance(ms(10).minusNanos(1));
    assertThat(calls).isEmpty();
    assertThat(timers.pending()).isEqualTo(1);
    virtual.advance(Duration.ofDays(400));
    assertCalledAt(10);
    assertThat(timers.pending()).isZero();
    assertThat(virtual.queued()).isZero();
  }

  @Test
  @Feature("T1")
  void aTimerWithoutDelayFiresAtOnceButNotInsideTheCall() {
    timers.after(Duration.ZERO, this::call);
    assertThat(calls).isEmpty();
    virtual.advance(TICK);
    assertCalledAt(0);
  }

  @Test
  @Feature("T1")
  void aCancelledTimerDoesNotFire() {
    Timer timer = timers.after(ms(10), this::call);
    assertThat(timer.cancel()).isTrue();
    assertThat(timer.cancel()).isFalse();
    assertThat(timers.pending()).isZero();
    virtual.advance(ms(100));
    assertThat(calls).isEmpty();
    assertThat(virtual.queued()).isZero();
  }

  @Test
  @Feature("T1")
  void cancelResetAndRefreshAreTooLateOnceATimerHasFired() {
    Timer timer = timers.after(ms(10), this::call);
    virtual.advance(ms(11));
    assertThat(timer.cancel()).isFalse();
    assertThat(timer.refresh()).isFalse();
    assertThat(timer.reset(ms(5), true)).isFalse();
    assertThat(timer.reset(ms(5), false)).isFalse();
    virtual.advance(ms(100));
    assertCalledAt(10);
    assertThat(timers.pending()).isZero();
  }

  @Test
  @Feature("T1")
  void resetAndRefreshDoNotReviveACancelledTimer() {
    Timer timer = timers.every(ms(10), this::call);
    timer.cancel();
    assertThat(timer.refresh()).isFalse();
    assertThat(timer.reset(ms(5), true)).isFalse();
    virtual.advance(ms(100));
    assertThat(calls).isEmpty();
  }

  @Test
  @Feature("T1")
  void cancelAndResetAreTooLateOnceAWorkerHasTakenTheTimer() {
    Timer cancelled = timers.after(ms(10), this::call);
    Timer reset = timers.after(ms(10), this::call);
    virtual.jumpAndTakeDue(ms(11));
    assertThat(virtual.queued()).isZero();
    assertThat(cancelled.cancel()).isFalse();
    assertThat(reset.reset(ms(10), true)).isFalse();
    virtual.callDue();
    virtual.advance(ms(100));
    assertCalledAt(11, 11);
    assertThat(timers.pending()).isZero();
  }

  @Test
  @Feature("T1")
  void cancelAndResetOfARecurringTimerAreInTimeUntilAWorkerCallsIt() {
    Timer cancelled = timers.every(ms(10), this::call);
    Timer reset = timers.every(ms(20), this::call);
    virtual.jumpAndTakeDue(ms(21));
    assertThat(cancelled.cancel()).isTrue();
    assertThat(reset.reset(ms(50), true)).isTrue();
    virtual.callDue();
    assertThat(calls).isEmpty();
    virtual.advance(ms(51));
    assertCalledAt(71);
  }

  @Test
  @Feature("T1")
  void refreshRestartsTheDelay() {
    Timer timer = timers.after(ms(10), this::call);
    for (int i = 0; i < 5; i++) {
      virtual.advance(ms(9));
      assertThat(timer.refresh()).isTrue();
    }
    assertThat(calls).isEmpty();
    virtual.advance(ms(100));
    assertCalledAt(55);
  }

  @Test
  @Feature("T1")
  void resetCountsFromNowOrFromTheStart() {
    Timer fromNow = timers.after(ms(50), this::call);
    virtual.advance(ms(20));
    assertThat(fromNow.reset(ms(10), true)).isTrue();
    virtual.advance(ms(980));
    assertCalledAt(30);
    calls.clear();
    Timer fromStart = timers.after(ms(50), this::call);
    virtual.advance(ms(20));
    assertThat(fromStart.reset(ms(30), false)).isTrue();
    virtual.advance(ms(100));
    assertCalledAt(1030);
  }

  @Test
  @Feature("T1")
  void resetToATimeThatIsOverFiresAtOnce() {
    Timer timer = timers.after(ms(50), this::call);
    virtual.advance(ms(20));
    assertThat(timer.reset(ms(10), false)).isTrue();
    assertThat(calls).isEmpty();
    virtual.advance(ms(100));
    assertCalledAt(20);
  }

  // ---- again and again ----

  @Test
  @Feature({"T1", "T4"})
  void aRecurringTimerFiresUntilItIsCancelled() {
    Timer timer = timers.every(ms(10), this::call);
    virtual.advance(ms(35));
    assertThat(timers.pending()).isEqualTo(1);
    assertThat(timer.cancel()).isTrue();
    assertThat(timer.cancel()).isFalse();
    assertThat(timers.pending()).isZero();
    virtual.advance(ms(100));
    assertCalledAt(10, 20, 30);
  }

  @Test
  @Feature("T1")
  void aTimerCanCancelItselfInItsCallback() {
    AtomicReference<Timer> self = new AtomicReference<>();
    self.set(
        timers.every(
            ms(10),
            () -> {
              call();
              if (calls.size() == 2) {
                assertThat(self.get().cancel()).isTrue();
              }
            }));
    virtual.advance(ms(100));
    assertCalledAt(10, 20);
  }

  @Test
  @Feature("T1")
  void cancelStopsARecurringTimerThatHasFiredButNotStartedItsCallback() {
    virtual.holdCallbacks();
    Timer rate = timers.every(ms(10), this::call);
    Timer delay = timers.everyAfter(ms(10), this::call);
    virtual.advance(ms(11));
    assertThat(virtual.callbacksBegun()).isEqualTo(2);
    assertThat(rate.cancel()).isTrue();
    assertThat(delay.cancel()).isTrue();
    virtual.releaseCallbacks();
    virtual.advance(ms(100));
    assertThat(calls).isEmpty();
    assertThat(timers.pending()).isZero();
  }

  @Test
  @Feature("T1")
  void resetChangesThePeriodFromThenOn() {
    Timer timer = timers.every(ms(10), this::call);
    virtual.advance(ms(25));
    assertThat(timer.reset(ms(100), true)).isTrue();
    virtual.advance(ms(225));
    assertCalledAt(10, 20, 125, 225);
    assertThat(timer.reset(ms(50), false)).isTrue(); // from 225
    virtual.advance(ms(100));
    assertCalledAt(10, 20, 125, 225, 275, 325);
  }

  @Test
  @Feature("T4")
  void aRecurringTimerKeepsItsRateWithoutDrift() {
    timers.every(ms(10), this::call);
    for (int i = 0; i < 3_000; i++) {
      virtual.advance(Duration.ofNanos(3_333_333)); // out of step with the period
    }
    assertThat(calls).hasSize(999);
    for (int i = 0; i < calls.size(); i++) {
      assertThat(calls.get(i)).isBetween(ms(10L * (i + 1)), ms(10L * (i + 1)).plus(TICK));
    }
  }

  @Test
  @Feature("T4")
  void ticksMissedWhileACallbackRunsAreSkipped() {
    timers.every(ms(10), this::call);
    virtual.holdCallbacks();
    virtual.advance(ms(35));
    assertThat(virtual.callbacksBegun()).isEqualTo(1);
    virtual.releaseCallbacks(); // the callback started at 10 and ran until 35
    virtual.advance(ms(20));
    assertCalledAt(35, 40, 50);
  }

  @Test
  @Feature("T4")
  void ticksMissedInAPauseOfTheMachineAreSkipped() {
    timers.every(ms(10), this::call);
    virtual.jump(ms(1_005));
    virtual.advance(ms(20));
    assertCalledAt(1_005, 1_010, 1_020);
  }

  @Test
  @Feature("T4")
  void aFixedDelayCountsFromTheEndOfTheCallback() {
    Timer timer = timers.everyAfter(ms(10), this::call);
    virtual.holdCallbacks();
    virtual.advance(ms(35));
    assertThat(virtual.callbacksBegun()).isEqualTo(1);
    virtual.releaseCallbacks(); // the callback ends at 35
    virtual.advance(ms(15));
    assertCalledAt(35, 45);
    assertThat(timers.pending()).isEqualTo(1);
    assertThat(timer.cancel()).isTrue();
    virtual.advance(ms(100));
    assertThat(calls).hasSize(2);
  }

  @Test
  @Feature({"T1", "T4"})
  void aFixedDelayCanBeResetOrCancelledWhileItsCallbackRuns() {
    Timer reset = timers.everyAfter(ms(10), this::call);
    virtual.holdCallbacks();
    virtual.advance(ms(15));
    assertThat(reset.reset(ms(100), true)).isTrue();
    virtual.releaseCallbacks(); // the callback ends at 15
    virtual.advance(ms(110));
    assertCalledAt(15, 115);
    virtual.holdCallbacks();
    virtual.advance(ms(100));
    assertThat(virtual.callbacksBegun()).isEqualTo(1);
    assertThat(reset.cancel()).isTrue();
    virtual.releaseCallbacks();
    virtual.advance(ms(1_000));
    assertThat(timers.pending()).isZero();
    assertThat(virtual.queued()).isZero();
  }

  // ---- conditions ----

  @Test
  @Feature("T3")
  void aTimerWithoutItsConditionDoesNotRun() {
    WeakReference<Object> gone = new WeakReference<>(new Object());
    Object kept = new Object();
    WeakReference<Object> there = new WeakReference<>(kept);
    timers.afterWhile(gone, ms(10), () -> calls.add(Duration.ofDays(1)));
    timers.afterWhile(there, ms(10), this::call);
    gone.clear();
    assertThat(timers.pending()).isEqualTo(2);
    virtual.advance(ms(100));
    assertCalledAt(10);
    assertThat(timers.pending()).isZero();
    assertThat(there.refersTo(kept)).isTrue();
  }

  @Test
  @Feature("T3")
  void aRecurringTimerEndsWithItsCondition() {
    Object kept = new Object();
    WeakReference<Object> condition = new WeakReference<>(kept);
    timers.everyWhile(condition, ms(10), this::call);
    virtual.advance(ms(25));
    assertThat(condition.refersTo(kept)).isTrue();
    condition.clear();
    virtual.advance(ms(100));
    assertCalledAt(10, 20);
    assertThat(timers.pending()).isZero();
    assertThat(virtual.queued()).isZero();
  }

  @Test
  @Feature("T3")
  void aTimerThatLosesItsConditionBeforeItsFiberRunsDoesNotRun() {
    WeakReference<Object> condition = new WeakReference<>(new Object());
    timers.afterWhile(condition, ms(10), this::call);
    timers.everyWhile(condition, ms(10), this::call);
    virtual.holdCallbacks();
    virtual.jump(ms(10));
    condition.clear();
    virtual.releaseCallbacks();
    virtual.advance(ms(100));
    assertCalledAt();
    assertThat(timers.pending()).isZero();
  }

  @Test
  @Feature("T4")
  void aRecurringTimerGoesOnIfItsFiberCannotStart() {
    timers.every(ms(10), this::call);
    timers.everyAfter(ms(10), this::call);
    virtual.refuseCallbacks(true);
    virtual.advance(ms(25));
    virtual.refuseCallbacks(false);
    assertCalledAt();
    virtual.advance(ms(20));
    assertThat(calls).hasSize(4);
  }

  // ---- arguments ----

  @Test
  @Feature("T1")
  void negativeDelaysAndPeriodsWithoutLengthAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> timers.after(ms(-1), this::call))
        .withMessage("delay must be zero or more, not PT-0.001S");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> timers.every(Duration.ZERO, this::call))
        .withMessage("period must be positive, not PT0S");
    assertThatIllegalArgumentException().isThrownBy(() -> timers.everyAfter(ms(-1), this::call));
    Timer timer = timers.every(ms(10), this::call);
    assertThatIllegalArgumentException().isThrownBy(() -> timer.reset(Duration.ZERO, true));
    assertThat(timers.pending()).isEqualTo(1);
    virtual.advance(ms(15));
    assertCalledAt(10);
  }

  @Test
  @Feature("T1")
  void aTimerWithAnInfiniteDelayNeverFires() {
    Timer timer = timers.after(Duration.ofSeconds(Long.MAX_VALUE), this::call);
    virtual.advance(Duration.ofDays(365 * 100));
    assertThat(calls).isEmpty();
    assertThat(timer.cancel()).isTrue();
  }
}
