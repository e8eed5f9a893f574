package dev.weft.internal.sched;

import dev.weft.Scheduler;
import dev.weft.internal.JvmThreads;
import dev.weft.internal.Log;
import dev.weft.internal.Nanos;
import dev.weft.internal.Uninterrupted;
import dev.weft.internal.switching.CarrierThread;
import dev.weft.internal.switching.HeldMonitors;
import dev.weft.internal.switching.RawContinuation;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The life of a scheduler: its start, and how it stops once nothing is left to do. How it runs
 * fibers in between is in {@link SchedulerCore}.
 *
 * <pre>
 *               NEW ──► STARTED     start
 *      NEW, STARTED ──► STOPPING    stop: fibers come and go until none is left
 *          STOPPING ──► CLOSING     an idle worker finds none left; a thread that submits waits
 *           CLOSING ──► STOPPING    a fiber was submitted in the meantime
 * CLOSING, STOPPING ──► STOPPED     none is left; or given up: deadlock, or over stop's limit
 * </pre>
 *
 * <p>Invariant: a fiber that has been counted as begun before CLOSING is served: see {@link
 * LiveCount}.
 */
public abstract sealed class SchedulerLife extends Scheduler permits SchedulerCore {
  private static final int NEW = 0;
  private static final int STARTED = 1;
  private static final int STOPPING = 2;
  private static final int CLOSING = 3;
  private static final int STOPPED = 4;

  /** How long stop(limit), after it has cancelled, waits for the next cancelled fiber to end. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** How many fibers a log message names at most. */
  private static final int MOST_NAMES = 20;

  private static final VarHandle STATE;
  private static final VarHandle DEADLOCK;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(SchedulerLife.class, "state", int.class);
      DEADLOCK = lookup.findVarHandle(SchedulerLife.class, "deadlock", String.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final SchedulerConfig config;
  public final UnobservedFailures unobserved;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final AtomicInteger idle = new AtomicInteger();

  private volatile int state = NEW;

  // the caller thread: the thread that called start(), with useCaller(true)
  private volatile @Nullable Thread caller;

  // the threads it has started
  private final List<Thread> threads = new CopyOnWriteArrayList<>();

  // true if it stopped without the end of all fibers, one of which may hold a thread
  private volatile boolean gaveUp;

  // the thread that reports the last unobserved failures, while it calls the user's handlers
  private volatile @Nullable Thread ender;

  // the report with which stop() fails
  private volatile @Nullable String deadlock;

  // true once stop() has cancelled the rest: it no longer waits for timers and I/O events, and
  // fibers that begin are cancelled
  private volatile boolean restCancelled;

  SchedulerLife(SchedulerConfig config) {
    this.config = config;
    this.unobserved = new UnobservedFailures(config.onUncaught());
  }

  // ---- implemented by SchedulerCore ----

  abstract Worker[] workers();

  abstract LiveCount live();

  /** Returns the fibers that have not ended, oldest first. */
  public abstract Stream<FiberCore<?>> fibers();

  abstract int oneShots();

  abstract int pendingEvents();

  /** Releases what the JVM holds beyond the end of the threads. */
  public abstract void release();

  // ---- start ----

  @Override
  public final Scheduler start() {
    if (!STATE.compareAndSet(this, NEW, STARTED)) {
      throw refusal(
          "start", state == STARTED ? "it is running" : "it has been stopped; build a new one");
    }
    Surroundings.get().started((SchedulerCore) this);
    if (config.useCaller()) {
      caller = Thread.currentThread();
    }
    startThreads(config.useCaller() ? 1 : 0);
    if (JvmThreads.ALL) {
      Surroundings.get().awaitPreparation(); // the caller may start virtual threads next
    }
    return this;
  }

  private void startThreads(int first) {
    for (int i = first; i < workers().length; i++) {
      startThread(i);
    }
  }

  private void startThread(int i) {
    Thread thread =
        CarrierThread.create(
            config.name() + "-" + i, config.daemon(), config.stackSize(), workers()[i]::run);
    thread.start();
    threads.add(thread);
  }

  @Override
  public final void hostVirtualThreads() {
    if (!JvmThreads.ALL) {
      throw refusal("host virtual threads on", "they belong to the JDK without -Dweft.threads=all");
    }
    if (state != STARTED) {
      throw refusal(
          "host virtual threads on", state == NEW ? "start it first" : "it has been stopped");
    }
    JvmHost.name((SchedulerCore) this);
  }

  // ---- stop ----

  @Override
  public final void stop() {
    drain(null);
  }

  @Override
  public final boolean stop(Duration limit) {
    return drain(Objects.requireNonNull(limit, "limit"));
  }

  @Override
  public final void close() {
    stop();
  }

  private boolean drain(@Nullable Duration limit) {
    checkMayStop();
    AtomicBoolean cutShort = new AtomicBoolean();
    if (STATE.compareAndSet(this, NEW, STOPPING)) {
      cutShort.set(cancelRest("it was never started"));
      startThreads(0); // the workers end the cancelled fibers
    }
    STATE.compareAndSet(this, STARTED, STOPPING);
    wakeAll();
    Thread stopper =
        limit == null
            ? null
            : Thread.ofPlatform()
                .daemon()
                .name(config.name() + "-stop")
                .start(() -> cutShort(limit, cutShort));
    if (Thread.currentThread() == caller) {
      if (caller.isVirtual()) {
        startThread(0); // a virtual thread cannot be a worker: a new thread serves while it waits
      } else {
        workers()[0].run();
      }
    }
    Uninterrupted.await(stopped::await);
    if (stopper != null) {
      Uninterrupted.await(stopper::join); // until it has logged what it cancelled
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
    if (config.keepsProcessAlive()) {
      throw refusal("stop", "the shared scheduler cannot be stopped; build one of your own");
    }
    if (caller != null && caller != me) {
      throw refusal("stop", "with useCaller only " + caller + ", which started it, may, not " + me);
    }
    FiberCore<?> self = FiberCore.currentOrNull();
    if (self != null && self.scheduler() == this) {
      throw refusal("stop", self + " runs on it and would wait for its own end");
    }
    Worker worker = Worker.ofThisThread();
    if (me == ender || (worker != null && worker.scheduler == this)) {
      throw refusal("stop", me + " works for it and would wait for itself");
    }
    if (caller != null && !caller.isVirtual()) {
      Object coroutine = RawContinuation.current();
      if (coroutine != null) { // a yield of a fiber would suspend this coroutine
        throw refusal("stop", "its caller would run fibers inside " + coroutine);
      }
      String monitor = HeldMonitors.describe(frame -> false);
      if (monitor != null) {
        throw refusal("stop", "its caller would run fibers while it holds " + monitor);
      }
    }
  }

  /** Waits for the limit, then cancels the fibers that are left, then gives up on them. */
  private void cutShort(Duration limit, AtomicBoolean reached) {
    try {
      if (!stopped.await(Nanos.of(limit), TimeUnit.NANOSECONDS)) {
        reached.set(true);
        cancelRest("it had not ended within " + limit);
        awaitEndOrGiveUp();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nothing interrupts this thread", e);
    }
  }

  /** Waits for the end of the cancelled fibers; gives up when none has ended within GRACE. */
  private void awaitEndOrGiveUp() {
    try {
      long left = Long.MAX_VALUE;
      while (live().get() < left) {
        left = live().get();
        if (stopped.await(GRACE.toNanos(), TimeUnit.NANOSECONDS)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nothing interrupts this thread", e);
    }
    Log.logger()
        .log(Level.WARNING, this + " stopped without the end of " + names(fibers().toList()));
    state = STOPPED;
    giveUp();
  }

  private void giveUp() {
    gaveUp = true;
    fibers().forEach(FiberCore::abandon);
    afterStopped();
  }

  /** Returns whether there was something to cancel. */
  private boolean cancelRest(String why) {
    List<FiberCore<?>> rest = cancelFibers();
    wakeAll();
    int left = oneShots();
    int events = pendingEvents();
    if (!rest.isEmpty() || left > 0 || events > 0) {
      Log.logger()
          .log(
              Level.WARNING,
              "%s cancelled what was left, because %s: fibers [%s], %d timers and %d I/O events"
                  .formatted(this, why, names(rest), left, events));
      return true;
    }
    return false;
  }

  /**
   * Cancels all fibers, and those that begin later; returns the fibers that this call cancelled.
   */
  private List<FiberCore<?>> cancelFibers() {
    restCancelled = true; // Set before listing: a fiber that begins later checks this flag.
    List<FiberCore<?>> cancelled = fibers().filter(FiberCore::markCancelled).toList();
    // Mark all first: a fiber that joins a cancelled fiber and is not marked yet would fail.
    cancelled.forEach(FiberCore::deliverCancel);
    return cancelled;
  }

  /** Cancels or abandons a fiber that begins while stop() cancels, or gives up on, all fibers. */
  final void noteLate(FiberCore<?> fiber) {
    if (restCancelled) {
      fiber.cancel();
    }
    if (hasStopped()) {
      fiber.abandon();
    }
  }

  private static String names(List<FiberCore<?>> fibers) {
    String first =
        fibers.stream()
            .limit(MOST_NAMES)
            .map(FiberCore::toString)
            .collect(Collectors.joining(", "));
    int more = fibers.size() - MOST_NAMES;
    return more > 0 ? first + " and " + more + " more" : first;
  }

  private IllegalStateException refusal(String verb, String why) {
    return new IllegalStateException("cannot " + verb + " " + this + ": " + why);
  }

  // ---- idle workers find out whether all is done ----

  final void enterIdle() {
    idle.incrementAndGet();
  }

  final void exitIdle() {
    idle.decrementAndGet();
  }

  /** Returns whether a worker sleeps, or is about to. */
  final boolean hasSleeper() {
    return idle.get() > 0;
  }

  /** Called by an idle worker before it sleeps: stops the scheduler if nothing is left to do. */
  final void noteIdle() {
    if (state == STOPPING) {
      stopIfDrained();
      if (failsOnDeadlock()) {
        String report = Surroundings.get().standstill((SchedulerCore) this);
        if (report != null) {
          failWith(report);
        }
      }
    }
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
    return live().isZeroWhile(this::awaitsNothing);
  }

  /** Returns whether no one-shot timer and no I/O event is left to wait for. */
  final boolean awaitsNothing() {
    return restCancelled || (oneShots() == 0 && pendingEvents() == 0);
  }

  /** Returns whether it is stopping, with at most so many fibers and no one-shot timer left. */
  final boolean isDrainedBut(int fibers) {
    return state == STOPPING && live().get() <= fibers && awaitsNothing();
  }

  private void afterStopped() {
    release();
    Surroundings.get().stopped((SchedulerCore) this);
    ender = Thread.currentThread();
    unobserved.reportAll();
    ender = null;
    wakeAll();
    stopped.countDown();
  }

  /** Called when stop() may have nothing left to wait for: a sleeping worker has to check again. */
  public final void wakeToStop() {
    if (state == STOPPING) {
      wakeAll();
    }
  }

  public final void wakeAll() {
    for (Worker worker : workers()) {
      worker.wakeUp();
    }
  }

  /** Wakes a sleeping worker, if there is one. */
  public final void wakeIdle() {
    if (idle.get() > 0) {
      for (Worker worker : workers()) {
        if (worker.wakeUp()) {
          return;
        }
      }
    }
  }

  /** Returns whether every serving worker is asleep or about to be. */
  final boolean allIdle() {
    int serving = 0;
    for (Worker worker : workers()) {
      serving += worker.isServing() ? 1 : 0;
    }
    return idle.get() == serving;
  }

  // ---- deadlocks ----

  /** Returns whether a waiting stop() has to fail if the fibers are deadlocked. */
  public final boolean failsOnDeadlock() {
    return config.failOnDeadlock() && state == STOPPING && deadlock == null;
  }

  /** Returns whether fibers that compute are set apart: see {@link SetApart}. */
  final boolean separatesComputing() {
    return config.separateComputing() && threads() > 1;
  }

  /** Returns whether a waiting stop() has to report leaks. */
  public final boolean reportsLeaks() {
    return config.reportLeaks() && state == STOPPING;
  }

  /** Makes stop() fail with this report, after the fibers have been unwound. */
  public final void failWith(String report) {
    if (DEADLOCK.compareAndSet(this, null, report)) {
      Thread.ofPlatform().daemon().name(config.name() + "-unwind").start(this::unwind);
    }
  }

  /** Cancels all fibers, so that their finally blocks run; gives up on fibers that do not end. */
  private void unwind() {
    cancelFibers();
    wakeAll();
    awaitEndOrGiveUp();
  }

  // ---- looks ----

  public final boolean hasStopped() {
    return state == STOPPED;
  }

  /** Returns whether stop() has been called, so that a new fiber may come late. */
  final boolean isStopping() {
    return state > STARTED;
  }

  /** Returns whether a fiber that the caller has just counted will be served. */
  final boolean isOpen() {
    int seen = state;
    while (seen == CLOSING) {
      Thread.onSpinWait();
      seen = state;
    }
    return seen != STOPPED;
  }

  @Override
  public final String name() {
    return config.name();
  }

  @Override
  public final String toString() {
    return "scheduler " + config.name();
  }
}
