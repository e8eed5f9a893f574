package dev.weft.internal.watch;

import dev.weft.GroupedDump;
import dev.weft.internal.Faults;
import dev.weft.internal.Log;
import dev.weft.internal.beans.SchedulerBeans;
import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.ComputingThreads;
import dev.weft.internal.sched.ComputingThreads.ComputingThread;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One thread that watches all schedulers: it reports long slices and marks their workers stuck, so
 * that other workers take over; it reports unobserved failures, deadlocks and cycles; and it
 * repairs lost wake-ups. Nothing on its thread waits for the program: the log, the user's {@code
 * toString} and looks at many stacks have threads of their own. It looks often while a worker is
 * awake and seldom otherwise; workers never wake it, because that would double the cost of each
 * wake-up of theirs. The {@code Sentry} of each scheduler notices what cannot wait so long. (Go's
 * counterpart is {@code sysmon} in {@code proc.go}.)
 *
 * <p>The file is long because all that one look finds, and what it remembers for the next, is meant
 * to be read in one place.
 */
public final class Watchdog {
  private static final long TICK_NANOS = 10_000_000;
  private static final long IDLE_TICK_NANOS = 50_000_000;

  /** After how long in one slice a worker is stuck, and others take over, without a report. */
  private static final long TAKE_OVER_NANOS = 20_000_000;

  /** After how long in one slice a computing thread may be lost to the other fibers, at most. */
  private static final long LOST_THREAD_NANOS = 1_000_000_000;

  /** How long a standstill has to last before it is reported as a deadlock. */
  private static final long DEADLOCK_NANOS = 1_000_000_000;

  /** After a look at so many stacks that it takes longer, the next one waits. */
  private static final long SHORT_CHECK_NANOS = 10_000_000;

  /** How many times the time of such a look: an idle scheduler costs less than 1 % of a core. */
  private static final long REST_SHARE = 100;

  private static final long MOST_REST_NANOS = 100_000_000_000L;

  private static final long NO_SLEEP = -1;

  /** How long a worker has to sleep beside ready fibers before that is a lost wake-up. */
  private static final long LOST_NANOS = 200_000_000;

  /** How long tests wait at most for the end of a suspicion: a worker may have no core. */
  private static final long MOST_SUSPICION_NANOS = 2_000_000_000;

  /** How long a failure of the watchdog that lasts is logged only once. */
  private static final long FAILURE_NANOS = 60_000_000_000L;

  private static final Map<SchedulerCore, Watch> WATCHES = new ConcurrentHashMap<>();
  private static final DeadlockCycles CYCLES = new DeadlockCycles();
  private static volatile @Nullable Thread thread;
  private static volatile Runnable eachLook = () -> {};

  // true from before a lost wake-up is repaired until it is counted; by the watchdog's thread
  private static volatile boolean rescuing;

  // the last look at the computing threads; the watchdog's thread only
  private static long lastComputingLook;

  // the last failure of the watchdog itself, and when it was logged; by its thread alone
  private static String failure = "";
  private static long failureLogged;

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

  /** Returns a number that no other scheduler of this process has; 0 if it does not run. */
  public static long number(SchedulerCore scheduler) {
    Watch watch = WATCHES.get(scheduler);
    return watch == null ? 0 : watch.number;
  }

  /** Returns the fibers of all schedulers that have been started and have not stopped. */
  static Stream<FiberCore<?>> fibers() {
    return WATCHES.keySet().stream().flatMap(SchedulerCore::fibers);
  }

  /** Returns whether a scheduler has been reported to stand still, and no fiber has run since. */
  static boolean standsStill(SchedulerCore scheduler) {
    Watch watch = WATCHES.get(scheduler);
    return watch != null && watch.reportedSlices == scheduler.slices();
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
    return rescuing; // read last: a worker that has just been woken is not asleep any more
  }

  /** Called when the process ends: idle workers leave the system's pollers and do not return. */
  public static void wakeAllForTheEnd() {
    Poller.processEnds();
    WATCHES.keySet().forEach(SchedulerCore::wakeAll);
  }

  private static void run() {
    while (true) {
      boolean busy = true;
      try {
        busy = lookAtAll();
      } catch (Throwable e) {
        // No memory, not even to call failed(): the next round tries again.
      }
      if (WATCHES.isEmpty()) {
        LockSupport.park();
      } else {
        LockSupport.parkNanos(busy ? TICK_NANOS : IDLE_TICK_NANOS);
      }
      // A program may interrupt all threads: the next park would not wait.
      Thread.interrupted();
    }
  }

  /** One round: each look may fail without the others; returns whether to look again soon. */
  private static boolean lookAtAll() {
    attempt("to call what looks with it", eachLook);
    boolean busy = findCycles();
    busy |= lookAtComputing();
    for (Watch watch : WATCHES.values()) {
      busy |= lookAt(watch);
    }
    attempt("to register beans", () -> SchedulerBeans.update(WATCHES.keySet(), System.nanoTime()));
    return busy;
  }

  private static boolean lookAt(Watch watch) {
    try {
      return watch.look(System.nanoTime());
    } catch (Throwable e) {
      failed("to look at a scheduler", e);
      return true;
    }
  }

  private static boolean findCycles() {
    try {
      return CYCLES.step(WATCHES.keySet(), System.nanoTime());
    } catch (Throwable e) {
      failed("to look for deadlocks", e);
      return false;
    }
  }

  private static boolean lookAtComputing() {
    try {
      return lookAtComputing(System.nanoTime());
    } catch (Throwable e) {
      failed("to look at the threads for fibers that compute", e);
      return true;
    }
  }

  /** Looks at the threads of the fibers that are set apart; returns whether to look again soon. */
  private static boolean lookAtComputing(long now) {
    long elapsed = Math.min(now - lastComputingLook, 2 * TICK_NANOS); // as in Watch.look
    lastComputingLook = now;
    boolean busy = false;
    int lost = 0;
    for (ComputingThread thread : ComputingThreads.all()) {
      long slice = thread.slices();
      FiberCore<?> fiber = thread.fiber();
      long held = thread.look(elapsed);
      if (fiber != null) {
        busy = true;
        long limit = fiber.core().blockedNanos;
        lost += held > Math.min(limit, LOST_THREAD_NANOS) ? 1 : 0;
        if (held - elapsed <= limit && held > limit) {
          report(thread, slice, fiber, held);
        }
      }
    }
    ComputingThreads.noteHeld(lost);
    return busy;
  }

  private static void report(ComputingThread thread, long slice, FiberCore<?> fiber, long nanos) {
    String stack = Dumps.stackOf(fiber.threadOrNull());
    if (thread.fiber() == fiber && thread.slices() == slice) {
      FlightEvents.blocked(-1, fiber, nanos, stack);
      if (!mayHold(fiber)) {
        String text =
            ("%s has held %s, a thread for fibers that compute, for %d ms;"
                    + " let the fiber yield now and then%n%s")
                .formatted(fiber, thread.getName(), nanos / 1_000_000, stack);
        Log.later(() -> Log.logger().log(Level.WARNING, text));
      }
    }
  }

  /**
   * Returns whether the fiber may hold its thread without a report: the virtual threads of a
   * program that does not know of Weft, and its main, may compute and block, as long as no other
   * fiber has to wait for the thread.
   */
  private static boolean mayHold(FiberCore<?> fiber) {
    SchedulerCore scheduler = fiber.core();
    return (scheduler.programMain != null || scheduler.hostsJvm)
        && (fiber == scheduler.programMain || fiber.isGuest())
        && (scheduler.threads() > 1 || scheduler.live.get() == 1);
  }

  private static void attempt(String what, Runnable action) {
    try {
      action.run();
    } catch (Throwable e) { // such as an OutOfMemoryError: no thread can be started
      failed(what, e);
    }
  }

  /** Logs that the watchdog has failed at something; it goes on, also if it cannot log that. */
  private static void failed(String what, Throwable e) {
    try {
      long now = System.nanoTime();
      if (!what.equals(failure) || now - failureLogged >= FAILURE_NANOS) {
        Log.later(() -> Log.logger().log(Level.ERROR, "the watchdog failed " + what, e));
        failure = what;
        failureLogged = now;
      }
    } catch (Throwable noMemory) {
      // the next failure is logged
    }
  }

  /** One scheduler, and what the last look has found in it. */
  private static final class Watch {
    private static final AtomicLong NUMBERS = new AtomicLong();

    final SchedulerCore scheduler;
    final long number = NUMBERS.incrementAndGet(); // names are not unique
    private final long[] slices;
    private final long[] held;

    // the sleep in which each worker was seen to have ready fibers at the last look
    private final long[] lostIn;
    private final long[] lostSince;
    private long lastLook = System.nanoTime();

    // when the current standstill was first seen; 0 if there is none
    private long standstill;

    // the slices that had been run when it was seen, or at the last look without one
    private long standstillSlices;

    // the slices that had been run at the last standstill that was reported
    private volatile long reportedSlices = -1;

    // when the next standstill may be checked, because of what the last check took
    private volatile long restUntil = System.nanoTime();

    // when the last look for leaks was started
    private long leakLook;

    // the thread that looks for deadlocks and leaks, while it does: one at a time
    private @Nullable Thread checker;

    // by the checker alone: a hash of the waits that it saw last
    private long lastWaits;

    // the waits of which a check for leaks is done, and those that are checked again: when, and how
    // long the pause before it was
    private long reportedWaits;
    private long checkedWaits;
    private long nextLeakCheck;
    private long leakPause;

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
      } else if (sleep != NO_SLEEP && now - lostSince[i] >= LOST_NANOS) {
        rescuing = true;
        try {
          if (worker.wakeUp()) {
            noteRescue(worker);
            lostIn[i] = NO_SLEEP;
          }
        } finally {
          rescuing = false;
        }
      }
    }

    private void noteRescue(Worker worker) {
      worker.countRescue();
      String fault =
          Faults.record(
              "thread %d of %s slept although fibers were ready on it"
                  .formatted(worker.index, scheduler));
      Log.later(() -> Log.logger().log(Level.ERROR, fault));
    }

    private void report(Worker worker, FiberCore<?> fiber, long nanos) {
      String stack = Dumps.stackOf(fiber.threadOrNull());
      if (worker.running() == fiber.id() && worker.slices() == slices[worker.index]) {
        FlightEvents.blocked(worker.index, fiber, nanos, stack);
        if (mayHold(fiber)) {
          return;
        }
        String text =
            "%s has held thread %d of %s for %d ms; %s%n%s"
                .formatted(
                    fiber,
                    worker.index,
                    scheduler,
                    nanos / 1_000_000,
                    scheduler.threads() == 1
                        ? "nothing else runs until it waits or yields"
                        : "its other fibers move to other threads",
                    stack);
        Log.later(() -> Log.logger().log(Level.WARNING, text));
      }
    }

    /** Reports a standstill once it has lasted; returns whether one has begun. */
    private boolean awaitsDeadlock(long now, boolean busy) {
      if ((scheduler.failsOnDeadlock() || scheduler.reportsLeaks())
          && now - leakLook >= DEADLOCK_NANOS
          && scheduler.isStill()
          && check(this::lookForLeaks)) {
        leakLook = now;
      }
      long total = scheduler.slices();
      if (busy || scheduler.live.isZero() || total != standstillSlices) {
        standstillSlices = total;
        standstill = 0;
        return false; // the next look, though looks are rare now, finds a standstill
      }
      if (total == reportedSlices || scheduler.somethingWillCome() || mayBeWoken()) {
        return false;
      }
      if (standstill == 0) {
        standstill = now;
      }
      if (now - standstill < DEADLOCK_NANOS) {
        return true;
      }
      if (now - restUntil >= 0 && check(this::reportStandstill)) {
        standstill = now; // the next check is as far away, whatever this check reports
      }
      return false;
    }

    /**
     * Starts a check, on a thread of its own because it goes through all fibers, calls the user's
     * {@code toString} or waits for a collection; returns false if the last one has not ended.
     */
    private boolean check(Runnable check) {
      if (checker != null && checker.isAlive()) {
        return false;
      }
      checker = Thread.ofPlatform().daemon().name(scheduler.name() + "-deadlocks").start(check);
      return true;
    }

    private void reportStandstill() {
      if (!LeakCheck.LOOKS.tryAcquire()) {
        return; // the next check is in a second
      }
      try {
        long begin = System.nanoTime();
        long slices = scheduler.slices();
        String report = DeadlockReport.ofStandstill(scheduler);
        long end = System.nanoTime();
        long took = end - begin;
        restUntil =
            end + (took < SHORT_CHECK_NANOS ? 0 : Math.min(MOST_REST_NANOS, REST_SHARE * took));
        if (report != null) {
          reportedSlices = slices;
          Log.logger().log(Level.WARNING, report);
        }
      } finally {
        LeakCheck.LOOKS.release();
      }
    }

    /**
     * Returns whether plain threads or signals may wake a fiber: the main of a program, which is to
     * run as it does without Weft, or virtual threads that plain threads have started. Called at
     * each look at an idle scheduler, perhaps of very many such threads: the first one is enough.
     */
    private boolean mayBeWoken() {
      FiberCore<?> main = scheduler.programMain;
      return (main != null && !main.isDone())
          || (scheduler.hostsJvm
              && Arrays.stream(scheduler.workers)
                  .anyMatch(worker -> worker.anyFiber(FiberCore::isGuest)));
    }

    /**
     * While stop() waits: if the same fibers have waited for a second although something else runs,
     * looks for leaks. A leaked fiber is not found while a frame that has just used it still refers
     * to it, so the same waits are checked again, after twice as long each time: a check takes a
     * full collection.
     */
    private void lookForLeaks() {
      if (!DeadlockReport.allWait(scheduler)) {
        return;
      }
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
      } else if (waits != reportedWaits && isTimeToCheck(waits) && reportLeaks()) {
        reportedWaits = waits;
      }
    }

    private boolean isTimeToCheck(long waits) {
      long now = System.nanoTime();
      if (waits != checkedWaits) {
        checkedWaits = waits;
        leakPause = DEADLOCK_NANOS;
      } else if (now - nextLeakCheck < 0) {
        return false;
      }
      leakPause *= 2;
      nextLeakCheck = now + leakPause;
      return true;
    }

    /** Reports the leaked fibers of this scheduler; returns false if there are none. */
    private boolean reportLeaks() {
      List<FiberCore<?>> leaked =
          LeakCheck.run(schedulers()).stream()
              .filter(fiber -> fiber.scheduler() == scheduler)
              .toList();
      if (leaked.isEmpty()) {
        return false;
      }
      String report =
          DeadlockReport.of(
              scheduler, leaked, "nothing alive can reach what these fibers wait for");
      if (scheduler.failsOnDeadlock() && leaked.size() == scheduler.live.get()) {
        scheduler.failWith(report);
      } else {
        Log.logger().log(Level.WARNING, report);
      }
      return true;
    }
  }
}
