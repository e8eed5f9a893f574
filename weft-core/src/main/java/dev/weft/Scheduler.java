package dev.weft;

import dev.weft.internal.Clock;
import dev.weft.internal.HookFamilies;
import dev.weft.internal.IoManagerAccess;
import dev.weft.internal.IoWaits;
import dev.weft.internal.Nanos;
import dev.weft.internal.TimersAccess;
import dev.weft.internal.Uninterrupted;
import dev.weft.internal.jdk.CarrierThread;
import dev.weft.internal.jdk.HeldMonitors;
import dev.weft.internal.jdk.JdkPollers;
import dev.weft.internal.jdk.Misfit;
import dev.weft.internal.jdk.ProcessEnd;
import dev.weft.internal.jdk.RequiredFlags;
import dev.weft.internal.jdk.Slices;
import dev.weft.internal.jdk.VirtualThreads;
import dev.weft.internal.poller.Poller;
import dev.weft.io.IoManager;
import dev.weft.time.Timers;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs fibers on a fixed number of threads, of which the caller's can be one.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="scheduler"}
 *
 * <p>{@link #go} only submits. {@link #stop} drains: it returns when every fiber has ended and
 * every one-shot timer and I/O event has fired; recurring timers end with the last fiber. With
 * {@code useCaller(true)} the thread that calls {@link #start} is thread 0 of the scheduler and
 * works for it inside {@code stop()}; with one thread that is all there is.
 */
public final class Scheduler implements Executor, AutoCloseable {
  /*
   *               NEW -> STARTED     // start
   *      NEW, STARTED -> STOPPING    // stop: fibers come and go until none is left
   *          STOPPING -> CLOSING     // an idle worker finds none left; who submits now waits
   *           CLOSING -> STOPPING    // one was submitted in the meantime
   * CLOSING, STOPPING -> STOPPED     // none is left; or given up: deadlock, or over stop's limit
   */
  private static final int NEW = 0;
  private static final int STARTED = 1;
  private static final int STOPPING = 2;
  private static final int CLOSING = 3;
  private static final int STOPPED = 4;

  /** How long stop(limit), after it has cancelled, waits for the next cancelled one to end. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** How often awaitAllButGuests looks for the end of the last timers and I/O events. */
  private static final long LOOK_AGAIN_NANOS = 5_000_000;

  /** How many fibers a log message names at most. */
  private static final int MOST_NAMES = 20;

  private static final VarHandle STATE;
  private static final VarHandle DEADLOCK;

  static {
    RequiredFlags.check(); // before a class is needed that cannot be loaded without them
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Scheduler.class, "state", int.class);
      DEADLOCK = lookup.findVarHandle(Scheduler.class, "deadlock", String.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    JdkPollers.begin(Scheduler::prepareJdk);
    ProcessEnd.prepare(Watchdog::wakeAllForTheEnd);
    IoWaits.set(new IoOfWorkers.Waits());
  }

  /** Puts into the JDK what Weft needs there; called once, before fibers run. */
  private static void prepareJdk() {
    try {
      Slices.check();
    } catch (Misfit e) {
      Log.warn(
          "fibers are switched by the JDK itself, only slower: JDK %s is not as expected: %s"
              .formatted(Runtime.version(), e.getMessage()));
    }
    Hook.install();
  }

  final Clock clock = Clock.SYSTEM;
  final Worker[] workers;
  final long sliceNanos;
  final long blockedNanos;
  final LiveCount live;
  final UnobservedFailures unobserved;
  private final Builder config;
  final Placement placement;
  final Sentry sentry;
  final TimersOfWorkers timerHost;
  private final Timers timers;
  private final IoOfWorkers pendingIo;
  private final IoManager io;
  private final @Nullable KeepAlive keepAlive;
  final VirtualThreads.Container container;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final AtomicInteger idle = new AtomicInteger();

  private volatile int state = NEW;

  // the thread that called start(), if it takes part
  private volatile @Nullable Thread caller;

  // the threads it has started
  private final List<Thread> threads = new CopyOnWriteArrayList<>();

  // true if it stopped without the end of all fibers, one of which may hold a thread
  private volatile boolean gaveUp;

  // the thread that reports the last failures, to handlers of the user's
  private volatile @Nullable Thread ender;

  // what stop() fails with
  private volatile @Nullable String deadlock;

  // true once stop() has cancelled the rest: it no longer waits for timers and I/O events, and what
  // begins is cancelled
  private volatile boolean restCancelled;

  // true while the watchdog has marked a worker stuck
  volatile boolean anyStuck;

  // the main of a whole program, under ./weft run
  volatile @Nullable Fiber<?> programMain;

  private Scheduler(Builder config) {
    HookFamilies.check();
    this.config = config;
    this.sliceNanos = Nanos.of(config.policy.slice());
    this.blockedNanos = Nanos.of(config.blockedAfter);
    this.workers = new Worker[config.threads];
    for (int i = 0; i < workers.length; i++) {
      workers[i] = new Worker(this, i, config.policy, Poller.create());
    }
    this.placement = new Placement(workers, config.policy.steals(), config.useCaller);
    this.sentry = new Sentry(this);
    this.live = new LiveCount(workers);
    this.unobserved = new UnobservedFailures(config.onUncaught);
    this.timerHost = new TimersOfWorkers(this);
    this.timers = TimersAccess.newTimers(timerHost);
    this.pendingIo = new IoOfWorkers(this);
    this.io = IoManagerAccess.newIoManager(pendingIo);
    this.keepAlive = config.keepsProcessAlive ? new KeepAlive(live, unobserved) : null;
    this.container =
        new VirtualThreads.Container(
            config.name, () -> fibers().map(Fiber::threadOrNull).filter(Objects::nonNull));
  }

  /** Returns a builder: all cores, no caller, first come first served, unless told otherwise. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the scheduler that runs the calling fiber, or empty outside fibers. */
  public static Optional<Scheduler> current() {
    return Fiber.current().map(Fiber::scheduler);
  }

  /**
   * Returns the default scheduler, which uses all cores and cannot be stopped. Its fibers keep the
   * process alive until they end; when it is idle it does not.
   */
  public static Scheduler shared() {
    return Shared.SCHEDULER;
  }

  private static final class Shared {
    static final Scheduler SCHEDULER = shareable().build().start();

    private static Builder shareable() {
      Builder builder = builder().name("weft-shared").daemon(true);
      builder.keepsProcessAlive = true;
      return builder;
    }
  }

  // ---- life ----

  /**
   * Starts the threads; the calling thread will be one of them if {@code useCaller} says so.
   *
   * @throws IllegalStateException if it has been started before
   */
  public Scheduler start() {
    if (!STATE.compareAndSet(this, NEW, STARTED)) {
      throw refusal(
          "start", state == STARTED ? "it is running" : "it has been stopped; build a new one");
    }
    Watchdog.watch(this);
    if (config.useCaller) {
      caller = Thread.currentThread();
    }
    startThreads(config.useCaller ? 1 : 0);
    return this;
  }

  private void startThreads(int first) {
    for (int i = first; i < workers.length; i++) {
      startThread(i);
    }
  }

  private void startThread(int i) {
    Thread thread =
        CarrierThread.create(
            config.name + "-" + i, config.daemon, config.stackSize, workers[i]::run);
    thread.start();
    threads.add(thread);
  }

  /**
   * Waits until no fiber, one-shot timer or I/O event is left, and ends the threads. With {@code
   * useCaller} the caller works until then.
   *
   * @throws IllegalStateException if called by one of its own fibers, or by a handler of {@code
   *     onUncaught} on one of its threads; with {@code useCaller} if called by another thread than
   *     the one that started it, in a coroutine, or inside {@code synchronized}; or if its fibers
   *     wait for ever and {@code failOnDeadlock} is set
   */
  public void stop() {
    drain(null);
  }

  /**
   * Like {@link #stop()}, but at the limit cancels the fibers and timers that are left and logs
   * which. Returns whether all ended by themselves.
   */
  public boolean stop(Duration limit) {
    return drain(Objects.requireNonNull(limit, "limit"));
  }

  /** Stops: see {@link #stop()}. */
  @Override
  public void close() {
    stop();
  }

  private boolean drain(@Nullable Duration limit) {
    checkMayStop();
    AtomicBoolean cutShort = new AtomicBoolean();
    if (STATE.compareAndSet(this, NEW, STOPPING)) {
      cutShort.set(cancelRest("it was never started"));
      startThreads(0); // they end what was cancelled
    }
    STATE.compareAndSet(this, STARTED, STOPPING);
    wakeAll();
    Thread stopper =
        limit == null
            ? null
            : Thread.ofPlatform()
                .daemon()
                .name(config.name + "-stop")
                .start(() -> cutShort(limit, cutShort));
    if (Thread.currentThread() == caller) {
      if (caller.isVirtual()) {
        startThread(0); // a fiber has no thread to lend: one works while it waits
      } else {
        workers[0].run();
      }
    }
    Uninterrupted.await(stopped::await);
    if (stopper != null) {
      Uninterrupted.await(stopper::join); // until it has said what it cancelled
    }
    if (!gaveUp) {
      threads.forEach(thread -> Uninterrupted.await(thread::join));
    }
    String report = (String) DEADLOCK.getAndSet(this, null);
    if (report != null) {
      throw new IllegalStateException(report);
    }
    return !cutShort.get();
  }

  private void checkMayStop() {
    Thread me = Thread.currentThread();
    if (keepAlive != null) {
      throw refusal("stop", "the shared scheduler cannot be stopped; build one of your own");
    }
    if (caller != null && caller != me) {
      throw refusal("stop", "with useCaller only " + caller + ", which started it, may, not " + me);
    }
    Fiber<?> self = Fiber.currentOrNull();
    if (self != null && self.scheduler() == this) {
      throw refusal("stop", self + " runs on it and would wait for its own end");
    }
    Worker worker = Worker.ofThisThread();
    if (me == ender || (worker != null && worker.scheduler == this)) {
      throw refusal("stop", me + " works for it and would wait for itself");
    }
    if (caller != null && !caller.isVirtual()) {
      Coroutine coroutine = Coroutine.currentOrNull();
      if (coroutine != null) { // to which a yield of a fiber would go
        throw refusal("stop", "its caller would run fibers inside " + coroutine);
      }
      String monitor = HeldMonitors.describe(frame -> false);
      if (monitor != null) {
        throw refusal("stop", "its caller would run fibers while it holds " + monitor);
      }
    }
  }

  /** Gives what is left the limit, then cancels it, then gives up on it. */
  private void cutShort(Duration limit, AtomicBoolean reached) {
    try {
      if (!stopped.await(Nanos.of(limit), TimeUnit.NANOSECONDS)) {
        reached.set(true);
        cancelRest("it had not ended within " + limit);
        awaitEndOrGiveUp();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts this thread", e);
    }
  }

  /** Waits for the end of the cancelled fibers; gives up when for a while none has ended. */
  private void awaitEndOrGiveUp() {
    try {
      long left = Long.MAX_VALUE;
      while (live.get() < left) {
        left = live.get();
        if (stopped.await(GRACE.toNanos(), TimeUnit.NANOSECONDS)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts this thread", e);
    }
    Log.warn(this + " stopped without the end of " + names(fibers().toList()));
    state = STOPPED;
    giveUp();
  }

  /** Returns whether there was something to cancel. */
  private boolean cancelRest(String why) {
    List<Fiber<?>> rest = cancelFibers();
    wakeAll();
    int left = timerHost.oneShots();
    int events = pendingIo.pending();
    if (!rest.isEmpty() || left > 0 || events > 0) {
      Log.warn(
          "%s cancelled what was left of it, for %s: fibers [%s], %d timers and %d I/O events"
              .formatted(this, why, names(rest), left, events));
      return true;
    }
    return false;
  }

  /** Cancels all fibers, and those that begin later; returns the fibers that were not before. */
  private List<Fiber<?>> cancelFibers() {
    restCancelled = true; // Set before listing: a fiber that begins later checks this flag.
    List<Fiber<?>> cancelled = fibers().filter(Fiber::markCancelled).toList();
    // All are marked first: a fiber that joins a cancelled one would fail, were it not cancelled.
    cancelled.forEach(Fiber::deliverCancel);
    return cancelled;
  }

  boolean hasStopped() {
    return state == STOPPED;
  }

  /**
   * Waits until nothing is left but guests, which are the program's virtual threads, and nobody
   * waits for those at the end of a program. It goes on serving them.
   */
  void awaitAllButGuests() {
    while (true) {
      long ended = live.ended(); // read first: what the sums below miss is then counted as live
      List<Fiber<?>> all = live.begun() == ended ? List.of() : fibers().toList();
      List<Fiber<?>> own = all.stream().filter(fiber -> !fiber.isGuest()).toList();
      if (own.isEmpty() && live.begun() - ended <= all.size() && awaitsNothing()) {
        unobserved.reportAll();
        return;
      }
      boolean allDone = own.stream().allMatch(Fiber::isDone); // but their threads have not ended
      own.forEach(Fiber::awaitUnobserved);
      if (allDone) {
        LockSupport.parkNanos(this, LOOK_AGAIN_NANOS);
      }
    }
  }

  private void giveUp() {
    gaveUp = true;
    fibers().forEach(Fiber::abandon);
    afterStopped();
  }

  void enterIdle() {
    idle.incrementAndGet();
  }

  /** Called by a worker that has nothing to do, before it sleeps: is there anything left at all? */
  void noteIdle() {
    if (state == STOPPING) {
      stopIfDrained();
      if (failsOnDeadlock()) {
        String report = DeadlockReport.ofStandstill(this);
        if (report != null) {
          failWith(report);
        }
      }
    }
  }

  /** Returns whether stop() waits, and is to fail if the fibers are deadlocked. */
  boolean failsOnDeadlock() {
    return config.failOnDeadlock && state == STOPPING && deadlock == null;
  }

  /** Returns whether stop() waits, and leaks are to be reported then. */
  boolean reportsLeaks() {
    return config.reportLeaks && state == STOPPING;
  }

  /** Makes stop() fail with this report, after the fibers have been unwound. */
  void failWith(String report) {
    if (DEADLOCK.compareAndSet(this, null, report)) {
      Thread.ofPlatform().daemon().name(config.name + "-unwind").start(this::unwind);
    }
  }

  /** Cancels all fibers, so that their finally blocks run, and gives up on those that stay. */
  private void unwind() {
    cancelFibers();
    wakeAll();
    awaitEndOrGiveUp();
  }

  void exitIdle() {
    idle.decrementAndGet();
  }

  private void stopIfDrained() {
    if (isDrained() && STATE.compareAndSet(this, STOPPING, CLOSING)) {
      if (isDrained()) {
        state = STOPPED;
        afterStopped();
      } else {
        STATE.compareAndSet(this, CLOSING, STOPPING); // unless given up meanwhile
      }
    }
  }

  private boolean isDrained() {
    return live.isZeroWhile(this::awaitsNothing);
  }

  /** Returns whether no one-shot timer and no I/O event is left to wait for. */
  private boolean awaitsNothing() {
    return restCancelled || (timerHost.oneShots() == 0 && pendingIo.pending() == 0);
  }

  /** Returns whether it stops, and no more than so many fibers and no one-shot timer are left. */
  boolean isDrainedBut(int fibers) {
    return state == STOPPING && live.get() <= fibers && awaitsNothing();
  }

  /** Called when what stop() waits for may be gone: a worker that sleeps has to look again. */
  void wakeToStop() {
    if (state == STOPPING) {
      wakeAll();
    }
  }

  private void afterStopped() {
    container.deregister();
    Watchdog.forget(this);
    ender = Thread.currentThread();
    unobserved.reportAll();
    ender = null;
    wakeAll();
    stopped.countDown();
  }

  // ---- submitting ----

  /** Submits a body; it runs later, as a fiber of this scheduler. */
  public Fiber<Void> go(Body body) {
    return begin(FiberOptions.DEFAULT, notCallable(body));
  }

  /** Submits a body with a result. */
  public <T> Fiber<T> go(Callable<T> body) {
    return begin(FiberOptions.DEFAULT, body);
  }

  /**
   * Submits a body with a name, a priority, a thread.
   *
   * @throws IllegalArgumentException if there is no such thread
   */
  public Fiber<Void> go(FiberOptions options, Body body) {
    return begin(options, notCallable(body));
  }

  /** Submits a body with a result, and with a name, a priority, a thread. */
  public <T> Fiber<T> go(FiberOptions options, Callable<T> body) {
    return begin(options, body);
  }

  /** Of an object that is both, its call() would be run. */
  @SuppressWarnings("UnnecessaryMethodReference") // its class is what counts
  static Body notCallable(Body body) {
    return body instanceof Callable<?> ? body::run : body;
  }

  /** Submits a command, as {@link #go(Body)} does. */
  @Override
  public void execute(Runnable command) {
    Objects.requireNonNull(command, "command");
    begin(FiberOptions.DEFAULT, (Body) command::run);
  }

  /**
   * Lets a fiber go on that waits in {@link Fiber#suspend}, or makes its next one return at once.
   *
   * @throws IllegalArgumentException if it is a fiber of another scheduler
   */
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
    fiber.wake();
    Fiber.giveWay();
  }

  /**
   * Lets a suspended fiber go on, on this thread from now on.
   *
   * @throws IllegalArgumentException if there is no such thread, or it is a fiber of another
   *     scheduler
   */
  public void schedule(Fiber<?> fiber, int thread) {
    Worker place = worker(thread);
    if (fiber.scheduler() == this) {
      fiber.bind(place);
    }
    schedule(fiber);
  }

  <T> Fiber<T> begin(FiberOptions options, Object body) {
    return begin(options, body, null);
  }

  /** Begins a fiber, of a scope or of none. */
  <T> Fiber<T> begin(FiberOptions options, Object body, @Nullable Scope scope) {
    Objects.requireNonNull(body, "body");
    if (options.thread() >= 0) {
      worker(options.thread()); // refuses a thread that does not exist
    }
    Fiber.giveWay();
    countBegun(currentWorker());
    Fiber<T> fiber;
    try {
      fiber = new Fiber<>(this, options, body); // may run code of the user's, which may park
    } catch (Throwable e) { // no memory, or no stack
      countEnded();
      throw e;
    }
    try {
      if (scope != null) {
        scope.add(fiber); // may park; before the fiber begins, since it may be cancelled already
      }
    } finally {
      fiber.begin();
      if (state > STARTED) {
        noteLate(fiber);
      }
    }
    return fiber;
  }

  /** Sees to a fiber that stop() may have missed when it cancelled, or gave up on, all of them. */
  void noteLate(Fiber<?> fiber) {
    if (restCancelled) {
      fiber.cancel();
    }
    if (hasStopped()) {
      fiber.abandon();
    }
  }

  /** The worker of this scheduler whose fiber calls, if any. */
  @Nullable Worker currentWorker() {
    Fiber<?> self = Fiber.currentOrNull();
    return self != null && self.scheduler() == this ? self.workerHere() : null;
  }

  /** The worker of this scheduler whose thread this is, in a fiber or between two, if any. */
  @Nullable Worker servingWorker() {
    if (Thread.currentThread().isVirtual()) {
      return currentWorker();
    }
    Worker worker = Worker.ofThisThread();
    return worker != null && worker.scheduler == this ? worker : null;
  }

  /** Counts a fiber that comes from a worker of this scheduler, or from elsewhere (null). */
  void countBegun(@Nullable Worker here) {
    if (here != null) {
      if (hasStopped()) { // it gave up on the fiber that calls
        throw new RejectedExecutionException(this + " has been stopped");
      }
      here.countBegun();
      return;
    }
    live.beginOutside();
    if (!isOpen()) {
      live.endOutside();
      throw new RejectedExecutionException(this + " has been stopped");
    }
    if (keepAlive != null) {
      keepAlive.ensure();
    }
  }

  void countEnded() {
    live.endOutside();
    wakeToStop();
  }

  /** Returns whether what has just been counted will be served. */
  boolean isOpen() {
    int seen = state;
    while (seen == CLOSING) {
      Thread.onSpinWait();
      seen = state;
    }
    return seen != STOPPED;
  }

  // ---- placing ----

  Worker worker(int thread) {
    if (thread < 0 || thread >= workers.length) {
      throw new IllegalArgumentException(
          "thread must be between 0 and " + (workers.length - 1) + ", not " + thread);
    }
    return workers[thread];
  }

  boolean hasStealable() {
    for (Worker worker : workers) {
      if (worker.hasStealable()) {
        return true;
      }
    }
    return false;
  }

  boolean hasSleeper() {
    return idle.get() > 0;
  }

  void reportBroken(Worker worker, Throwable e) {
    try {
      Log.error("thread " + worker.index + " of " + this + " goes on after a failure", e);
    } catch (Throwable unsaid) {
      // no memory, or no descriptor to load the log with: the thread goes on all the same
    }
  }

  void wakeIdle() {
    if (idle.get() > 0) {
      for (Worker worker : workers) {
        if (worker.wakeUp()) {
          return;
        }
      }
    }
  }

  void wakeAll() {
    for (Worker worker : workers) {
      worker.wakeUp();
    }
  }

  /** Returns whether no worker does anything, nor will by itself, but for recurring timers. */
  boolean isStill() {
    int serving = 0;
    for (Worker worker : workers) {
      serving += worker.isServing() ? 1 : 0;
    }
    return idle.get() == serving && !somethingWillCome();
  }

  /** Returns how many slices have begun. */
  long slices() {
    long sum = 0;
    for (Worker worker : workers) {
      sum += worker.slices();
    }
    return sum;
  }

  // ---- looking ----

  /** Returns the timers of this scheduler. */
  public Timers timers() {
    return timers;
  }

  /** Returns the I/O events of this scheduler. */
  public IoManager io() {
    return io;
  }

  /** Returns how many fibers are in which state, and what the threads have done so far. */
  public SchedulerStats stats() {
    return SchedulerStats.of(this);
  }

  /** Returns every fiber with its state, what it waits for, and its stack. */
  public FiberDump dump() {
    return FiberDump.of(this);
  }

  /**
   * Returns the fibers that wait for something which nothing alive can bring any more: a channel, a
   * condition, a lock that only they themselves, or others like them, can still reach. Nothing
   * happens to them; {@link Fiber#cancel} and {@link #stop(Duration)} unwind them.
   *
   * <p>A fiber counts only if no thread holds its {@link Fiber} object, since that thread could
   * cancel or schedule it. To find out takes a full garbage collection or two, so this is for tests
   * and for a look into a process that grows.
   *
   * @throws IllegalStateException if this JVM was told to ignore {@code System.gc()} or not to
   *     finalize objects
   */
  public List<FiberDump.Entry> leaks() {
    LockOwners owners = new LockOwners(Watchdog::fibers);
    return LeakCheck.run(Watchdog.schedulers()).stream()
        .filter(fiber -> fiber.scheduler() == this)
        .map(fiber -> FiberDump.Entry.of(fiber, this, owners))
        .toList();
  }

  /** Returns the number of threads, the caller's included. */
  public int threads() {
    return workers.length;
  }

  /** Returns its name. */
  public String name() {
    return config.name;
  }

  @Override
  public String toString() {
    return "scheduler " + config.name;
  }

  /**
   * Returns whether a fiber is ready, or a timer or an I/O event will make one so. Recurring timers
   * do not count: see {@link DeadlockReport}.
   */
  boolean somethingWillCome() {
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

  boolean hasRecurringTimers() {
    return timerHost.anyRecurring();
  }

  /** Returns the fibers that have not ended, oldest first. */
  Stream<Fiber<?>> fibers() {
    List<Fiber<?>> all = new ArrayList<>();
    for (Worker worker : workers) {
      worker.forEachFiber(all::add);
    }
    all.sort(Comparator.comparingLong(Fiber::id));
    return all.stream();
  }

  private static String names(List<Fiber<?>> fibers) {
    String first =
        fibers.stream().limit(MOST_NAMES).map(Fiber::toString).collect(Collectors.joining(", "));
    int more = fibers.size() - MOST_NAMES;
    return more > 0 ? first + " and " + more + " more" : first;
  }

  private IllegalStateException refusal(String verb, String why) {
    return new IllegalStateException("cannot " + verb + " " + this + ": " + why);
  }

  /** How a scheduler is to be. */
  public static final class Builder {
    private static final AtomicInteger LAST_NAME = new AtomicInteger();

    private int threads = Runtime.getRuntime().availableProcessors();
    private boolean useCaller;
    private String name = "";
    private Policy policy = Policy.fifo();
    private long stackSize;
    private boolean daemon;
    private boolean failOnDeadlock;
    private boolean reportLeaks;
    private boolean keepsProcessAlive;
    private Duration blockedAfter = Duration.ofSeconds(1);
    private @Nullable BiConsumer<Fiber<?>, Throwable> onUncaught;

    private Builder() {}

    private Builder(Builder original) {
      threads = original.threads;
      useCaller = original.useCaller;
      name = original.name.isEmpty() ? "weft-" + LAST_NAME.incrementAndGet() : original.name;
      policy = original.policy;
      stackSize = original.stackSize;
      daemon = original.daemon;
      failOnDeadlock = original.failOnDeadlock;
      reportLeaks = original.reportLeaks;
      keepsProcessAlive = original.keepsProcessAlive;
      blockedAfter = original.blockedAfter;
      onUncaught = original.onUncaught;
    }

    /** Sets the number of threads, 1 or more; by default as many as there are cores. */
    public Builder threads(int count) {
      if (count < 1) {
        throw new IllegalArgumentException("threads must be 1 or more, not " + count);
      }
      threads = count;
      return this;
    }

    /**
     * Makes the thread that calls start() and stop() one of the threads. A fiber has none to lend:
     * if it calls, a thread works in its place while it waits in stop().
     */
    public Builder useCaller(boolean use) {
      useCaller = use;
      return this;
    }

    /** Sets the name, which its threads bear too. */
    public Builder name(String newName) {
      name = Objects.requireNonNull(newName, "name");
      return this;
    }

    /** Sets the order in which ready fibers run. */
    public Builder policy(Policy newPolicy) {
      policy = Objects.requireNonNull(newPolicy, "policy");
      return this;
    }

    /**
     * Sets the stack size of its threads in bytes, which bounds that of its fibers; 0: the JVM's.
     */
    public Builder stackSize(long bytes) {
      if (bytes < 0) {
        throw new IllegalArgumentException("stackSize must be 0 or more, not " + bytes);
      }
      stackSize = bytes;
      return this;
    }

    /** Lets the process end while its threads still wait for work. */
    public Builder daemon(boolean isDaemon) {
      daemon = isDaemon;
      return this;
    }

    /**
     * Sets the handler for failures that nobody joins for. Without one they go to the default
     * handler of the JVM, {@link Thread#setDefaultUncaughtExceptionHandler}; a handler that is set
     * on the thread of the fiber comes before either. They are logged in any case.
     */
    public Builder onUncaught(BiConsumer<Fiber<?>, Throwable> handler) {
      onUncaught = Objects.requireNonNull(handler, "handler");
      return this;
    }

    /**
     * Makes stop() fail if all fibers wait and nothing is left that could wake them; the fibers are
     * cancelled first, so that their finally blocks run.
     */
    public Builder failOnDeadlock(boolean fail) {
      failOnDeadlock = fail;
      return this;
    }

    /** Has {@linkplain Scheduler#leaks leaks} logged that keep stop() waiting. */
    Builder reportLeaks(boolean report) {
      reportLeaks = report;
      return this;
    }

    /**
     * Sets after how long in one fiber without a switch a thread is reported; a second by default.
     * Other threads take over its fibers after 20 ms, or this limit if it is shorter.
     */
    public Builder blockedAfter(Duration limit) {
      if (limit.isNegative() || limit.isZero()) {
        throw new IllegalArgumentException("blockedAfter must be positive, not " + limit);
      }
      blockedAfter = limit;
      return this;
    }

    /** Builds a scheduler that is still to be started. */
    public Scheduler build() {
      return new Scheduler(new Builder(this));
    }
  }
}
