package dev.weft.stress.sim;

import static dev.weft.stress.sim.Party.check;
import static dev.weft.stress.sim.Party.equal;

import dev.weft.Fiber;
import dev.weft.time.Timer;
import dev.weft.time.Timers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Timers: after a cancel that returned true no callback runs; a period is kept in virtual time. */
final class TimerPrograms {
  private static final Duration MOMENT = Duration.ofMillis(1);

  static final List<OwnProgram> ALL =
      List.of(
          new OwnProgram("timerMeetsCancel", TimerPrograms::meetsCancel),
          new OwnProgram("recurringTimerMeetsCancel", TimerPrograms::recurringMeetsCancel),
          new OwnProgram("timerMeetsRefresh", TimerPrograms::meetsRefresh),
          new OwnProgram("sleepersWakeInOrder", TimerPrograms::sleepersWakeInOrder));

  private TimerPrograms() {}

  private static Timers timers() {
    return Fiber.current().orElseThrow().scheduler().timers();
  }

  private static void meetsCancel() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    AtomicInteger cancels = new AtomicInteger();
    Timer timer = timers().after(MOMENT, calls::incrementAndGet);
    Party party = new Party();
    for (int i = 0; i < 2; i++) {
      party.go(
          "canceller " + i,
          () -> {
            Fiber.sleep(MOMENT);
            cancels.addAndGet(timer.cancel() ? 1 : 0);
          });
    }
    party.join();
    Fiber.sleep(MOMENT);
    equal(calls.get() + cancels.get(), 1, "callbacks and cancels");
    equal(timers().pending(), 0, "timers left");
  }

  private static void recurringMeetsCancel() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    Timer timer =
        timers()
            .every(
                MOMENT,
                () -> {
                  calls.incrementAndGet();
                  Fiber.yield();
                });
    Party party = new Party();
    AtomicInteger cancels = new AtomicInteger();
    for (int i = 0; i < 2; i++) {
      party.go(
          "canceller " + i,
          () -> {
            Fiber.sleep(MOMENT.multipliedBy(3));
            if (timer.cancel()) {
              cancels.incrementAndGet();
            }
          });
    }
    party.join();
    int seen = calls.get();
    Fiber.sleep(MOMENT.multipliedBy(5));
    check(cancels.get() <= 1, "two cancels were the first");
    check(seen >= 2 && calls.get() <= 4, seen + " calls, then " + calls.get());
    timer.cancel();
    Fiber.sleep(MOMENT);
    equal(timers().pending(), 0, "timers left");
  }

  private static void meetsRefresh() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    Timer timer = timers().after(MOMENT, calls::incrementAndGet);
    Party party = new Party();
    AtomicInteger refreshed = new AtomicInteger();
    party.go(
        "refresher",
        () -> {
          Fiber.sleep(MOMENT);
          refreshed.addAndGet(timer.refresh() ? 1 : 0);
        });
    party.go(
        "resetter",
        () -> {
          Fiber.sleep(MOMENT);
          timer.reset(MOMENT.multipliedBy(2), false);
        });
    party.join();
    Fiber.sleep(MOMENT.multipliedBy(5));
    equal(calls.get(), 1, "callbacks");
  }

  @SuppressWarnings("JdkObsolete") // fibers share it
  private static void sleepersWakeInOrder() throws Exception {
    StringBuffer order = new StringBuffer();
    Party party = new Party();
    for (int i = 3; i > 0; i--) {
      int number = i;
      party.go(
          "sleeper " + i,
          () -> {
            Fiber.sleep(MOMENT.multipliedBy(number));
            order.append(number);
          });
    }
    party.join();
    equal(order.toString(), "123", "the order");
  }
}
