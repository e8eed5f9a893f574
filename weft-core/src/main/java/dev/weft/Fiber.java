package dev.weft;

import static dev.weft.Outcome.CANCELLING;
import static dev.weft.Outcome.NULL_RESULT;

import dev.weft.Outcome.Cancelled;
import dev.weft.Outcome.Failure;
import dev.weft.internal.FiberAccess;
import dev.weft.internal.Uninterrupted;
import dev.weft.internal.jdk.Pinning;
import dev.weft.internal.jdk.ScopedBindings;
import dev.weft.internal.jdk.Slices;
import dev.weft.internal.jdk.VirtualThreads;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that Weft schedules: it runs a body on the threads of a {@link Scheduler} and gives its
 * thread away whenever it waits.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="go-and-join"}
 *
 * <p>Underneath it is a virtual thread, so thread locals, {@code synchronized}, locks, debuggers
 * and every blocking call of the JDK work in it. A virtual thread that is started inside a fiber
 * runs on the same scheduler and is a fiber too, a <em>guest</em>.
 */
public final class Fiber<T> {
  /*
   * Where a fiber is, and how it gets from there to somewhere else. The virtual thread underneath
   * keeps the state; it calls Strand.execute for every arrow that ends in READY.
   *
   *            go
   *             │
   *             ▼     taken by a worker
   *           READY ─────────────────────► RUNNING ───► DONE   // body ended
   *             ▲ ▲                         │   │
   *             │ └──────── yield ──────────┘   │ sleep, suspend, join, lock, I/O…
   *             │                               ▼
   *             └───────── unpark ─────────── WAITING
   *
   * In Weft.blocking it waits for a helper thread, which then runs it as a worker does: BlockingCall.
   */

  /*
   * Whose turn it is. The JDK may hand out the next slice before the worker has left the former one
   * (unless that ended in the worker's hands: Slices), and a slice twice: it does so after it has
   * looked at the stack of a ready thread. The turn sees to it that a fiber is in one queue, or in
   * the hands of one worker, but never both.
   *
   *           IDLE -> QUEUED     // handed out
   *         QUEUED -> RUNNING    // taken by a worker, or a helper
   *        RUNNING -> AGAIN      // handed out before the worker has left the slice
   *        RUNNING -> IDLE       // the worker has left it
   *          AGAIN -> QUEUED     // the worker has left it, and queues it
   * RUNNING, AGAIN -> OVER       // the worker has left the last one
   */
  private static final int IDLE = 0;
  private static final int QUEUED = 1;
  private static final int RUNNING = 2;
  private static final int AGAIN = 3;
  private static final int OVER = 4;

  /** Where a fiber is in its life. */
  public enum Status {
    /** It could run, and waits for its turn. */
    READY,
    /** It runs on one of its scheduler's threads, or in a blocking call on a helper thread. */
    RUNNING,
    /** It waits for something: a timer, another fiber, a lock, I/O. */
    WAITING,
    /** Its body has ended. */
    DONE
  }

  /** The slice of a fiber that has ended and let go of its thread. */
  @SuppressWarnings("UnnecessaryLambda") // its identity is what counts
  private static final Runnable NO_SLICE = () -> {};

  /** What a suspended fiber waits for, in dumps. */
  private static final Object SUSPENDED =
      new Object() {
        @Override
        public String toString() {
          return "schedule(fiber)";
        }
      };

  /** What a sleeping fiber waits for. */
  static final Object SLEEPING =
      new Object() {
        @Override
        public String toString() {
          return "sleep";
        }
      };

  /** How often a plain thread looks for an end before it sleeps: for some microseconds. */
  private static final int LOOKS_BEFORE_SLEEP =
      Runtime.getRuntime().availableProcessors() > 1 ? 300 : 0;

  private static final AtomicLong LAST_ID = new AtomicLong();
  private static final VarHandle OUTCOME;
  private static final VarHandle WAITERS;
  private static final VarHandle TURN;
  private static final VarHandle THREAD;
  private static final VarHandle PERMIT;
  private static final VarHandle EXPIRED_DEADLINES;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OUTCOME = lookup.findVarHandle(Fiber.class, "outcome", Object.class);
      WAITERS = lookup.findVarHandle(Fiber.class, "waiters", EndWaiter.class);
      EXPIRED_DEADLINES = lookup.findVarHandle(Fiber.class, "expiredDeadlines", int.class);
      THREAD = lookup.findVarHandle(Fiber.class, "thread", Thread.class);
      TURN = lookup.findVarHandle(Fiber.class, "turn", int.class);
      PERMIT = lookup.findVarHandle(Fiber.class, "permit", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    FiberAccess.open(new FiberDoor());
  }

  private final long id = LAST_ID.incrementAndGet();
  private final FiberOptions options;

  // made when it is first needed, as a rule by the worker that runs the first slice
  private volatile @Nullable Thread thread;

  // true if it was asked for, and must be kept when it has ended
  private volatile boolean threadWanted;
  private final boolean guest;

  // a Body or a Callable; null once it has been taken
  private @Nullable Object body;

  // what the JDK gives us to run: one slice of the virtual thread
  private @Nullable Runnable slice;

  // null, CANCELLING, or how it ended: a result, Failure or Cancelled
  private volatile @Nullable Object outcome;

  private volatile @Nullable EndWaiter waiters;

  // given by schedule(), taken by suspend()
  private volatile boolean permit;

  // where it belongs; changed by switchTo, on itself
  private volatile Scheduler scheduler;

  // where it is queued when it becomes ready, unless its policy says otherwise. Like worker a plain
  // field: a stale answer sends it to a worker that will do as well
  Worker home;

  // where it runs, or ran last
  Worker worker;

  // the only thread it may run on, or -1
  private volatile int boundThread;

  // IDLE, QUEUED, RUNNING, AGAIN or OVER
  private volatile int turn;

  // true once there is nothing left to run: its end may itself wait, in callbacks of toFuture(), so
  // being done is not yet being over
  private volatile boolean over;

  // true once its scheduler has given up on it
  private volatile boolean abandoned;

  // true if a failure need not be reported: somebody has joined, or will
  private volatile boolean observed;

  // whether it was bound when it was queued; under the duty lock of the worker that has it queued
  boolean countedAsBound;

  // while it runs under a policy that wants to know: when its slice began; while it is queued: when
  // it became ready; else, for dumps: when it last stopped running; as far as its worker knew the
  // time
  long since;

  // running average of its slices in nanoseconds, for ResponseRatioQueue; 0 before the first
  int usualSlice;

  // the innermost withTimeout it is in; this fiber only
  @Nullable Deadline deadline;

  // the innermost scope it has opened; set by this fiber
  volatile @Nullable Scope scope;

  // how often it has disabled the hook and not enabled it again; this fiber only
  int hookDisabled;

  // its way to a helper thread and back, if it is on one; set by this fiber
  volatile @Nullable BlockingCall away;

  // how many deadlines have passed that their withTimeout has not yet noticed
  @SuppressWarnings("unused")
  private volatile int expiredDeadlines;

  // the worker whose registry it is in, and its place there; under that one's duty lock
  @Nullable Worker registeredAt;
  int registeredPlace;

  /** Creates a fiber that is to run the body on the worker. */
  Fiber(Scheduler scheduler, Worker worker, FiberOptions options, Object body) {
    this.scheduler = scheduler;
    this.home = worker;
    this.worker = worker;
    this.boundThread = options.thread();
    this.options = options;
    this.body = body;
    this.guest = false;
    if (VirtualThreads.inheritsFrom(Thread.currentThread())) {
      makeThread(true); // here and now: it inherits from the one that makes it
    }
  }

  /** Creates the fiber of a virtual thread that code inside the host has started. */
  Fiber(Fiber<?> host, Thread thread, Runnable slice) {
    this.scheduler = host.scheduler;
    this.home = host.worker;
    this.worker = host.worker;
    this.boundThread = FiberOptions.ANY_THREAD;
    this.options =
        new FiberOptions(
            thread.getName().isEmpty() ? null : thread.getName(),
            host.priority(),
            FiberOptions.ANY_THREAD);
    this.guest = true;
    this.thread = thread;
    this.slice = slice;
  }

  // ---- what others can ask ----

  /** Returns the number that identifies this fiber in this JVM. */
  public long id() {
    return id;
  }

  /** Returns its name: the given one, else {@code fiber-<id>}. */
  public String name() {
    String name = options.name();
    return name != null ? name : "fiber-" + id;
  }

  /** Returns its priority, for {@linkplain Policy policies}; 0 is normal. */
  public int priority() {
    return options.priority();
  }

  /** Returns where it is in its life. */
  public Status status() {
    if (isDone()) {
      return Status.DONE;
    }
    return switch (turn) {
      case QUEUED -> Status.READY;
      case RUNNING, AGAIN -> Status.RUNNING;
      default -> Status.WAITING;
    };
  }

  /** Returns the scheduler it runs on. */
  public Scheduler scheduler() {
    return scheduler;
  }

  /**
   * Returns the virtual thread it is. A fiber that has ended keeps its thread only if somebody
   * asked for it before; else this is one like it, which has ended too.
   */
  public Thread thread() {
    threadWanted = true;
    Thread made = thread;
    return made != null ? made : isDone() ? endedThread() : ownThread();
  }

  /**
   * Makes a thread that has run and ended, on a plain thread: here it could have to wait for
   * itself.
   */
  private Thread endedThread() {
    Thread made =
        VirtualThreads.create(
            slice -> Thread.ofPlatform().daemon().start(slice), options.name(), false, () -> {});
    made.start();
    Uninterrupted.await(made::join);
    return THREAD.compareAndSet(this, null, made) ? made : Objects.requireNonNull(thread);
  }

  private Thread ownThread() {
    Thread made = thread;
    return made != null ? made : makeThread(false);
  }

  private Thread makeThread(boolean inherits) {
    Strand strand = new Strand(this);
    Thread made = VirtualThreads.create(strand, options.name(), inherits, strand);
    return THREAD.compareAndSet(this, null, made) ? made : Objects.requireNonNull(thread);
  }

  /** Returns its virtual thread, or null if it has not run yet and nobody asked for it. */
  @Nullable Thread threadOrNull() {
    return thread;
  }

  /**
   * Waits for its end and returns its result.
   *
   * @throws CompletionException if the body threw; the cause is what it threw
   * @throws CancellationException if it was cancelled
   * @throws InterruptedException if the one who waits is interrupted or cancelled
   */
  public T join() throws InterruptedException {
    giveWay();
    if (!isDone()) {
      awaitEnd(null);
    }
    return result();
  }

  /**
   * Waits for its end for so long.
   *
   * @throws TimeoutException if it has not ended by then; it goes on
   */
  public T join(Duration limit) throws InterruptedException, TimeoutException {
    giveWay();
    if (!isDone() && !awaitEnd(Objects.requireNonNull(limit, "limit"))) {
      throw new TimeoutException(this + " has not ended within " + limit);
    }
    return result();
  }

  /**
   * Asks it to end. If it has not started its body never runs; if it waits, the wait ends with an
   * {@link InterruptedException} or {@link CancellationException} and so does each later one.
   * Returns false if it had already ended, or had been cancelled before.
   */
  public boolean cancel() {
    boolean first = cancelAlone();
    if (first) {
      Scope.cancelAll(scope);
    }
    return first;
  }

  /** Cancels it, but not the scopes that it has opened; returns whether it was the first to. */
  boolean cancelAlone() {
    if (!OUTCOME.compareAndSet(this, null, CANCELLING)) {
      return false;
    }
    Thread waiting = thread;
    if (waiting != null) {
      waiting.interrupt(); // a fiber without a thread has not started, and will not
    }
    return true;
  }

  /** Returns a future of its result; cancelling the future does not cancel the fiber. */
  public CompletableFuture<T> toFuture() {
    CompletableFuture<T> future = new CompletableFuture<>();
    atEnd(() -> complete(future));
    return future;
  }

  private void complete(CompletableFuture<T> future) {
    try {
      future.complete(result());
    } catch (CompletionException e) {
      future.completeExceptionally(e.getCause());
    } catch (CancellationException e) {
      future.completeExceptionally(e);
    }
  }

  @Override
  public String toString() {
    String name = options.name();
    return name != null ? "fiber " + id + " (" + name + ")" : "fiber " + id;
  }

  // ---- what a fiber does itself ----

  /** Returns the fiber that calls, or empty on any other thread. */
  public static Optional<Fiber<?>> current() {
    return Optional.ofNullable(currentOrNull());
  }

  /**
   * Lets the others run: goes to the back of the queue.
   *
   * @throws CancellationException if this fiber is cancelled
   * @throws IllegalStateException if called outside a fiber
   */
  public static void yield() {
    Fiber<?> self = self("yield");
    self.throwIfCancelled();
    Thread.yield();
  }

  /**
   * Waits until {@link Scheduler#schedule(Fiber)} is called for this fiber; returns at once if it
   * has been called since the last time.
   *
   * @throws CancellationException if this fiber is cancelled
   * @throws IllegalStateException if called outside a fiber
   */
  public static void suspend() {
    Fiber<?> self = self("suspend");
    boolean interrupted = false;
    self.throwIfCancelled();
    while (!self.permit) {
      Slices.park(SUSPENDED);
      interrupted |= Thread.interrupted();
      self.throwIfCancelled();
    }
    PERMIT.getAndSet(self, false); // reads too: what came before the schedule it uses up is seen
    if (interrupted) {
      self.ownThread().interrupt();
    }
  }

  /**
   * Waits for so long.
   *
   * @throws InterruptedException if this fiber is cancelled or interrupted
   */
  public static void sleep(Duration duration) throws InterruptedException {
    Fiber<?> self = currentOrNull();
    if (self == null) {
      Thread.sleep(duration);
      return;
    }
    throwIfInterrupted(self);
    try (FiberAccess.Limit timeout = Timeout.of(self, duration)) {
      while (timeout.park(SLEEPING)) {
        throwIfInterrupted(self);
      }
    }
    throwIfInterrupted(self);
  }

  /**
   * Waits until the wall clock shows this time, as it stands now: the waiting itself is by the
   * monotonic clock.
   */
  public static void sleepUntil(Instant time) throws InterruptedException {
    sleep(Duration.between(Instant.now(), time));
  }

  /**
   * Moves this fiber to another scheduler; it goes on there, bound to no thread.
   *
   * @throws java.util.concurrent.RejectedExecutionException if that one has been stopped; the fiber
   *     stays where it is
   */
  public static void switchTo(Scheduler target) {
    Fiber<?> self = self("switch");
    self.throwIfCancelled();
    self.moveTo(target, target.placement.forNew(null), FiberOptions.ANY_THREAD);
  }

  /** Moves this fiber to another thread of its scheduler and binds it there. */
  public static void switchTo(int threadIndex) {
    Fiber<?> self = self("switch");
    self.throwIfCancelled();
    self.moveTo(self.scheduler, self.scheduler.worker(threadIndex), threadIndex);
  }

  /**
   * Returns the index of the scheduler's thread that runs the caller: -1 outside fibers, and in the
   * body of {@link Weft#blocking}, which none of them runs.
   */
  public static int threadIndex() {
    Fiber<?> self = currentOrNull();
    Worker here = self == null ? null : self.workerHere();
    return here == null ? -1 : here.index;
  }

  // ---- between the fiber, its virtual thread and its worker ----

  static @Nullable Fiber<?> currentOrNull() {
    return ofOrNull(Thread.currentThread());
  }

  static @Nullable Fiber<?> ofOrNull(Thread thread) {
    return thread.isVirtual() && VirtualThreads.executorOf(thread) instanceof Strand strand
        ? strand.fiber()
        : null;
  }

  /** Takes a slice that is handed out. Called on any thread, often inside JDK code. */
  void becomeReady() {
    while (true) {
      int seen = turn;
      if (seen == IDLE) {
        if (TURN.compareAndSet(this, IDLE, QUEUED)) {
          enqueue(currentWorker());
          return;
        }
      } else if (seen != RUNNING) {
        return;
      } else if (worker.runsHere(this)) {
        TURN.setRelease(this, AGAIN); // a yield: nobody but this thread can make it IDLE
        return;
      } else if (TURN.compareAndSet(this, RUNNING, AGAIN)) {
        return;
      }
    }
  }

  /** Hands this new fiber to a worker; {@code here} is the caller's, if known. */
  void begin(@Nullable Worker here) {
    TURN.set(this, QUEUED);
    enqueue(here != null ? here : currentWorker());
  }

  /**
   * Queues this fiber where it belongs; {@code here} is the worker whose thread this is, if any.
   */
  void enqueue(@Nullable Worker here) {
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

  /** Where this ready fiber is to be queued, asked on the thread of this worker, if of any. */
  Worker placeFrom(@Nullable Worker here) {
    return here != null && here == home && !isBound() && here.scheduler == scheduler
        ? here // at home, as a rule: found without a look at the placement
        : scheduler.placement.forReady(this, here);
  }

  /** The worker whose thread this is, if it is one of interest to this fiber. */
  private @Nullable Worker currentWorker() {
    Thread me = Thread.currentThread();
    if (!me.isVirtual()) {
      if (worker.isServedBy(me)) {
        return worker;
      }
      return isNew() ? null : Worker.ofThisThread(); // a new one has been dealt its place
    }
    Fiber<?> waker = currentOrNull();
    return waker == null ? null : waker.workerHere();
  }

  /** The worker that runs this fiber, the current one; null if a helper does. */
  @Nullable Worker workerHere() {
    return isOnHelper() ? null : worker;
  }

  /** Returns whether a helper runs this fiber, for a blocking call. */
  boolean isOnHelper() {
    BlockingCall call = away;
    return call != null && call.isOnHelper();
  }

  /** Gives this ready fiber to the helper that is to run it; returns false if none is. */
  boolean handToHelper() {
    BlockingCall call = away;
    return call != null && call.takes();
  }

  /** Told by a worker, or a helper in its place, that it has taken this fiber to run a slice. */
  void enterSlice(Worker taker) {
    if (worker != taker) { // a store is not for nothing if this is an old object
      worker = taker;
    }
    TURN.setRelease(this, RUNNING);
  }

  /**
   * Told by that worker after a slice that was not the last, and ended so; returns whether the next
   * one has been handed out already, so that the worker has to queue it.
   *
   * <p>As a rule the slice ends in the worker's hands, and nobody can hand out the next one before
   * it says so here. Otherwise the next one may have been handed out to no avail: who has looked at
   * the stack of a ready thread gives the thread back and then looks at the turn, while the worker
   * takes the turn and then finds the thread looked at, so that the slice does nothing. Neither
   * need have seen the other; but once the turn is given back, with a fence, this one sees that the
   * thread can go on.
   */
  boolean leaveSlice(int end, long now) {
    since = now;
    if (end == Slices.PARKS) {
      TURN.setRelease(this, IDLE); // before others can make it ready
      if (Slices.leave(ownThread(), end)) {
        becomeReady();
      }
      return false;
    }
    if (end == Slices.YIELDS) {
      TURN.setRelease(this, QUEUED);
      return Slices.leave(ownThread(), end);
    }
    if (turn == RUNNING && TURN.compareAndSet(this, RUNNING, IDLE)) {
      if (Slices.canGoOn(ownThread())) {
        becomeReady();
      }
      return false;
    }
    TURN.setRelease(this, QUEUED);
    return true;
  }

  /** Asked by that worker after each slice: was it the last? */
  boolean leaveLastSlice(int end) {
    if (end != Slices.LEFT || !isOver()) {
      return false;
    }
    turn = OVER;
    return true;
  }

  /** Runs one slice; returns how it ended, as {@link Slices} tells. */
  int runSlice() {
    try {
      if (slice != null) {
        return Slices.run(ownThread(), slice);
      } else if (outcome == null || waiters != null) {
        firstSlice().run(); // also if cancelled: callbacks expect to run in a fiber
      } else {
        endWithoutStart(NULL_RESULT); // cancelled before its turn
      }
    } catch (Throwable e) {
      // what the body throws is kept in the fiber: this is no memory for a thread, or the JDK
      // failing
      if (slice == null) {
        endWithoutStart(Outcome.failed(e));
      } else {
        scheduler.unobserved.report(this, e);
      }
    }
    return Slices.LEFT;
  }

  private Runnable firstSlice() {
    if (FlightEvents.recording()) {
      FlightEvents.started(this);
    }
    if (body instanceof Scope.Inheriting inheriting) {
      ScopedBindings.set(ownThread(), inheriting.bindings());
    }
    VirtualThreads.start(ownThread(), scheduler.container); // hands its slice to Strand.execute
    return Objects.requireNonNull(slice);
  }

  private void endWithoutStart(Object result) {
    body = null;
    end(result);
    over = true;
  }

  /** Told by its strand what the JDK gives it to run; returns whether that was the first. */
  boolean takeFirstSlice(Runnable first) {
    if (slice != null) {
      return false;
    }
    slice = first;
    return true;
  }

  boolean isSlice(Runnable candidate) {
    return slice == candidate;
  }

  /** Runs the body, in its virtual thread. */
  void runBody() {
    Object result;
    Object todo = body instanceof Scope.Inheriting inheriting ? inheriting.body() : body;
    body = null;
    try {
      if (outcome == CANCELLING) {
        result = NULL_RESULT;
      } else if (todo instanceof Callable<?> callable) {
        Object value = callable.call();
        result = value == null ? NULL_RESULT : value;
      } else {
        ((Body) todo).run();
        result = NULL_RESULT;
      }
    } catch (Throwable e) {
      result = Outcome.failed(e);
    }
    while (hookDisabled > 0) {
      Hook.enable();
    }
    end(result);
    over = true;
  }

  /** Records how it ended and wakes those who wait; needs no memory to do so. */
  private void end(Object result) {
    if (isDone()) {
      return; // abandoned
    }
    if (!OUTCOME.compareAndSet(this, null, result)) {
      OUTCOME.compareAndSet(this, CANCELLING, Outcome.cancelled(result));
    }
    Throwable failure = failure();
    if (!wakeWaiters() && !observed && failure != null) {
      scheduler.unobserved.add(this, failure);
    }
  }

  /**
   * Ends it for those who wait, though its body has not ended: its scheduler has given up on it,
   * and will not run it again.
   */
  void abandon() {
    abandoned = true;
    String why = scheduler + " has stopped before the end of " + this;
    Cancelled abandoned = new Cancelled(new IllegalStateException(why));
    if (OUTCOME.compareAndSet(this, null, abandoned)
        || OUTCOME.compareAndSet(this, CANCELLING, abandoned)) {
      wakeWaiters();
    }
  }

  /**
   * Returns whether it waits for ever: it was abandoned and has no thread to go on with. Being done
   * is not enough, for callbacks of its future may wait.
   */
  boolean isGone() {
    return abandoned && canLeaveThread();
  }

  /** Returns whether there was any. */
  private boolean wakeWaiters() {
    EndWaiter waiting = (EndWaiter) WAITERS.getAndSet(this, EndWaiter.CLOSED);
    if (waiting != null) {
      EndWaiter.wake(waiting);
    }
    return waiting != null;
  }

  private boolean isOver() {
    if (guest) {
      if (ownThread().getState() != Thread.State.TERMINATED) {
        return false;
      }
      end(NULL_RESULT);
    } else if (over && !threadWanted) {
      thread = null; // the better part of a fiber's memory, which joiners do not need
      slice = NO_SLICE; // not null: guests that outlive it must not be taken for it
    }
    return guest || over;
  }

  boolean isDone() {
    Object seen = outcome;
    return seen != null && seen != CANCELLING;
  }

  boolean isCancelling() {
    return outcome == CANCELLING;
  }

  boolean isNew() {
    return registeredAt == null;
  }

  /** Returns whether a slice of it has run: false as long as it has no thread that was started. */
  boolean hasStarted() {
    return slice != null;
  }

  boolean isGuest() {
    return guest;
  }

  boolean isBound() {
    return boundThread >= 0;
  }

  /** Returns whether this fiber, which runs or waits, gives its thread away when it waits. */
  boolean canLeaveThread() {
    return hookDisabled == 0 && !isOnHelper();
  }

  int boundThread() {
    return boundThread;
  }

  void bind(Worker place) {
    home = place;
    boundThread = place.index;
  }

  /** Lets {@link #suspend} return, now or the next time it is called. */
  void wake() {
    permit = true;
    unpark();
  }

  /** Unparks a thread, be it a fiber's or not. */
  static void unpark(Thread thread) {
    Fiber<?> fiber = ofOrNull(thread);
    if (fiber != null) {
      fiber.unpark();
    } else {
      LockSupport.unpark(thread);
    }
  }

  /** Unparks its thread: as a rule that is parked, and needs no permit. */
  void unpark() {
    Thread parked = thread;
    if (parked == null || !Slices.unparkIfParked(parked)) {
      LockSupport.unpark(parked);
      return;
    }
    boolean pinned = Pinning.begin(); // as the JDK does: who wakes another must not be unmounted
    try {
      becomeReady();
    } finally {
      Pinning.end(pinned);
    }
  }

  /** Yields if the policy gives slices and this one is used up; called by whatever enters Weft. */
  static void giveWay() {
    giveWay(currentOrNull());
  }

  static void giveWay(@Nullable Fiber<?> self) {
    if (self != null) {
      self.giveWayIfSliceOver();
    }
  }

  /** Yields if the slice of this fiber, the current one, is used up. */
  void giveWayIfSliceOver() {
    Scheduler at = scheduler;
    if (at.sliceNanos > 0 && !isOnHelper() && at.clock.nanoTime() - since > at.sliceNanos) {
      Thread.yield();
    }
  }

  private void moveTo(Scheduler target, Worker place, int bound) {
    if (isOnHelper()) {
      throw new IllegalStateException(
          "cannot switch " + this + ": it is in a blocking call, pinned to a helper thread");
    }
    Scheduler from = scheduler;
    Worker left = worker;
    if (target == from && (place == left || bound == FiberOptions.ANY_THREAD)) {
      home = left;
      boundThread = bound;
      return;
    }
    if (!canLeaveThread()) {
      throw pinned("Hook.disable()");
    }
    if (target != from) {
      target.countBegun(null); // first: it may refuse
    }
    int boundBefore = boundThread;
    boundThread = bound;
    home = place;
    if (target != from) {
      scheduler = target; // and the worker retires it, once it has left: until then both count it
      Deadline.move(deadline, place);
    }
    long slicesBefore = left.slices();
    Thread.yield(); // comes back on the new worker: see enqueue
    if (worker == left && left.slices() == slicesBefore) { // still the same slice
      boundThread = boundBefore;
      home = left;
      if (target != from) {
        scheduler = from;
        target.countEnded();
        Deadline.move(deadline, left);
      }
      throw pinned("a native method on its stack");
    }
  }

  private IllegalStateException pinned(String by) {
    return new IllegalStateException(
        "cannot switch " + this + ": it is pinned to its thread by " + by);
  }

  // ---- waiting ----

  /** Waits for the end; returns false if the limit, if any, is reached first. */
  private boolean awaitEnd(@Nullable Duration limit) throws InterruptedException {
    Fiber<?> self = currentOrNull();
    if (self == this) {
      throw new IllegalStateException("cannot join " + this + ": it would wait for itself");
    }
    Thread me = Thread.currentThread();
    if ((!me.isVirtual() && endsSoon()) || !addWaiter(me)) {
      return true;
    }
    FiberAccess.Limit timeout = limit == null ? null : Timeout.of(self, limit);
    try {
      while (!isDone()) {
        throwIfInterrupted(self);
        if (timeout == null) {
          Slices.park(this);
        } else if (!timeout.park(this)) {
          return !removeWaiter(me);
        }
      }
      return true;
    } catch (Throwable e) {
      if (!removeWaiter(me)) {
        addUnobserved(); // it has just ended, and takes this one for told
      }
      throw e;
    } finally {
      if (timeout != null) {
        timeout.close();
      }
    }
  }

  /**
   * Looks for its end for about as long as it takes to sleep and be woken; the worker then need not
   * wake anybody, which costs more than a slice. Only for plain threads: workers have other work.
   */
  private boolean endsSoon() {
    for (int i = 0; i < LOOKS_BEFORE_SLEEP; i++) {
      if (isDone()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /** Waits for its end on a plain thread; a failure is reported as if nobody had waited. */
  void awaitUnobserved() {
    if (isDone()) {
      return; // before it had a waiter: it has been added already
    }
    Uninterrupted.await(() -> awaitEnd(null));
    addUnobserved();
  }

  private void addUnobserved() {
    Throwable failure = failure();
    if (failure != null && !observed) {
      scheduler.unobserved.add(this, failure);
    }
  }

  /** Has this called when it ends, by itself; at once, and by the caller, if it has ended. */
  void atEnd(Runnable callback) {
    if (!addWaiter(callback)) {
      callback.run();
    }
  }

  /** Adds to the list of waiters; returns false if it has ended. */
  private boolean addWaiter(Object waiter) {
    EndWaiter seen;
    do {
      seen = waiters;
      if (seen == EndWaiter.CLOSED) {
        return false;
      }
    } while (!WAITERS.compareAndSet(this, seen, new EndWaiter(waiter, seen)));
    return true;
  }

  /** Takes out one that gives up: the list is built anew without it. Returns false if it ended. */
  private boolean removeWaiter(Object gone) {
    EndWaiter seen;
    do {
      seen = waiters;
      if (seen == EndWaiter.CLOSED) {
        return false;
      }
    } while (!WAITERS.compareAndSet(this, seen, EndWaiter.without(gone, seen)));
    return true;
  }

  private T result() {
    Object end = outcome;
    if (end instanceof Failure failure) {
      observe();
      throw new CompletionException(this + " failed: " + failure.cause(), failure.cause());
    }
    if (end instanceof Cancelled cancelled) {
      CancellationException e = new CancellationException(this + " was cancelled");
      if (cancelled.cause() != null) {
        observe();
        e.initCause(cancelled.cause());
      }
      throw e;
    }
    @SuppressWarnings("unchecked") // the body's own result, or null, which its type must allow
    T value = end == NULL_RESULT ? null : (T) end;
    return value;
  }

  /** What the body threw, also after a cancel; null if it did not, or only obeyed the cancel. */
  @Nullable Throwable failure() {
    return Outcome.failureOf(outcome);
  }

  /** Whether it has ended because it was cancelled. */
  boolean isCancelled() {
    return outcome instanceof Cancelled;
  }

  /** Says that somebody gets to know, or will, how it ends. */
  void observe() {
    observed = true;
    scheduler.unobserved.observed(this);
  }

  boolean isObserved() {
    return observed;
  }

  void deadlineExpired() {
    EXPIRED_DEADLINES.getAndAdd(this, 1);
  }

  /** Called by this fiber when withTimeout is over; a cancel that came meanwhile still stands. */
  void deadlineNoticed() {
    EXPIRED_DEADLINES.getAndAdd(this, -1);
    if (outcome == CANCELLING || expiredDeadlines > 0) {
      ownThread().interrupt();
    }
  }

  private void throwIfCancelled() {
    if (outcome == CANCELLING) {
      throw new CancellationException(this + " is cancelled");
    }
    if (expiredDeadlines > 0) {
      throw new CancellationException(this + " has passed its deadline");
    }
  }

  static void throwIfInterrupted(@Nullable Fiber<?> self) throws InterruptedException {
    if (self != null && (self.outcome == CANCELLING || self.expiredDeadlines > 0)) {
      Thread.interrupted();
      throw new InterruptedException(
          self + (self.expiredDeadlines > 0 ? " has passed its deadline" : " is cancelled"));
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  private static Fiber<?> self(String verb) {
    Fiber<?> self = currentOrNull();
    if (self == null) {
      throw new IllegalStateException(
          "cannot " + verb + " outside a fiber: call it in a body that was given to go()");
    }
    return self;
  }
}
