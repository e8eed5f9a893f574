package dev.weft;

import dev.weft.internal.poller.Poller;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One thread that looks after all schedulers: it reports slices that take too long and lets others
 * take over, failures that nobody joins for, and deadlocks. It looks often while a worker is awake
 * and seldom otherwise; workers never have to wake it, which would cost each wake-up of theirs a
 * second one.
 */
final class Watchdog {
  private static final long TICK_NANOS = 10_000_000;
  private static final long IDLE_TICK_NANOS = 200_000_000;

  /** After how long in one slice others take over what a worker has; said nothing about. */
  private static final long TAKE_OVER_NANOS = 20_000_000;

  /** How long all fibers of a scheduler have to wait for nothing before that is reported. */
  private static final long DEADLOCK_NANOS = 1_000_000_000;

  private static final Map<Scheduler, Watch> WATCHES = new ConcurrentHashMap<>();
  private static volatile @Nullable Thread thread;

  private Watchdog() {}

  static synchronized void watch(Scheduler scheduler) {
    WATCHES.put(scheduler, new Watch(scheduler));
    if (thread == null) {
      thread = Thread.ofPlatform().daemon().name("weft-watchdog").start(Watchdog::run);
    }
    LockSupport.unpark(thread);
  }

  static void forget(Scheduler scheduler) {
    WATCHES.remove(scheduler);
  }

  /** Called when the process ends: idle workers leave the system's pollers, and stay out. */
  static void wakeAllForTheEnd() {
    Poller.processEnds();
    WATCHES.keySet().forEach(Scheduler::wakeAll);
  }

  private static void run() {
    while (true) {
      boolean busy = false;
      for (Watch watch : WATCHES.values()) {
        try {
          busy |= watch.look(System.nanoTime());
        } catch (Throwable e) {
          Log.error("the watchdog failed on " + watch.scheduler, e);
        }
      }
      if (WATCHES.isEmpty()) {
        LockSupport.park();
      } else {
        LockSupport.parkNanos(busy ? TICK_NANOS : IDLE_TICK_NANOS);
      }
    }
  }

  /** What is known of one scheduler from the last look. */
  private static final class Watch {
    final Scheduler scheduler;
    private final long[] slices;
    private final long[] held;
    private long lastLook = System.nanoTime();

    // when all fibers were first seen to wait for nothing; 0 if they do not
    private long standstill;
    private long standstillSlices;
    private boolean reported;

    // tells of failures that nobody joined for, while there are any
    private @Nullable Thread reporter;

    Watch(Scheduler scheduler) {
      this.scheduler = scheduler;
      this.slices = new long[scheduler.workers.length];
      this.held = new long[scheduler.workers.length];
    }

    /** Returns whether there is reason to look again soon. */
    boolean look(long now) {
      boolean busy = false;
      boolean stuck = false;
      boolean allStuck = true;
      // a longer gap is a pause of the JVM or of the machine, not of the fiber
      long elapsed = Math.min(now - lastLook, 2 * TICK_NANOS);
      lastLook = now;
      for (Worker worker : scheduler.workers) {
        boolean awake = worker.isServing() && !worker.isAsleep();
        busy |= awake;
        worker.batchIsLong = awake;
        boolean isStuck = isStuck(worker, elapsed);
        stuck |= isStuck;
        allStuck &= isStuck || !worker.isServing();
      }
      if (stuck && allStuck) {
        for (Worker worker : scheduler.workers) {
          worker.doDutiesFromOutside();
        }
      }
      if (scheduler.anyStuck != stuck) {
        scheduler.anyStuck = stuck;
      }
      boolean crowded = isCrowded();
      if (stuck || crowded) {
        scheduler.wakeIdle();
      }
      reportFailures();
      return busy || !scheduler.unobserved.isEmpty() || awaitsDeadlock(now, busy);
    }

    /** On a thread of their own: the handler is the user's, and may take its time. */
    private void reportFailures() {
      if (scheduler.unobserved.hasOld() && (reporter == null || !reporter.isAlive())) {
        reporter =
            Thread.ofPlatform()
                .daemon()
                .name(scheduler.name() + "-uncaught")
                .start(scheduler.unobserved::reportOld);
      }
    }

    private boolean isStuck(Worker worker, long elapsed) {
      int i = worker.index;
      long count = worker.slices();
      long running = worker.running();
      if (running == 0 || count != slices[i]) {
        slices[i] = count;
        held[i] = 0;
        worker.stuck = false;
        return false;
      }
      long before = held[i];
      held[i] += elapsed;
      worker.stuck = held[i] > Math.min(TAKE_OVER_NANOS, scheduler.blockedNanos);
      if (before <= scheduler.blockedNanos && held[i] > scheduler.blockedNanos) {
        scheduler
            .fibers()
            .filter(fiber -> fiber.id() == running)
            .forEach(fiber -> report(worker, fiber, held[i]));
      }
      return worker.stuck;
    }

    /**
     * Marks workers on which, at every moment since the last look, some fiber has had to wait
     * although others sleep. That one waits just now is not enough: of two that talk to each other
     * one often does, for the moment until the other waits, and nothing is won if a second thread
     * takes it.
     */
    private boolean isCrowded() {
      boolean any = false;
      boolean sleeper = scheduler.hasSleeper();
      for (Worker worker : scheduler.workers) {
        boolean hadMore = !worker.ranDry;
        worker.ranDry = false;
        worker.crowded = sleeper && hadMore && !worker.isAsleep() && worker.seemsToHaveStealable();
        any |= worker.crowded;
      }
      return any;
    }

    private void report(Worker worker, Fiber<?> fiber, long nanos) {
      String stack = FiberDump.stackOf(fiber.threadOrNull());
      if (worker.running() == fiber.id() && worker.slices() == slices[worker.index]) {
        FlightEvents.blocked(worker, fiber, nanos);
        if (mayHold(fiber)) {
          return;
        }
        Log.warn(
            "%s has held thread %d of %s for %d ms; %s%n%s"
                .formatted(
                    fiber,
                    worker.index,
                    scheduler,
                    nanos / 1_000_000,
                    scheduler.threads() == 1
                        ? "nothing else runs until it waits or yields"
                        : "its other fibers move to other threads",
                    stack));
      }
    }

    /**
     * A program under ./weft run that does not know of Weft may compute and block as it likes, as
     * long as nobody has to wait for its thread.
     */
    private boolean mayHold(Fiber<?> fiber) {
      return scheduler.programMain != null
          && (fiber == scheduler.programMain || fiber.isGuest())
          && (scheduler.threads() > 1 || scheduler.live.get() == 1);
    }

    /** Reports a standstill once it has lasted; returns whether one has begun. */
    private boolean awaitsDeadlock(long now, boolean busy) {
      long total = scheduler.slices();
      if (busy || scheduler.live.isZero() || total != standstillSlices) {
        standstillSlices = total;
        standstill = 0;
        reported = false;
        return false; // the next look, as seldom as they are, finds out
      }
      if (reported || scheduler.somethingWillCome()) {
        return false;
      }
      if (standstill == 0) {
        standstill = now;
      }
      if (now - standstill < DEADLOCK_NANOS) {
        return true;
      }
      reported = true;
      String report = DeadlockReport.of(scheduler);
      if (report != null) {
        Log.warn(report);
      }
      return false;
    }
  }
}
