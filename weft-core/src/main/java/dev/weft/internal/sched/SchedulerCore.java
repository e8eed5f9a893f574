package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.FiberOptions;
import dev.weft.GroupedDump;
import dev.weft.Policy;
import dev.weft.SchedulerStats;
import dev.weft.internal.Clock;
import dev.weft.internal.Log;
import dev.weft.internal.Nanos;
import dev.weft.internal.io.IoManagerCore;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.switching.VirtualThreads;
import dev.weft.internal.timer.TimersCore;
import dev.weft.io.IoManager;
import dev.weft.time.Timers;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler at work: its workers, how fibers are submitted to them, and what can be asked. How it
 * starts and stops is in {@link SchedulerLife}.
 *
 * <p>Invariant: a fiber is counted as begun before it is queued, and as ended after its last slice.
 * The worker on which a caller runs is looked up where a fiber is queued, and not carried across
 * code that may park: see {@link FiberCore#begin}.
 */
public final class SchedulerCore extends SchedulerLife {
  /** The options of fibers that are started without options. */
  public static final FiberOptions DEFAULT_OPTIONS =
      new FiberOptions(null, 0, FiberOptions.ANY_THREAD);

  /** The simulated world that it runs in; null: the machine. */
  public final @Nullable World world;

  public final Clock clock;
  public final Worker[] workers;
  final long sliceNanos;
  public final long blockedNanos;
  public final LiveCount live;
  final Placement placement;
  final Sentry sentry;
  final SchedulerTimers timerHost;
  private final Timers timers;
  private final SchedulerIo pendingIo;
  private final IoManager io;
  private final @Nullable KeepAlive keepAlive;
  final VirtualThreads.Container container;

  // true while the watchdog has marked a worker stuck
  public volatile boolean anyStuck;

  // true once it runs a virtual thread that a platform thread has started
  public volatile boolean hostsJvm;

  // the fiber that runs main() of a whole program, under ./weft run
  public volatile @Nullable FiberCore<?> programMain;

  private SchedulerCore(SchedulerConfig config, @Nullable World world) {
    super(config);
    this.world = world;
    this.clock = world == null ? Clock.SYSTEM : world.clock();
    this.sliceNanos = Nanos.of(config.policy().slice());
    this.blockedNanos = Nanos.of(config.blockedAfter());
    this.workers = new Worker[config.threads()];
    for (int i = 0; i < workers.length; i++) {
      workers[i] = new Worker(this, i, config.policy(), Poller.create());
    }
    this.placement = new Placement(workers, config.policy().steals(), config.useCaller());
    this.sentry = new Sentry(this);
    this.live = new LiveCount(workers);
    this.timerHost = new SchedulerTimers(this);
    this.timers = new TimersCore(timerHost);
    this.pendingIo = new SchedulerIo(this);
    this.io = new IoManagerCore(pendingIo);
    this.keepAlive = config.keepsProcessAlive() ? new KeepAlive(live, unobserved) : null;
    this.container =
        new VirtualThreads.Container(
            config.name(), () -> fibers().map(FiberCore::threadOrNull).filter(Objects::nonNull));
  }

  /** Builds a scheduler that is still to be started. */
  public static SchedulerCore of(SchedulerConfig config) {
    Surroundings.get().building();
    return new SchedulerCore(config, null);
  }

  /**
   * Builds a scheduler in a simulated world. It is not started or stopped: its fibers run while a
   * thread is in {@link Worker#serve(World)} of its one worker.
   *
   * @param policy makes the ready queue, by which the world chooses the next fiber
   */
  public static SchedulerCore of(String name, Policy policy, World world) {
    Surroundings.get().building();
    return new SchedulerCore(SchedulerConfig.ofWorld(name, policy), world);
  }

  /** Returns the time by the clock of the current fiber's scheduler, or else by the JVM's clock. */
  public static long timeHere() {
    FiberCore<?> self = FiberCore.currentOrNull();
    return (self != null ? self.core().clock : Clock.SYSTEM).nanoTime();
  }

  /** See {@link dev.weft.Scheduler#shared}. */
  public static SchedulerCore shared() {
    return Shared.SCHEDULER;
  }

  private static final class Shared {
    static final SchedulerCore SCHEDULER = started(SchedulerConfig.shared());
  }

  /** Builds and starts a scheduler. */
  static SchedulerCore started(SchedulerConfig config) {
    SchedulerCore scheduler = of(config);
    scheduler.start();
    return scheduler;
  }

  /** Returns the scheduler of the current fiber; outside fibers the shared scheduler. */
  public static SchedulerCore here() {
    FiberCore<?> self = FiberCore.currentOrNull();
    return self != null ? self.core() : shared();
  }

  // ---- submitting ----

  @Override
  public Fiber<Void> go(Body body) {
    return begin(DEFAULT_OPTIONS, notCallable(body));
  }

  @Override
  public <T> Fiber<T> go(Callable<T> body) {
    return begin(DEFAULT_OPTIONS, body);
  }

  @Override
  public Fiber<Void> go(FiberOptions options, Body body) {
    return begin(options, notCallable(body));
  }

  @Override
  public <T> Fiber<T> go(FiberOptions options, Callable<T> body) {
    return begin(options, body);
  }

  @Override
  public void execute(Runnable command) {
    Objects.requireNonNull(command, "command");
    begin(DEFAULT_OPTIONS, (Body) command::run);
  }

  /** Wraps a body that is a Callable as well, because {@link Slice#runBody} would call call(). */
  @SuppressWarnings("UnnecessaryMethodReference") // the new class is what counts
  static Body notCallable(Body body) {
    return body instanceof Callable<?> ? body::run : body;
  }

  /** Begins a fiber that runs a Body or a Callable. */
  public <T> FiberCore<T> begin(FiberOptions options, Object body) {
    return begin(options, body, null);
  }

  /** Begins a fiber, of a scope or of none. */
  <T> FiberCore<T> begin(FiberOptions options, Object body, @Nullable ScopeCore scope) {
    Objects.requireNonNull(body, "body");
    if (options.thread() >= 0) {
      worker(options.thread()); // throws if the scheduler has no such worker
    }
    CurrentFiber.yieldIfSliceExpired();
    countBegun(currentWorker());
    FiberCore<T> fiber;
    try {
      fiber = new FiberCore<>(this, options, body); // may run code of the user, which may park
    } catch (Throwable e) { // no memory, or no stack
      countEnded();
      throw e;
    }
    try {
      if (scope != null) {
        scope.add(fiber); // may park; before the fiber begins, since the scope may be cancelled
      }
    } finally {
      fiber.begin();
      if (isStopping()) {
        noteLate(fiber);
      }
    }
    return fiber;
  }

  @Override
  public void schedule(Fiber<?> fiber) {
    if (fiber.scheduler() != this) {
      throw new IllegalArgumentException(
          "cannot schedule "
              + fiber
              + " here: it belongs to "
              + fiber.scheduler()
              + ", not to "
              + this);
    }
    ((FiberCore<?>) fiber).wake();
    CurrentFiber.yieldIfSliceExpired();
  }

  @Override
  public void schedule(Fiber<?> fiber, int thread) {
    Worker place = worker(thread);
    if (fiber.scheduler() == this) {
      ((FiberCore<?>) fiber).bind(place);
    }
    schedule(fiber);
  }

  // ---- counting ----

  /** Counts a fiber that a fiber of this worker starts, or any other thread (null). */
  void countBegun(@Nullable Worker here) {
    if (here != null) {
      if (hasStopped()) { // the scheduler has given up on the fiber that calls
        throw new RejectedExecutionException(this + " has been stopped");
      }
      here.countBegun();
      return;
    }
    countBegunOutside();
    if (keepAlive != null) {
      keepAlive.ensure();
    }
  }

  /** Counts a virtual thread of the program, which does not keep the process alive. */
  void countGuest() {
    countBegunOutside();
    if (keepAlive != null) {
      keepAlive.guestBegan();
    }
  }

  private void countBegunOutside() {
    live.beginOutside();
    if (!isOpen()) {
      live.endOutside();
      throw new RejectedExecutionException(this + " has been stopped");
    }
  }

  /** Called when a fiber has ended here, or leaves, before it is counted as ended. */
  void noteGone(FiberCore<?> fiber) {
    if (keepAlive != null && fiber.isGuest()) {
      keepAlive.guestGone();
    }
  }

  /** Forgets a fiber that has ended on a thread that is no worker. */
  public void retireOutside(FiberCore<?> fiber) {
    Worker.unregister(fiber);
    countEnded(fiber);
  }

  /** Counts a fiber that did not end on a worker, or that moved away. */
  void countEnded(FiberCore<?> fiber) {
    noteGone(fiber);
    countEnded();
  }

  /** Counts a fiber that failed to start. */
  private void countEnded() {
    live.endOutside();
    wakeToStop();
  }

  // ---- workers ----

  /** Returns the worker that runs the current fiber, if the fiber belongs to this scheduler. */
  @Nullable Worker currentWorker() {
    FiberCore<?> self = FiberCore.currentOrNull();
    return self != null && self.core() == this ? self.workerHere() : null;
  }

  /** Returns the current thread's worker in this scheduler, in a slice or between slices. */
  @Nullable Worker servingWorker() {
    if (Thread.currentThread().isVirtual()) {
      return currentWorker();
    }
    Worker worker = Worker.ofThisThread();
    return worker != null && worker.scheduler == this ? worker : null;
  }

  Worker worker(int thread) {
    if (thread < 0 || thread >= workers.length) {
      throw new IllegalArgumentException(
          "thread must be between 0 and " + (workers.length - 1) + ", not " + thread);
    }
    return workers[thread];
  }

  boolean isCrowded() {
    for (Worker worker : workers) {
      if (worker.isCrowded()) {
        return true;
      }
    }
    return false;
  }

  void reportBroken(Worker worker, Throwable e) {
    try {
      Log.logger()
          .log(
              Level.ERROR,
              "thread " + worker.index + " of " + this + " goes on after a failure",
              e);
    } catch (Throwable notLogged) {
      // no memory, or no descriptor to load the logger with: the worker goes on all the same
    }
  }

  // ---- for SchedulerLife ----

  @Override
  Worker[] workers() {
    return workers;
  }

  @Override
  LiveCount live() {
    return live;
  }

  @Override
  int oneShots() {
    return timerHost.oneShots();
  }

  @Override
  int pendingEvents() {
    return pendingIo.pending();
  }

  @Override
  public void release() {
    container.deregister();
  }

  // ---- looking ----

  @Override
  public Timers timers() {
    return timers;
  }

  @Override
  public IoManager io() {
    return io;
  }

  @Override
  public SchedulerStats stats() {
    return Surroundings.get().stats(this);
  }

  @Override
  public FiberDump dump() {
    return Surroundings.get().dump(this);
  }

  @Override
  public GroupedDump groupedDump() {
    return Surroundings.get().groupedDump(this);
  }

  @Override
  public List<FiberDump.Entry> leaks() {
    return Surroundings.get().leaks(this);
  }

  @Override
  public int threads() {
    return workers.length;
  }

  @Override
  public Stream<FiberCore<?>> fibers() {
    List<FiberCore<?>> all = new ArrayList<>();
    for (Worker worker : workers) {
      worker.forEachFiber(all::add);
    }
    all.sort(Comparator.comparingLong(FiberCore::id));
    List<FiberCore<?>> once = new ArrayList<>(all.size());
    for (FiberCore<?> fiber : all) {
      if (once.isEmpty() || once.getLast() != fiber) {
        once.add(fiber);
      }
    }
    return once.stream();
  }

  /** Returns how many slices have begun. */
  public long slices() {
    long sum = 0;
    for (Worker worker : workers) {
      sum += worker.slices();
    }
    return sum;
  }

  /** Returns whether all workers are idle and nothing but recurring timers will wake one. */
  public boolean isStill() {
    return allIdle() && !somethingWillCome();
  }

  /**
   * Returns whether a fiber is ready, or a timer or an I/O event will make one so. Recurring timers
   * do not count: a deadlock behind one is still a deadlock.
   */
  public boolean somethingWillCome() {
    if (pendingIo.pending() > 0 || !timerHost.onlyRecurringLeft()) {
      return true;
    }
    for (Worker worker : workers) {
      if (worker.hasReadyOrInbox()) {
        return true;
      }
    }
    return false;
  }

  public boolean hasRecurringTimers() {
    return timerHost.anyRecurring();
  }
}
