package dev.weft.stress;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import dev.weft.Weft;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Fibers that perform random operations, on four schedulers at once, and plain threads that disturb
 * them. Every hand-over is checked:
 *
 * <ul>
 *   <li>no lost wake-up: a scheduled fiber runs, or the round does not end;
 *   <li>no double run: a fiber is in one place at a time, and a worker runs one fiber at a time;
 *   <li>no fiber left behind: all schedulers stop, and each has counted as many ends as starts.
 * </ul>
 *
 * <p>A run is a series of rounds of half a second or so; in each, schedulers are built, used and
 * stopped. The seed decides what fibers do, but not how they interleave.
 *
 * <p>The file is long because the operations of a fiber and the checks of the round share one
 * state, and each check is understood only beside the operation that it checks.
 */
final class SchedulerStress {
  private static final long ROUND_NANOS = 400_000_000L;
  private static final long HANG_NANOS = 30_000_000_000L;
  private static final int MOST_FIBERS = 600;

  private final long seed;
  private final Scheduler[] schedulers;

  // the fiber on each thread of each scheduler, between two switches
  private final List<AtomicReferenceArray<Actor>> slots = new ArrayList<>();

  private final Queue<Actor> suspended = new ConcurrentLinkedQueue<>();
  private final Queue<Actor> victims = new ConcurrentLinkedQueue<>();
  private final Object[] monitors = new Object[8];
  private final int[] insideMonitor = new int[monitors.length];
  private final AtomicInteger live = new AtomicInteger();
  private final AtomicInteger timersToFire = new AtomicInteger();
  private final AtomicLong operations = new AtomicLong();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean draining;

  private SchedulerStress(long seed) {
    this.seed = seed;
    this.schedulers =
        new Scheduler[] {
          Scheduler.builder().threads(1).build(),
          Scheduler.builder().threads(2).policy(Policy.workStealing()).build(),
          Scheduler.builder().threads(2).policy(Policy.priority()).useCaller(true).build(),
          Scheduler.builder().threads(3).policy(Policy.timeSlice(Duration.ofNanos(50_000))).build(),
        };
    for (Scheduler scheduler : schedulers) {
      slots.add(new AtomicReferenceArray<>(scheduler.threads()));
    }
    for (int i = 0; i < monitors.length; i++) {
      monitors[i] = new Object();
    }
  }

  /** Runs rounds for this many seconds; returns the number of operations. */
  static long run(long seconds, long seed, Progress progress) throws InterruptedException {
    Logger logger = Logger.getLogger("dev.weft");
    Level before = logger.getLevel();
    logger.setLevel(Level.OFF); // the planned failures are unobserved
    try {
      return rounds(seconds, seed, progress);
    } finally {
      logger.setLevel(before);
    }
  }

  private static long rounds(long seconds, long seed, Progress progress)
      throws InterruptedException {
    long start = System.nanoTime();
    long total = 0;
    long passed = 0;
    for (int round = 0; passed < seconds; round++) {
      SchedulerStress stress = new SchedulerStress(seed + round);
      try {
        stress.round();
      } catch (Throwable e) {
        throw new AssertionError("round " + round + " of seed " + seed + ": " + e.getMessage(), e);
      }
      total += stress.operations.get();
      passed = (System.nanoTime() - start) / 1_000_000_000L;
      progress.at(passed);
    }
    return total;
  }

  private void round() throws InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    for (Scheduler scheduler : schedulers) {
      scheduler.start();
    }
    List<Thread> plain = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      SplittableRandom own = random.split();
      plain.add(Thread.ofPlatform().daemon().start(() -> guarded(() -> disturb(own))));
    }
    long start = System.nanoTime();
    while (System.nanoTime() - start < ROUND_NANOS && failure.get() == null) {
      look(random);
    }
    draining = true;
    List<Thread> stoppers = new ArrayList<>();
    for (Scheduler scheduler : schedulers) {
      if (scheduler != onCaller()) {
        stoppers.add(Thread.ofPlatform().daemon().start(() -> guarded(scheduler::stop)));
      }
    }
    Thread watch = Thread.ofPlatform().daemon().start(() -> endWithinLimit(plain, stoppers));
    onCaller().stop();
    watch.join();
    if (failure.get() != null) {
      throw new AssertionError(failure.get().toString(), failure.get());
    }
    for (Scheduler scheduler : schedulers) {
      SchedulerStats stats = scheduler.stats();
      check(stats.begun() == stats.ended(), scheduler + " has fibers left: " + stats);
      check(scheduler.dump().fibers().isEmpty(), "fibers left behind: " + scheduler.dump().text());
    }
    check(timersToFire.get() == 0, timersToFire + " timers have not fired");
    check(live.get() == 0, live + " fibers have not ended");
  }

  private Scheduler onCaller() {
    return schedulers[2];
  }

  /** The caller may hang inside stop(), so this thread then ends the JVM. */
  private void endWithinLimit(List<Thread> plain, List<Thread> stoppers) {
    List<Thread> all = new ArrayList<>(stoppers);
    all.addAll(plain);
    long start = System.nanoTime();
    while (all.stream().anyMatch(Thread::isAlive) || live.get() > 0) {
      if (System.nanoTime() - start > HANG_NANOS) {
        System.out.println("seed " + seed + " hangs: " + live + " fibers are left");
        for (Scheduler scheduler : schedulers) {
          System.out.println(scheduler.stats());
          System.out.println(scheduler.dump().text());
        }
        Runtime.getRuntime().halt(3);
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void guarded(Body body) {
    try {
      body.run();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  // ---- plain threads ----

  /** Starts, wakes, cancels and inspects fibers from plain threads. */
  private void disturb(SplittableRandom random) throws Exception {
    while (!draining || live.get() > 0) {
      switch (random.nextInt(6)) {
        case 0, 1 -> begin(random);
        case 2 -> cancelOne(random);
        case 3 -> spuriouslySchedule();
        default -> {
          for (int i = random.nextInt(20); i >= 0; i--) {
            wakeOne();
          }
        }
      }
      if (random.nextInt(8) == 0) {
        LockSupport.parkNanos(random.nextInt(200_000));
      }
    }
  }

  /** Takes dumps and statistics, which makes the JDK submit slices twice. */
  private void look(SplittableRandom random) {
    Scheduler scheduler = schedulers[random.nextInt(schedulers.length)];
    if (random.nextBoolean()) {
      scheduler.dump();
    } else {
      scheduler.stats();
    }
    LockSupport.parkNanos(1_000_000);
  }

  // ---- for both ----

  private @Nullable Actor begin(SplittableRandom random) {
    if (draining || live.get() >= MOST_FIBERS) {
      return null;
    }
    int where = random.nextInt(schedulers.length);
    Actor actor = new Actor(random.split());
    FiberOptions options = FiberOptions.named("a").priority(random.nextInt(5));
    if (random.nextInt(4) == 0) {
      actor.bound = threadOf(schedulers[where], random);
      options = options.onThread(actor.bound);
    }
    live.incrementAndGet();
    try {
      Fiber<Integer> fiber = schedulers[where].go(options, actor::live);
      actor.fiber = fiber;
      var _ = fiber.toFuture().whenComplete((done, e) -> live.decrementAndGet());
      victims.add(actor);
      return actor;
    } catch (RejectedExecutionException e) {
      check(draining, "a running scheduler rejected a fiber");
      live.decrementAndGet();
      return null;
    }
  }

  /** Chooses a thread; not the caller's, which runs fibers only at the end. */
  private int threadOf(Scheduler scheduler, SplittableRandom random) {
    return scheduler == onCaller() ? 1 : random.nextInt(scheduler.threads());
  }

  private void wakeOne() {
    Actor actor = suspended.poll();
    if (actor != null) {
      actor.wake();
    }
  }

  private void cancelOne(SplittableRandom random) {
    Actor victim = victims.poll();
    if (victim != null && random.nextInt(3) == 0) {
      victim.cancelled = true;
      victim.fiber().cancel();
    }
  }

  private void spuriouslySchedule() {
    Actor actor = victims.peek();
    if (actor != null) {
      Fiber<?> fiber = actor.fiber();
      try {
        fiber.scheduler().schedule(fiber);
      } catch (IllegalArgumentException e) {
        // the fiber has just moved
      }
    }
  }

  // ---- fibers ----

  /** One fiber: its operations, and its expected state. */
  private final class Actor {
    private final SplittableRandom random;
    private volatile @Nullable Fiber<Integer> fiber;
    private volatile boolean cancelled;
    private volatile boolean woken;

    // true once schedule(fiber, thread) has been called for this fiber, at any time
    private volatile boolean boundByOthers;

    // the thread it must be on, if it is bound
    private int bound = -1;

    // the thread it runs on, between two switches
    private @Nullable AtomicReferenceArray<Actor> slots;
    private int slot;

    Actor(SplittableRandom random) {
      this.random = random;
    }

    Fiber<Integer> fiber() {
      Fiber<Integer> known = fiber;
      while (known == null) { // go() has not returned yet
        Thread.onSpinWait();
        known = fiber;
      }
      return known;
    }

    /** The body: returns the number of operations. */
    int live() {
      int done = 0;
      try {
        enter();
        int toDo = random.nextInt(40);
        while (done < toDo && !draining && failure.get() == null) {
          operations.incrementAndGet();
          done++;
          act();
        }
      } catch (InterruptedException | CancellationException e) {
        if (!cancelled) {
          fail(e);
        }
      } catch (Planned e) {
        guarded(this::leave);
        throw e;
      } catch (Throwable e) {
        fail(e);
      }
      guarded(this::leave);
      return done;
    }

    private void fail(Throwable e) {
      failure.compareAndSet(null, e);
    }

    /**
     * Called after each switch: no other fiber may run on this thread, and this fiber on no other.
     */
    private void enter() {
      Fiber<?> self = Fiber.current().orElseThrow();
      check(slots == null, "a fiber runs twice");
      int index = Fiber.threadIndex();
      check(
          bound < 0 || index == bound || boundByOthers,
          "bound to " + bound + " but runs on " + index);
      if (index == -1) { // slices are long on a slow machine: then a fiber is set apart
        check(self.scheduler().threads() > 1, "a scheduler of one thread runs two fibers at once");
        slots = new AtomicReferenceArray<>(new Actor[] {this});
        slot = 0;
        return;
      }
      int where = List.of(schedulers).indexOf(self.scheduler());
      AtomicReferenceArray<Actor> here = SchedulerStress.this.slots.get(where);
      Actor other = here.compareAndExchange(index, null, this);
      check(other == null, "two fibers run on thread " + index + " of " + self.scheduler());
      if (random.nextInt(32) == 0 && self.scheduler() != onCaller()) {
        check(
            Thread.currentThread().toString().endsWith("-" + index),
            Thread.currentThread() + " is not thread " + index);
      }
      slots = here;
      slot = index;
    }

    /** Called before each switch. */
    private void leave() {
      AtomicReferenceArray<Actor> here = slots;
      slots = null;
      check(
          here != null && here.compareAndSet(slot, this, null), "another fiber ran on this thread");
    }

    /** Performs an operation that is a scheduling point. */
    private void switching(Body body) throws Exception {
      leave();
      try {
        body.run();
      } finally {
        enter();
      }
    }

    private void act() throws Exception {
      switch (random.nextInt(17)) {
        case 0 -> switching(Fiber::yield);
        case 1 -> switching(() -> Fiber.sleep(Duration.ofNanos(random.nextInt(300_000))));
        case 2 -> switching(() -> Thread.sleep(Duration.ofNanos(random.nextInt(100_000))));
        case 3, 4 -> switching(this::suspendUntilWoken);
        case 5 -> switching(() -> begin(random));
        case 6 -> switching(() -> wakeOne());
        case 7 -> switching(() -> cancelOne(random));
        case 8 -> switching(this::joinAChild);
        case 9, 10 -> switching(this::move);
        case 11 -> switching(this::beInsideAMonitor);
        case 12 -> switching(this::hurry);
        case 13 -> switching(this::haveAGuest);
        case 14 -> switching(this::setATimer);
        case 15 -> switching(this::block);
        default -> {
          if (random.nextInt(8) == 0) {
            throw new Planned();
          }
          switching(() -> spuriouslySchedule());
        }
      }
    }

    private void suspendUntilWoken() {
      woken = false;
      suspended.add(this);
      while (!woken) {
        Fiber.suspend();
      }
    }

    /** Ends the wait of a fiber from the queue of waiting fibers; each fiber is in it once. */
    void wake() {
      Fiber<Integer> target = fiber();
      Scheduler where = target.scheduler();
      woken = true;
      try {
        if (operations.get() % 8 == 0) {
          boundByOthers = true;
          where.schedule(target, where.threads() - 1);
        } else {
          where.schedule(target);
        }
      } catch (IllegalArgumentException e) {
        // the fiber saw that it was woken and has moved on, before it was scheduled
      }
    }

    private void joinAChild() throws InterruptedException {
      Actor child = begin(random);
      if (child == null) {
        return;
      }
      try {
        if (random.nextBoolean()) {
          child.fiber().join();
        } else {
          child.fiber().join(Duration.ofNanos(random.nextInt(1_000_000)));
        }
      } catch (TimeoutException e) {
        // the child goes on
      } catch (CompletionException e) {
        check(e.getCause() instanceof Planned, "an unplanned failure: " + e);
      } catch (CancellationException e) {
        check(child.cancelled || cancelled, "the child was not cancelled");
        if (!child.cancelled) {
          throw e;
        }
      }
    }

    private void move() {
      Scheduler target = schedulers[random.nextInt(schedulers.length)];
      if (random.nextBoolean()) {
        Scheduler here = Scheduler.current().orElseThrow();
        int index = threadOf(here, random);
        Fiber.switchTo(index);
        bound = index;
        return;
      }
      int before = bound;
      bound = -1;
      try {
        Fiber.switchTo(target);
        check(
            Scheduler.current().orElseThrow() == target,
            "the fiber is not on the scheduler it switched to");
      } catch (RejectedExecutionException e) {
        check(draining, "a running scheduler rejected a fiber");
        bound = before;
      }
    }

    private void beInsideAMonitor() throws InterruptedException {
      int i = random.nextInt(monitors.length);
      synchronized (monitors[i]) {
        check(++insideMonitor[i] == 1, "two fibers are inside a monitor");
        try {
          Fiber.yield();
          if (random.nextInt(4) == 0) {
            Fiber.sleep(Duration.ofNanos(random.nextInt(50_000)));
          }
        } finally {
          check(insideMonitor[i]-- == 1, "two fibers are inside a monitor");
        }
      }
    }

    private void hurry() throws InterruptedException {
      try {
        Weft.withTimeout(
            Duration.ofNanos(random.nextInt(400_000)),
            () -> {
              if (random.nextBoolean()) {
                Fiber.sleep(Duration.ofNanos(random.nextInt(400_000)));
              } else {
                Fiber.suspend();
              }
              return null;
            });
      } catch (TimeoutException e) {
        // the body was too slow
      }
      boolean interrupted = Thread.currentThread().isInterrupted();
      check(!interrupted || cancelled, "an interrupt is left over");
    }

    private void haveAGuest() throws InterruptedException {
      Scheduler here = Scheduler.current().orElseThrow();
      AtomicReference<Throwable> ofGuest = new AtomicReference<>();
      Thread guest =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      check(
                          Scheduler.current().orElseThrow() == here,
                          "a guest is on another scheduler");
                      Thread.yield();
                      check(
                          Scheduler.current().orElseThrow() == here,
                          "a guest is on another scheduler");
                    } catch (Throwable e) {
                      ofGuest.set(e);
                    }
                  });
      guest.join();
      check(ofGuest.get() == null, "in a guest: " + ofGuest.get());
    }

    /** Moves to a helper thread, performs an operation there, and returns. */
    private void block() throws Exception {
      AtomicBoolean there = new AtomicBoolean();
      int times = 1 + random.nextInt(3);
      for (int i = 0; i < times; i++) {
        Weft.blocking(
            () -> {
              check(there.compareAndSet(false, true), "the fiber runs twice");
              check(Fiber.threadIndex() == -1, "the fiber is not on a helper thread");
              switch (random.nextInt(8)) {
                case 0 -> Thread.sleep(Duration.ofNanos(random.nextInt(100_000)));
                case 1 -> Fiber.sleep(Duration.ofNanos(random.nextInt(100_000)));
                case 2 -> begin(random);
                case 3 -> wakeOne();
                case 4 -> suspendUntilWoken();
                case 5 -> setATimer();
                case 6 -> Weft.blocking(() -> "nested");
                default -> {}
              }
              check(Fiber.threadIndex() == -1, "the fiber is not on a helper thread");
              check(there.compareAndSet(true, false), "the fiber runs twice");
              return null;
            });
        check(Fiber.threadIndex() >= 0, "the fiber has not returned from its helper");
      }
    }

    private void setATimer() {
      Scheduler where = schedulers[random.nextInt(schedulers.length)];
      timersToFire.incrementAndGet();
      try {
        where
            .timers()
            .after(Duration.ofNanos(random.nextInt(500_000)), timersToFire::decrementAndGet);
      } catch (RejectedExecutionException e) {
        check(draining, "a running scheduler rejected a fiber");
        timersToFire.decrementAndGet();
      }
    }
  }

  /** A planned failure of a fiber. */
  private static final class Planned extends RuntimeException {
    private static final long serialVersionUID = 1;

    Planned() {
      super("planned", null, false, false);
    }
  }
}
