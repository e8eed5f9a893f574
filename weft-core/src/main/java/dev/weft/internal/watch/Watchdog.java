package dev.weft.internal.watch;

import dev.weft.GroupedDump;
import dev.weft.internal.Faults;
import dev.weft.internal.Log;
import dev.weft.internal.beans.SchedulerBeans;
import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One thread that watches all schedulers: it reports long slices and marks their workers stuck, so
 * that other workers take over; it reports unobserved failures, deadlocks and cycles; and it
 * repairs lost wake-ups. It looks often while a worker is awake and seldom otherwise; workers never
 * wake it, because that would double the cost of each wake-up of theirs. The {@code Sentry} of each
 * scheduler notices what cannot wait so long. (Go's counterpart is {@code sysmon} in {@code
 * proc.go}.)
 */
public final class Watchdog {
  private static final long TICK_NANOS = 10_000_000;
  private static final long IDLE_TICK_NANOS = 50_000_000;

  /** After how long in one slice a worker is stuck, and others take over, without a report. */
  private static final long TAKE_OVER_NANOS = 20_000_000;

  /** How long a standstill has to last before it is reported as a deadlock. */
  private static final long DEADLOCK_NANOS = 1_000_000_000;

  private static final long NO_SLEEP = -1;

  /** How long a worker has to sleep beside ready fibers before that is a lost wake-up. */
  private static final long LOST_NANOS = 200_000_000;

  /** For how long a suspected lost wake-up is waited for at most: a worker may have no core. */
  private static final long MOST_SUSPICION_NANOS = 2_000_000_000;

  private static final Map<SchedulerCore, Watch> WATCHES = new ConcurrentHashMap<>();
  private static final DeadlockCycles CYCLES = new DeadlockCycles();
  private static volatile @Nullable Thread thread;
  private static volatile Runnable eachLook = () -> {};

  private Watchdog() {}

  /** Sets what the watchdog calls at each of its looks, 20 to 100 times a second. */
  public static void atEachLook(Runnable action) {
    eachLook = action;
  }

  public static synchronized void watch(SchedulerCore scheduler) {
    WATCHES.put(scheduler, new Watch(scheduler));
    if (thread == null) {
      Faults.setSuspicion(Watchdog::awaitSuspectedLosses);
      thread = Thread.ofPlatform().daemon().name("weft-watchdog").start(Watchdog::run);
    }
    LockSupport.unpark(thread);
  }

  public static void forget(SchedulerCore scheduler) {
    WATCHES.remove(scheduler);
    SchedulerBeans.forget(scheduler);
  }

  /** Returns the schedulers that have been started and have not stopped. */
  public static Set<SchedulerCore> schedulers() {
    return Set.copyOf(WATCHES.keySet());
  }

  /** Returns the fibers of all schedulers that have been started and have not stopped. */
  static Stream<FiberCore<?>> fibers() {
    return WATCHES.keySet().stream().flatMap(SchedulerCore::fibers);
  }

  /** Returns whether a scheduler has been reported to stand still, and no fiber has run since. */
  static boolean standsStill(SchedulerCore scheduler) {
    Watch watch = WATCHES.get(scheduler);
    return watch != null && watch.reported && watch.standstillSlices == scheduler.slices();
  }

  /** Returns the deadlocks that have been found, with a fiber of the scheduler in each. */
  static List<List<FiberCore<?>>> cycles(SchedulerCore scheduler) {
    return CYCLES.confirmed(WATCHES.keySet()).stream()
        .filter(circle -> circle.stream().anyMatch(fiber -> fiber.core() == scheduler))
        .toList();
  }

  /** Returns the fibers that hold a thread of the scheduler for longer than other fibers wait. */
  static List<GroupedDump.HeldThread> heldThreads(SchedulerCore scheduler) {
    Watch watch = WATCHES.get(scheduler);
    return watch == null ? List.of() : watch.heldThreads();
  }

  /**
   * Waits while a worker is asleep beside ready fibers: until it wakes, or until the watchdog has
   * counted a lost wake-up. For tests, which would not wait long enough otherwise.
   */
  private static void awaitSuspectedLosses() {
    long faults = Faults.count();
    long begin = System.nanoTime();
    while (anyLossSuspected()
        && Faults.count() == faults
        && System.nanoTime() - begin < MOST_SUSPICION_NANOS) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static boolean anyLossSuspected() {
    for (SchedulerCore scheduler : WATCHES.keySet()) {
      for (Worker worker : scheduler.workers) {
        if (worker.isAsleep() && worker.hasReadyOrInbox()) {
          return true;
        }
      }
    }
    return false;
  }

  /** Called when the process ends: idle workers leave the system's pollers and do not return. */
  public static void wakeAllForTheEnd() {
    Poller.processEnds();
    WATCHES.keySet().forEach(SchedulerCore::wakeAll);
  }

  private static void run() {
    while (true) {
      eachLook.run();
      boolean busy = findCycles();
      for (Watch watch : WATCHES.values()) {
        try {
          busy |= watch.look(System.nanoTime());
        } catch (Throwable e) {
          Log.error("the watchdog failed on " + watch.scheduler, e);
        }
      }
      SchedulerBeans.update(WATCHES.keySet(), System.nanoTime());
      if (WATCHES.isEmpty()) {
        LockSupport.park();
      } else {
        LockSupport.parkNanos(busy ? TICK_NANOS : IDLE_TICK_NANOS);
      }
      Thread
          .interrupted(); // by a program that interrupts all threads: the next park would not wait
    }
  }

  private static boolean findCycles() {
    try {
      return CYCLES.step(WATCHES.keySet(), System.nanoTime());
    } catch (Throwable e) {
      Log.error("the watchdog failed to look for deadlocks", e);
      return false;
    }
  }

  /** One scheduler, and what the last look has found in it. */
  private static final class Watch {
    final SchedulerCore scheduler;
    private final long[] slices;
    private final long[] held;

    // the sleep in which each worker was seen to have ready fibers at the last look
    private final long[] lostIn;
    private final long[] lostSince;
    private long lastLook = System.nanoTime();

    // when the current standstill was first seen; 0 if there is none
    private long standstill;

    // these are read by dumps, on any thread: outdated values do no harm
    private volatile long standstillSlices;
    private volatile boolean reported;

    // for lookForLeaks: when it last looked, a hash of the waits it saw, and of those it checked
    private long leakLook;
    private long lastWaits;
    private long checkedWaits;

    // the thread that reports unobserved failures, while there are any
    private @Nullable Thread reporter;

    Watch(SchedulerCore scheduler) {
      this.scheduler = scheduler;
      this.slices = new long[scheduler.workers.length];
      this.held = new long[scheduler.workers.length];
      this.lostIn = new long[scheduler.workers.length];
      this.lostSince = new long[scheduler.workers.length];
      Arrays.fill(lostIn, NO_SLEEP);
    }

    /** Looks at the scheduler; returns whether to look again soon. */
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
        rescue(worker, now);
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
      if (stuck) {
        scheduler.wakeIdle();
      }
      reportFailures();
      return busy || !scheduler.unobserved.isEmpty() || awaitsDeadlock(now, busy);
    }

    /** On a thread of its own, because the user's handler may block. */
    private void reportFailures() {
      if (scheduler.unobserved.hasOld() && (reporter == null || !reporter.isAlive())) {
        reporter =
            Thread.ofPlatform()
                .daemon()
                .name(scheduler.name() + "-uncaught")
                .start(scheduler.unobserved::reportOld);
      }
    }

    /** On any thread: the fibers in slices that are so long that other workers take over. */
    List<GroupedDump.HeldThread> heldThreads() {
      List<GroupedDump.HeldThread> all = new ArrayList<>();
      for (Worker worker : scheduler.workers) {
        long running = worker.running();
        long nanos = held[worker.index];
        if (worker.stuck && running != 0) {
          scheduler
              .fibers()
              .filter(fiber -> fiber.id() == running && !fiber.isWaiting())
              .forEach(
                  fiber ->
                      all.add(
                          new GroupedDump.HeldThread(
                              Dumps.entry(fiber, new LockOwners(Watchdog::fibers)),
                              Duration.ofNanos(nanos))));
        }
      }
      return all;
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
      worker.longSlice = count;
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
     * Wakes a worker that sleeps although fibers are ready on it: a lost wake-up, which is a fault
     * of Weft's. The worker must have been in one and the same sleep for LOST_NANOS. A worker that
     * is about to sleep, or about to wake, looks the same; so does a worker for which another
     * thread has queued a fiber and is about to wake it; and on a busy machine each of these
     * threads may be off its core for some milliseconds just then.
     */
    private void rescue(Worker worker, long now) {
      int i = worker.index;
      long sleep = worker.isAsleep() && worker.hasReadyOrInbox() ? worker.sleeps() : NO_SLEEP;
      if (sleep != lostIn[i]) {
        lostIn[i] = sleep;
        lostSince[i] = now;
      } else if (sleep != NO_SLEEP && now - lostSince[i] >= LOST_NANOS && worker.wakeUp()) {
        worker.countRescue();
        Faults.report(
            "thread %d of %s slept although fibers were ready on it".formatted(i, scheduler));
        lostIn[i] = NO_SLEEP;
      }
    }

    private void report(Worker worker, FiberCore<?> fiber, long nanos) {
      String stack = Dumps.stackOf(fiber.threadOrNull());
      if (worker.running() == fiber.id() && worker.slices() == slices[worker.index]) {
        FlightEvents.blocked(worker.index, fiber, nanos, stack);
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
     * Returns whether the fiber may hold its worker without a report: the virtual threads of a
     * program that does not know of Weft, and its main, may compute and block, as long as no other
     * fiber has to wait for the worker.
     */
    private boolean mayHold(FiberCore<?> fiber) {
      return (scheduler.programMain != null || scheduler.hostsJvm)
          && (fiber == scheduler.programMain || fiber.isGuest())
          && (scheduler.threads() > 1 || scheduler.live.get() == 1);
    }

    /** Reports a standstill once it has lasted; returns whether one has begun. */
    private boolean awaitsDeadlock(long now, boolean busy) {
      if (scheduler.failsOnDeadlock() || scheduler.reportsLeaks()) {
        lookForLeaks(now);
      }
      long total = scheduler.slices();
      if (busy || scheduler.live.isZero() || total != standstillSlices) {
        standstillSlices = total;
        standstill = 0;
        reported = false;
        return false; // the next look, though looks are rare now, finds a standstill
      }
      if (reported || scheduler.somethingWillCome() || mayBeWoken()) {
        return false;
      }
      if (standstill == 0) {
        standstill = now;
      }
      if (now - standstill < DEADLOCK_NANOS) {
        return true;
      }
      String report = DeadlockReport.ofStandstill(scheduler);
      if (report != null) {
        reported = true;
        Log.warn(report);
      }
      return false;
    }

    /**
     * Returns whether plain threads or signals may wake a fiber: the main of a program, which is to
     * run as it does without Weft, or virtual threads that plain threads have started.
     */
    private boolean mayBeWoken() {
      FiberCore<?> main = scheduler.programMain;
      return (main != null && !main.isDone())
          || (scheduler.hostsJvm && scheduler.fibers().anyMatch(FiberCore::isGuest));
    }

    /**
     * While stop() waits: if the same fibers have waited for a second although something else runs,
     * starts a leak check. Once for the same waits, because a check takes a full collection.
     */
    private void lookForLeaks(long now) {
      if (now - leakLook < DEADLOCK_NANOS || !DeadlockReport.allWait(scheduler)) {
        return;
      }
      leakLook = now;
      long waits =
          scheduler
              .fibers()
              .mapToLong(fiber -> 31 * fiber.id() + fiber.since)
              .reduce(1, (sum, w) -> 31 * sum + w);
      boolean same = waits == lastWaits;
      lastWaits = waits;
      if (!same) {
        return;
      }
      String certain = DeadlockReport.ofStandstill(scheduler);
      if (certain != null && scheduler.failsOnDeadlock()) {
        scheduler.failWith(certain); // noteIdle missed it: another scheduler still ran then
      } else if (waits != checkedWaits) {
        checkedWaits = waits;
        Thread.ofPlatform().daemon().name(scheduler.name() + "-leaks").start(this::checkLeaks);
      }
    }

    /** On a thread of its own, because a collection may take seconds. */
    private void checkLeaks() {
      List<FiberCore<?>> leaked =
          LeakCheck.run(schedulers()).stream()
              .filter(fiber -> fiber.scheduler() == scheduler)
              .toList();
      if (leaked.isEmpty()) {
        return;
      }
      String report =
          DeadlockReport.of(
              scheduler, leaked, "nothing alive can reach what these fibers wait for");
      if (scheduler.failsOnDeadlock() && leaked.size() == scheduler.live.get()) {
        scheduler.failWith(report);
      } else {
        Log.warn(report);
      }
    }
  }
}
