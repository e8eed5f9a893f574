package dev.weft.stress;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import dev.weft.internal.Faults;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Worlds: random programs over all parts of Weft. A seed decides how many schedulers a world has,
 * with which policies and threads, which channels and locks, and what each {@link WorldActor} does
 * with them; the seed does not decide how the actors interleave. No program can hang by its own
 * fault: an actor waits without a limit only for an event that another actor is bound to cause.
 *
 * <p>When all actors have ended:
 *
 * <ul>
 *   <li>each sent value was received, once, and no other value; values of one sender reached one
 *       receiver in their order;
 *   <li>no two actors were in a room at the same time, and all permits are back;
 *   <li>each timer was called or cancelled, each event fired or deleted, no queue of timers has an
 *       entry left, and no poller a registration;
 *   <li>each scheduler has counted as many ends as starts, and had no lost wake-up.
 * </ul>
 */
final class WorldStress {
  private static final int MOST_ACTORS = 150;

  final Scheduler[] schedulers;
  final WorldThings things;
  final AtomicLong operations = new AtomicLong();
  final AtomicInteger timersSet = new AtomicInteger();
  final AtomicInteger timersEnded = new AtomicInteger();
  final AtomicInteger eventsSet = new AtomicInteger();
  final AtomicInteger eventsEnded = new AtomicInteger();
  private final long seed;
  private final SplittableRandom random;
  private final List<String> descriptions = new ArrayList<>();
  private final Queue<WorldActor> victims = new ConcurrentLinkedQueue<>();
  private final Set<WorldActor> live = ConcurrentHashMap.newKeySet();
  private final AtomicInteger actors = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile String phase = "begins";

  // the scheduler that has this world's thread as its caller thread in stop(); may be null
  private final @Nullable Scheduler onCaller;

  private WorldStress(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    boolean useCaller = random.nextInt(4) == 0;
    schedulers = new Scheduler[1 + random.nextInt(3)];
    for (int i = 0; i < schedulers.length; i++) {
      schedulers[i] = scheduler(useCaller && i == 0);
    }
    onCaller = useCaller ? schedulers[0] : null;
    things = new WorldThings(this, random);
  }

  private Scheduler scheduler(boolean useCaller) {
    int chosen = (useCaller ? 2 : 1) + random.nextInt(3);
    int threads =
        useCaller ? chosen : Threads.orElse(chosen); // the caller's serves at the end only
    NamedPolicy policy = NamedPolicy.any(random);
    descriptions.add(
        policy.name() + " on " + threads + " threads" + (useCaller ? ", one the caller's" : ""));
    return Scheduler.builder()
        .threads(threads)
        .useCaller(useCaller)
        .policy(policy.policy())
        .daemon(true)
        .blockedAfter(Duration.ofMinutes(1)) // a slow machine is no fault
        .onUncaught(this::unlessPlanned)
        .build();
  }

  private void unlessPlanned(Fiber<?> fiber, Throwable e) {
    if (!(e instanceof WorldActor.Planned)) {
      failure.compareAndSet(null, new AssertionError(fiber + " failed", e));
    }
  }

  /**
   * Runs this many worlds, with consecutive seeds from this seed on.
   *
   * @return the number of operations
   */
  static long run(long worlds, long seed, Progress progress) throws InterruptedException {
    Logger logger = Logger.getLogger("dev.weft");
    Level before = logger.getLevel();
    logger.setLevel(Level.SEVERE); // hides the reports of planned, unobserved failures
    try {
      long operations = 0;
      for (long i = 0; i < worlds; i++) {
        WorldStress world = new WorldStress(seed + i);
        world.liveWatched();
        operations += world.operations.get();
        progress.at(i + 1);
      }
      return operations;
    } finally {
      logger.setLevel(before);
    }
  }

  // ---- the life of a world ----

  private void liveWatched() throws InterruptedException {
    HangWatch.run(this::live, failure, () -> phase + operations, this::hangReport);
    Throwable found = failure.get();
    if (found != null) {
      throw new AssertionError(
          "%s; again: ./weft stress worlds=1 --seed %d%n%s".formatted(this, seed, found), found);
    }
  }

  private void live() throws InterruptedException {
    long faults = Faults.count();
    for (Scheduler scheduler : schedulers) {
      scheduler.start();
    }
    things.startPumps(random);
    for (int i = 1 + random.nextInt(12); i > 0; i--) {
      WorldActor root = start(random, random.nextInt(4) == 0, WorldActor::live);
      if (root == null) {
        break;
      }
    }
    await("actors live", live::isEmpty);
    things.closeLines();
    await("pumps empty the channels", things::pumpsHaveEnded);
    await("timers fire", () -> timersEnded.get() == timersSet.get());
    await("events fire", () -> eventsEnded.get() == eventsSet.get());
    await("timers and events leave their queues", this::hasNoTimersAndEvents);
    await("registrations leave the pollers", this::hasNoRegistrations);
    phase = "schedulers stop";
    for (Scheduler scheduler : schedulers) {
      scheduler.stop();
      SchedulerStats stats = scheduler.stats();
      check(stats.begun() == stats.ended(), () -> scheduler + " has fibers left: " + stats);
      check(stats.rescues() == 0, () -> "lost wake-ups of " + scheduler + ": " + stats);
    }
    things.check();
    check(Faults.count() == faults, () -> "Weft has logged faults of its own");
  }

  /**
   * Waits until the condition holds, and takes dumps meanwhile: that makes the JDK submit slices.
   */
  private void await(String what, BooleanSupplier condition) {
    phase = what;
    while (!condition.getAsBoolean()) {
      Scheduler scheduler = schedulers[random.nextInt(schedulers.length)];
      switch (random.nextInt(40)) {
        case 0 -> scheduler.dump();
        case 1 -> scheduler.stats();
        default -> LockSupport.parkNanos(200_000);
      }
    }
  }

  private boolean hasNoTimersAndEvents() {
    for (Scheduler scheduler : schedulers) {
      if (scheduler.timers().pending() > 0 || scheduler.io().pendingEvents() > 0) {
        return false;
      }
      for (SchedulerStats.OfThread thread : scheduler.stats().threads()) {
        if (thread.timers() > 0) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean hasNoRegistrations() {
    for (Scheduler scheduler : schedulers) {
      for (Worker worker : ((SchedulerCore) scheduler).workers) {
        if (worker.poller instanceof EpollPoller epoll && epoll.registrations() > 0) {
          return false;
        }
      }
    }
    return true;
  }

  private String hangReport() {
    StringBuilder report = new StringBuilder("it hangs while " + phase + "\n");
    for (WorldActor actor : live) {
      report.append(actor).append('\n');
      Thread plain = actor.plainThread();
      if (plain != null) {
        for (StackTraceElement frame : plain.getStackTrace()) {
          report.append("    at ").append(frame).append('\n');
        }
      }
    }
    for (Scheduler scheduler : schedulers) {
      report.append(scheduler.stats()).append('\n').append(scheduler.dump().text()).append('\n');
    }
    return report.toString();
  }

  @Override
  public String toString() {
    return "world %d (%s)".formatted(seed, String.join("; ", descriptions));
  }

  // ---- called by actors and things ----

  boolean goesOn() {
    return failure.get() == null;
  }

  void check(boolean holds, Supplier<String> what) {
    if (!holds) {
      AssertionError error = new AssertionError(what.get());
      failure.compareAndSet(null, error);
      throw error;
    }
  }

  void guarded(Body body) {
    try {
      body.run();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  Scheduler anyScheduler(SplittableRandom chooser) {
    return schedulers[chooser.nextInt(schedulers.length)];
  }

  /** Chooses a thread that runs fibers: the caller's does so only at the end. */
  int anyThread(Scheduler scheduler, SplittableRandom chooser) {
    return scheduler == onCaller
        ? 1 + chooser.nextInt(scheduler.threads() - 1)
        : chooser.nextInt(scheduler.threads());
  }

  /**
   * Starts an actor somewhere: as a fiber of any scheduler, as a virtual thread or as a plain
   * thread. Returns null if there are too many actors.
   *
   * @param maybeVictim whether other actors may cancel it; then its body may never run
   */
  @Nullable WorldActor start(SplittableRandom chooser, boolean maybeVictim, WorldActor.Part part) {
    int number = nextNumber();
    if (number > MOST_ACTORS) {
      return null;
    }
    WorldActor actor = new WorldActor(this, number, chooser.split(), maybeVictim, part);
    live.add(actor);
    switch (chooser.nextInt(8)) {
      case 0 -> actor.startThread(Thread.ofPlatform().daemon());
      case 1 -> actor.startThread(Thread.ofVirtual());
      default -> actor.startFiber(anyScheduler(chooser), options(chooser, actor));
    }
    if (maybeVictim) {
      victims.add(actor);
    }
    return actor;
  }

  int nextNumber() {
    return actors.incrementAndGet();
  }

  private static FiberOptions options(SplittableRandom chooser, WorldActor actor) {
    return FiberOptions.named("actor-" + actor.number()).priority(chooser.nextInt(5) - 2);
  }

  void ended(WorldActor actor) {
    live.remove(actor);
  }

  /** Returns an actor that may be cancelled, if there is any. */
  @Nullable WorldActor takeVictim() {
    return victims.poll();
  }

  @Nullable WorldActor someVictim() {
    return victims.peek();
  }

  /** Starts a fiber or a thread that belongs to no actor, and that no actor waits for. */
  Fiber<Void> startHelper(SplittableRandom chooser, Body body) {
    return anyScheduler(chooser).go(() -> guarded(body));
  }
}
