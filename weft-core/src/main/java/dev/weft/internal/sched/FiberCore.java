package dev.weft.internal.sched;

import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.internal.Started;
import dev.weft.internal.WaitWords;
import dev.weft.internal.switching.Mounting;
import dev.weft.internal.switching.Pinning;
import dev.weft.internal.switching.RawContinuation;
import dev.weft.internal.switching.VirtualThreads;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A fiber as its scheduler sees it: where it belongs, whether it is queued, runs or waits, and what
 * ends its waits. How it ends is in {@link FiberEnd}, its thread in {@link FiberThread}, and what
 * happens in a slice in {@link Slice}.
 *
 * <p>Two places matter: its <em>home</em>, the worker at which it is queued when it becomes ready,
 * and its <em>worker</em>, the one that runs it or ran it last. They differ after it was stolen,
 * and from {@code switchTo} until the move. (A bound fiber's home never changes by itself; a fiber
 * in a blocking call is run by a helper in its worker's place; and the registry of the worker where
 * it began lists it until it ends.)
 *
 * <pre>
 * The turn: a fiber is in one queue, or in the hands of one worker, but never both. The JDK may
 * submit a thread while its last slice is still being left (unless Weft switches: see Mounting),
 * and it may submit one thread twice, after it has looked at the stack of a ready thread.
 *
 *                        QUEUED                 new
 *                   IDLE ─► QUEUED              made ready
 *                 QUEUED ─► RUNNING             taken by a worker, or a helper
 *                RUNNING ─► READY_WHILE_RUNNING made ready before its worker has left the slice
 *                RUNNING ─► IDLE                the worker has left it
 *    READY_WHILE_RUNNING ─► QUEUED              the worker has left it, and queues it
 *               RUNNING… ─► OVER                the worker has left the last slice
 * </pre>
 *
 * <p>The file is long because the turn and all that changes it are meant to be read in one place.
 */
public final class FiberCore<T> extends FiberCancel<T> {
  static final int IDLE = 0;
  static final int QUEUED = 1;
  static final int RUNNING = 2;
  static final int READY_WHILE_RUNNING = 3;
  static final int OVER = 4;

  /** What a suspended fiber waits for, in dumps. */
  private static final Object SUSPENDED = named("schedule(fiber)");

  /** What a sleeping fiber waits for. */
  public static final Object SLEEPING = named(WaitWords.SLEEP);

  /** How long a worker waits for a thread that looks at the stack of the fiber that is next. */
  private static final long LOOK_NANOS = 20_000;

  static final VarHandle TURN;
  private static final VarHandle PERMIT;
  private static final VarHandle SUSPENDS;
  private static final VarHandle FIRED_FOR;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TURN = lookup.findVarHandle(FiberCore.class, "turn", int.class);
      PERMIT = lookup.findVarHandle(FiberCore.class, "permit", boolean.class);
      SUSPENDS = lookup.findVarHandle(FiberCore.class, "suspends", int.class);
      FIRED_FOR = lookup.findVarHandle(FiberCore.class, "firedFor", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    Started.fibers = true;
  }

  private final boolean guest;

  // the fiber's scheduler; changed by switchTo, which this fiber calls
  private volatile SchedulerCore scheduler;

  // the worker that gets the fiber when it becomes ready, unless the placement says otherwise. A
  // plain field, like worker: a stale value queues the fiber at another worker, which runs it too
  Worker home;

  // the worker that runs the fiber, or ran it last
  public Worker worker;

  // the index of the worker that the fiber is bound to, or -1
  private volatile int boundThread;

  private volatile int turn;

  // true once all waiters have been told of the fiber's end. Callbacks of toFuture() may wait then,
  // so a done fiber is not over yet; after that the fiber's thread may still wait: see Slice
  private volatile boolean over;

  // true once the scheduler has given up on the fiber
  private volatile boolean abandoned;

  // given by schedule(), taken by suspend()
  private volatile boolean permit;

  // how many calls of suspend() have returned; written by this fiber
  private volatile int suspends;

  // the greatest value of suspends for which an I/O event has fired: see wakeFor
  private volatile int firedFor = -1;

  // whether the fiber was bound when it was queued; guarded by the duty lock of the worker in whose
  // queue the fiber is
  boolean countedAsBound;

  // a time, as the worker knew it. While the fiber runs under a policy that measures slices: when
  // the slice began; while the fiber is queued: when it became ready; else, for dumps: when the
  // fiber last stopped running
  public long since;

  // running average of the fiber's slices in nanoseconds, for ResponseRatioQueue; 0 before the
  // first
  public int usualSlice;

  // how often the fiber has disabled the hook and not enabled it again; this fiber only
  private int hookDisabled;

  // whether the fiber's worker left it while another thread looked at its stack; plain, because the
  // worker writes it before it sets the turn to IDLE
  private boolean lookedAt;

  // whether the fiber waits in join(), read by WokenFirstQueue; written by this fiber
  public boolean joins;

  // when the fiber's last long slice ended, in ticks of SetApart; 0: there was none
  int lastLongSlice;

  // the fiber's blocking call, set by this fiber during the call; or a SetApart
  public volatile @Nullable Detour away;

  // the worker whose registry lists the fiber, and the index there; guarded by that worker's duty
  // lock: written by FiberRegistry, which is called under it
  @Nullable Worker registeredAt;
  int registeredPlace;

  /** Creates a fiber that is to run the body; {@link #begin} places it on a worker. */
  FiberCore(SchedulerCore scheduler, FiberOptions options, Object body) {
    super(options, body);
    this.scheduler = scheduler;
    this.home = scheduler.workers[0];
    this.worker = home;
    this.boundThread = options.thread();
    this.guest = false;
    TURN.set(this, QUEUED); // so that thread() does not queue it before begin() does
  }

  /** Creates the fiber of a virtual thread that a fiber, or a platform thread (null), started. */
  FiberCore(SchedulerCore scheduler, @Nullable FiberCore<?> host, Thread thread, Runnable slice) {
    super(
        new FiberOptions(
            thread.getName().isEmpty() ? null : thread.getName(),
            host != null ? host.priority() : 0,
            FiberOptions.ANY_THREAD),
        thread,
        slice);
    this.scheduler = scheduler;
    this.home = scheduler.placement.forNew(scheduler.servingWorker());
    this.worker = home;
    this.boundThread = FiberOptions.ANY_THREAD;
    this.guest = true;
  }

  private static Object named(String text) {
    return new Object() {
      @Override
      public String toString() {
        return text;
      }
    };
  }

  // ---- the current fiber ----

  /** Returns the fiber that calls, or null on any other thread. */
  public static @Nullable FiberCore<?> currentOrNull() {
    return ofOrNull(Thread.currentThread());
  }

  /** Returns the fiber that this thread belongs to, or null if it is no fiber's thread. */
  public static @Nullable FiberCore<?> ofOrNull(Thread thread) {
    return thread.isVirtual() && VirtualThreads.executorOf(thread) instanceof FiberExecutor executor
        ? executor.fiber()
        : null;
  }

  /** Returns the thread's text for messages: the fiber's, if the thread is a fiber's. */
  public static String describe(Thread thread) {
    FiberCore<?> fiber = ofOrNull(thread);
    return fiber != null ? fiber.toString() : thread.toString();
  }

  // ---- suspending ----

  /** See {@link dev.weft.Fiber#suspend}; called by this fiber. */
  void suspendSelf() {
    boolean interrupted = false;
    throwIfCancelled();
    try {
      while (!permit && firedFor != suspends) {
        Mounting.park(SUSPENDED);
        interrupted |= Thread.interrupted();
        throwIfCancelled();
      }
    } finally {
      endSuspend();
    }
    // An exchange, not a store: reading the permit makes schedule() happen-before this return.
    PERMIT.getAndSet(this, false);
    if (interrupted) {
      ownThread().interrupt();
    }
  }

  /** No fence, which would cost a tenth of a wake-up: a waker that reads the old number unparks. */
  private void endSuspend() {
    SUSPENDS.setRelease(this, suspends + 1);
  }

  /** Lets {@code suspend} return, now or the next time it is called. */
  void wake() {
    permit = true;
    unpark();
  }

  /**
   * Returns a waker of the current suspend of this fiber, or of the next suspend if it is in none.
   * Once that suspend has returned, the waker does nothing.
   */
  Runnable suspendWaker() {
    int suspend = suspends;
    return () -> wakeFor(suspend);
  }

  private void wakeFor(int suspend) {
    int seen = firedFor;
    while (seen - suspend < 0 && !FIRED_FOR.compareAndSet(this, seen, suspend)) {
      seen = firedFor;
    }
    if (suspends == suspend) {
      unpark();
    }
  }

  // ---- becoming ready ----

  /** Places this new fiber on a worker and queues it there. */
  void begin() {
    Worker here = scheduler.servingWorker(); // not before: a caller that has parked may have moved
    assert Worker.beginNoPark(here);
    try {
      home = isBound() ? scheduler.worker(boundThread) : scheduler.placement.forNew(here);
      worker = home;
      TURN.set(this, QUEUED);
      enqueue(here);
    } finally {
      assert Worker.endNoPark(here);
    }
  }

  /** Unparks a thread, a fiber's or a plain one. */
  public static void unpark(Thread thread) {
    FiberCore<?> fiber = ofOrNull(thread);
    if (fiber != null) {
      fiber.unpark();
    } else {
      LockSupport.unpark(thread);
    }
  }

  /** Unparks its thread, which is parked as a rule and then needs no LockSupport permit. */
  public void unpark() {
    Thread parked = threadOrNull();
    if (parked == null || !Mounting.unparkIfParked(parked)) {
      LockSupport.unpark(parked);
      return;
    }
    boolean pinned = Pinning.begin(); // as VirtualThread.unpark: a waker must not be unmounted
    try {
      becomeReady();
    } finally {
      Pinning.end(pinned);
    }
  }

  /** Takes the turn and queues the fiber. Called on any thread, often inside JDK code. */
  void becomeReady() {
    while (true) {
      int seen = turn;
      if (seen == IDLE) {
        if (TURN.compareAndSet(this, IDLE, QUEUED)) {
          enqueueHere();
          return;
        }
      } else if (seen != RUNNING) {
        return;
      } else if (worker.runsHere(this)) {
        TURN.setRelease(this, READY_WHILE_RUNNING); // a yield: only this thread can make it IDLE
        return;
      } else if (TURN.compareAndSet(this, RUNNING, READY_WHILE_RUNNING)) {
        return;
      }
    }
  }

  /** The fiber is still queued as a rule; but a worker may have taken it before it had a slice. */
  @Override
  void becomeReadyElsewhere() {
    if (!worker.runsHere(this)) {
      becomeReady();
    }
  }

  /** Leaves a slice that the JDK has ended; returns false if the fiber is ready again already. */
  boolean leaveRunning() {
    return turn == RUNNING && TURN.compareAndSet(this, RUNNING, IDLE);
  }

  /**
   * Waits a moment for the thread that looks at this ready fiber's stack: it makes the fiber ready
   * again, and until then the fiber cannot run. A look takes some microseconds, less than a sleep
   * and a wake-up of the worker. Called by the worker after a slice in which nothing ran.
   */
  void awaitResubmission() {
    long begin = System.nanoTime();
    while (turn == RUNNING && System.nanoTime() - begin < LOOK_NANOS) {
      Thread.onSpinWait();
    }
    lookedAt = turn == RUNNING;
  }

  private void enqueueHere() {
    if (lookedAt) { // the looking thread is no waker: do not move to its worker
      lookedAt = false;
      enqueue(null);
      return;
    }
    Worker here = currentWorker();
    assert Worker.beginNoPark(here);
    try {
      if (here == null && !isNew()) {
        scheduler.placement.leaveBusyHome(this);
      }
      enqueue(here);
    } finally {
      assert Worker.endNoPark(here);
    }
  }

  /** Queues this fiber where it belongs; {@code here} is the current thread's worker, if any. */
  public void enqueue(@Nullable Worker here) {
    if (handToHelper()) {
      return;
    }
    Worker target = placeFrom(here);
    if (target == here) {
      target.addReady(this);
    } else {
      target.addRemote(this);
    }
  }

  /** Returns where to queue this ready fiber; {@code here} is the current thread's worker. */
  Worker placeFrom(@Nullable Worker here) {
    return here != null && here == home && !isBound() && here.scheduler == scheduler
        ? here // the usual case needs no look at the placement
        : scheduler.placement.forReady(this, here);
  }

  /** Returns the current thread's worker, if it may become the place of this fiber. */
  private @Nullable Worker currentWorker() {
    Thread me = Thread.currentThread();
    if (!me.isVirtual()) {
      if (worker.isServedBy(me)) {
        return worker;
      }
      return isNew() ? null : Worker.ofThisThread(); // begin() has placed a new fiber
    }
    FiberCore<?> waker = currentOrNull();
    return waker == null ? null : waker.workerHere();
  }

  /** Gives this ready fiber to the helper that runs its blocking call; false if it is in none. */
  boolean handToHelper() {
    Detour call = away;
    return call != null && call.takes();
  }

  // ---- being abandoned ----

  /** Ends it for its waiters, though its body has not ended: no worker will run it again. */
  void abandon() {
    abandoned = true;
    recordAbandoned();
    Thread parked = threadOrNull();
    if (parked != null && LockSupport.getBlocker(parked) instanceof Awaited awaited) {
      awaited.waiterIsGone();
    }
  }

  /**
   * Returns whether it waits for ever: it was abandoned and has no thread to go on with. Being done
   * is not enough, since callbacks of its future may wait.
   */
  public boolean isGone() {
    return abandoned && canLeaveThread() && !isOnHelper();
  }

  // ---- the hook, as this fiber has it ----

  /** Undoes one disableHook() of this fiber, the current one: {@link dev.weft.Hook#enable}. */
  public void enableHook() {
    if (hookDisabled == 0) {
      throw new IllegalStateException(
          "cannot enable the hook in " + this + ": it is not disabled there");
    }
    if (!RawContinuation.unpinIfPinned() && RawContinuation.current() != null) {
      throw new IllegalStateException(
          "cannot enable the hook in a coroutine of " + this + ": it was disabled outside it");
    }
    hookDisabled--;
  }

  /** See {@link dev.weft.Hook#disable}. */
  public void disableHook() {
    RawContinuation.pin();
    hookDisabled++;
  }

  public boolean isHookEnabled() {
    return hookDisabled == 0;
  }

  /** Enables the hook as often as the body has disabled it and not enabled it. */
  void enableHookAgain() {
    while (hookDisabled > 0) {
      enableHook();
    }
  }

  // ---- where it is ----

  @Override
  public Status status() {
    if (isDone()) {
      return Status.DONE;
    }
    return switch (turn) {
      case QUEUED -> Status.READY;
      case RUNNING, READY_WHILE_RUNNING -> Status.RUNNING;
      default -> Status.WAITING;
    };
  }

  @Override
  public Scheduler scheduler() {
    return scheduler;
  }

  @Override
  public SchedulerCore core() {
    return scheduler;
  }

  /** Moves it to another scheduler; see {@link Moving}. */
  void setScheduler(SchedulerCore target) {
    scheduler = target;
  }

  /** The worker that runs this fiber, the current one; null if a helper does. */
  @Nullable Worker workerHere() {
    return isOnHelper() ? null : worker;
  }

  /** Leaves the computing thread that runs this fiber, the current one, if one does. */
  public void returnToWorker() {
    if (away instanceof SetApart apart) {
      apart.end();
    }
  }

  /** Returns whether a helper, or a computing thread, runs this fiber. */
  public boolean isOnHelper() {
    Detour call = away;
    return call != null && call.isOnHelper();
  }

  /** Returns whether this fiber, which runs or waits, unmounts from its carrier when it waits. */
  public boolean canLeaveThread() {
    Detour call = away;
    return hookDisabled == 0 && !(call != null && call.pins() && call.isOnHelper());
  }

  /** Returns whether its thread has ended: it is in a registry only until its worker removes it. */
  boolean hasLeft() {
    return turn == OVER;
  }

  /** Returns whether its body has begun, or, of a guest, its thread. */
  public boolean hasBegun() {
    return guest ? !Mounting.isToBegin(ownThread()) : hasStarted();
  }

  /** Returns whether no worker has queued it yet. */
  boolean isNew() {
    return registeredAt == null;
  }

  public boolean isGuest() {
    return guest;
  }

  public boolean isBound() {
    return boundThread >= 0;
  }

  int boundThread() {
    return boundThread;
  }

  void bind(Worker place) {
    home = place;
    boundThread = place.index;
  }

  void setBoundThread(int thread) {
    boundThread = thread;
  }

  /** Returns whether its thread waits, in the body or after the end of the body. */
  public boolean isWaiting() {
    return turn == IDLE;
  }

  boolean isOver() {
    return over;
  }

  void setOver() {
    over = true;
  }
}
