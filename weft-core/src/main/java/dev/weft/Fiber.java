package dev.weft;

import static dev.weft.Outcome.CANCELLING;
import static dev.weft.Outcome.NULL_RESULT;

import dev.weft.Outcome.Cancelled;
import dev.weft.Outcome.Failure;
import dev.weft.internal.FiberAccess;
import dev.weft.internal.Uninterrupted;
import dev.weft.internal.jdk.Pinning;
import dev.weft.internal.jdk.RequiredFlags;
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
   *                QUEUED        // new
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

  static {
    RequiredFlags.check(); // before a class is needed that cannot be loaded without them
  }

  /** The slice of a fiber that has ended and let go of its thread. */
  @SuppressWarnings("UnnecessaryLambda") // its identity is what counts
  private static final Runnable NO_SLICE = () -> {};

  /** In the place of the thread of a fiber that has ended and has none. */
  private static final Thread NO_THREAD = VirtualThreads.ended(null);

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

  /** With its id, the name of a fiber that was given none. */
  private static final String DEFAULT_NAME = "fiber-";

  /** How often a plain thread looks for an end before it sleeps: for some microseconds. */
  private static final int LOOKS_BEFORE_SLEEP =
      Runtime.getRuntime().availableProcessors() > 1 ? 300 : 0;

  private static final AtomicLong LAST_ID = new AtomicLong();
  private static final VarHandle OUTCOME;
  private static final VarHandle WAITERS;
  private static final VarHandle TURN;
  private static final VarHandle THREAD;
  private static final VarHandle SLICE;
  private static final VarHandle PERMIT;
  private static final VarHandle FIRED_FOR;
  private static final VarHandle EXPIRED_DEADLINES;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OUTCOME = lookup.findVarHandle(Fiber.class, "outcome", Object.class);
      WAITERS = lookup.findVarHandle(Fiber.class, "waiters", Object.class);
      EXPIRED_DEADLINES = lookup.findVarHandle(Fiber.class, "expiredDeadlines", int.class);
      THREAD = lookup.findVarHandle(Fiber.class, "thread", Thread.class);
      SLICE = lookup.findVarHandle(Fiber.class, "slice", Runnable.class);
      TURN = lookup.findVarHandle(Fiber.class, "turn", int.class);
      PERMIT = lookup.findVarHandle(Fiber.class, "permit", boolean.class);
      FIRED_FOR = lookup.findVarHandle(Fiber.class, "firedFor", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    EndWaiter.load();
    FiberAccess.open(new FiberDoor());
  }

  private final long id = LAST_ID.incrementAndGet();
  private final FiberOptions options;

  // null -> a new thread -> NO_THREAD, or null -> NO_THREAD: see startThread and isOver
  private volatile @Nullable Thread thread;

  // true if it was asked for, and must be kept when it has ended
  private volatile boolean threadWanted;
  private final boolean guest;

  // a Body or a Callable, maybe Scope.Inheriting, maybe Prepared, until the body begins; then
  // null, or the probe of a leak check
  private @Nullable Object body;

  // what the JDK gives us to run: one slice of the virtual thread; null until the thread has
  // started
  private @Nullable Runnable slice;

  // null, CANCELLING, or how it ended: a result, Failure or Cancelled
  private volatile @Nullable Object outcome;

  // null, an EndWaiter, EndWaiters if there are more, or CLOSED
  private volatile @Nullable Object waiters;

  // given by schedule(), taken by suspend()
  private volatile boolean permit;

  // how many suspends have returned; written by this fiber
  private volatile int suspends;

  // the greatest value of suspends for which an I/O event has fired: see wakeFor
  private volatile int firedFor = -1;

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

  // true once its end has been told to all. Its end may itself wait, in callbacks of toFuture(), so
  // being done is not yet being over; and after that its thread may wait, see isOver
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

  // the scopes, deadlines and shields it is in; null if it never was in any; set by this fiber
  volatile @Nullable OpenBlocks blocks;

  // the scope it was started in, until it leaves that; set before it begins
  @Nullable Scope memberOf;

  // true once the thread that cancelled it has interrupted it, or seen that it must not yet
  private volatile boolean cancelSent;

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

  /** Creates a fiber that is to run the body; {@link #begin} places it on a worker. */
  Fiber(Scheduler scheduler, FiberOptions options, Object body) {
    this.scheduler = scheduler;
    this.home = scheduler.workers[0];
    this.worker = home;
    this.boundThread = options.thread();
    this.options = options;
    this.guest = false;
    this.body =
        VirtualThreads.inheritsFrom(Thread.currentThread())
            ? new Prepared(body, newThread(true)) // here: it inherits from the current thread
            : body;
    TURN.set(this, QUEUED); // or thread() would queue it before begin() does
  }

  /** A body whose thread has been made and not started. */
  private record Prepared(Object body, Thread thread) {}

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

  /**
   * Returns its name, which is that of its thread: the given one, else {@code fiber-<id>}, until
   * {@link Thread#setName} changes it. (A guest whose thread has no name keeps it so; here it is
   * called {@code fiber-<id>} too.)
   */
  public String name() {
    Thread made = threadOrNull();
    String name = made != null ? made.getName() : options.name();
    return name != null && !name.isEmpty() ? name : DEFAULT_NAME + id;
  }

  /**
   * Returns whether the name is the one it was given; makes no object, at the end of each fiber.
   */
  private boolean isGivenName(String name) {
    String given = options.name();
    if (given != null && !given.isEmpty()) {
      return name.equals(given);
    }
    int i = name.length();
    long rest = id;
    while (rest > 0 && i > 0 && name.charAt(i - 1) == '0' + rest % 10) {
      rest /= 10;
      i--;
    }
    return rest == 0 && i == DEFAULT_NAME.length() && name.startsWith(DEFAULT_NAME);
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

  /**
   * Returns whether it has ended, in whatever way: with a result, a failure, or cancelled. Then
   * {@link #join} does not wait.
   */
  public boolean isDone() {
    Object seen = outcome;
    return seen != null && seen != CANCELLING;
  }

  /**
   * Returns whether it has ended as cancelled, so that {@link #join} throws a {@link
   * CancellationException}. A fiber that has been asked to end and has not done so yet is not.
   */
  public boolean isCancelled() {
    return outcome instanceof Cancelled;
  }

  /** Returns the scheduler it runs on. */
  public Scheduler scheduler() {
    return scheduler;
  }

  /**
   * Returns the virtual thread it is, started: {@link Thread#join() join}, {@link Thread#isAlive()
   * isAlive} and {@link Thread#getState() getState} answer for the fiber. A fiber that has ended
   * keeps its thread only if somebody asked for it before; else this is one like it, which has
   * ended too.
   */
  public Thread thread() {
    threadWanted = true;
    if (thread == null && !(isDone() && THREAD.compareAndSet(this, null, NO_THREAD))) {
      startThread();
    }
    Thread made = ownThread();
    if (made == NO_THREAD) {
      while (!isDone()) {
        Thread.onSpinWait(); // the worker that gave up on a thread is about to record the end
      }
      Thread ended = VirtualThreads.ended(name());
      return THREAD.compareAndSet(this, NO_THREAD, ended) ? ended : ownThread();
    }
    while (made.getState() == Thread.State.NEW) {
      Thread.onSpinWait(); // another thread is about to start it
    }
    return made;
  }

  private Thread ownThread() {
    return Objects.requireNonNull(thread);
  }

  private Thread newThread(boolean inherits) {
    Strand strand = new Strand(this);
    return VirtualThreads.create(strand, name(), inherits, strand);
  }

  /**
   * Makes the thread and starts it, which hands the first slice to the {@link Strand}. As a rule
   * the worker that runs the first slice does so, else the first caller of {@link #thread}. Returns
   * false if another thread has done so, or is about to, or if the fiber ends without.
   */
  private boolean startThread() {
    Object todo = body;
    Thread made = todo instanceof Prepared prepared ? prepared.thread : newThread(false);
    if (!THREAD.compareAndSet(this, null, made)) {
      return false;
    }
    if (FlightEvents.recording()) {
      FlightEvents.started(this);
    }
    if (unprepared(todo) instanceof Scope.Inheriting inheriting) {
      ScopedBindings.set(made, inheriting.bindings());
    }
    try {
      VirtualThreads.start(made, scheduler.container);
    } catch (Throwable e) {
      becomeReadyElsewhere(); // a worker has to end it
      throw e;
    }
    return true;
  }

  private static @Nullable Object unprepared(@Nullable Object body) {
    return body instanceof Prepared prepared ? prepared.body : body;
  }

  /** Returns its virtual thread, or null if it has not run yet and nobody asked for it. */
  @Nullable Thread threadOrNull() {
    Thread made = thread;
    return made == NO_THREAD ? null : made;
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
   * {@link InterruptedException} or {@link CancellationException} and so does each later one; if it
   * is in {@link Weft#shielded} all that happens after it. Returns false if it had already ended,
   * or had been cancelled before.
   */
  public boolean cancel() {
    boolean first = markCancelled();
    if (first) {
      deliverCancel();
    }
    return first;
  }

  /** Cancels it, but not the scopes that it has opened; returns whether it was the first to. */
  boolean cancelAlone() {
    boolean first = markCancelled();
    if (first) {
      interruptForCancel();
    }
    return first;
  }

  /**
   * Begins to cancel it: from now on it ends as cancelled. Returns false if it has ended or is
   * cancelled already; else the caller owes {@link #deliverCancel}.
   */
  boolean markCancelled() {
    return OUTCOME.compareAndSet(this, null, CANCELLING);
  }

  void deliverCancel() {
    interruptForCancel();
    OpenBlocks open = blocks;
    if (open != null) {
      Scope.cancelAllOf(open);
    }
  }

  private void interruptForCancel() {
    try {
      Thread waiting = thread;
      OpenBlocks open = blocks;
      if (waiting != null && (open == null || !open.isShielded())) {
        waiting.interrupt(); // a fiber without a thread has not started, and will not
      }
    } finally {
      cancelSent = true;
    }
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
    String name = name();
    return name.equals(DEFAULT_NAME + id) ? "fiber " + id : "fiber " + id + " (" + name + ")";
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
    try {
      while (!self.permit && self.firedFor != self.suspends) {
        Slices.park(SUSPENDED);
        interrupted |= Thread.interrupted();
        self.throwIfCancelled();
      }
    } finally {
      self.endSuspend();
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

  /**
   * Places this new fiber on a worker and queues it there. The caller's own worker is looked up
   * here and not before: a caller that has parked since may run on another worker.
   */
  void begin() {
    Worker here = scheduler.servingWorker();
    assert Worker.beginNoPark(here);
    home = isBound() ? scheduler.worker(boundThread) : scheduler.placement.forNew(here);
    worker = home;
    TURN.set(this, QUEUED);
    enqueue(here);
    assert Worker.endNoPark(here);
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
    Runnable next = (Runnable) SLICE.getAcquire(this); // thread() may have put it there just now
    if (next == null) {
      next = firstSlice();
    }
    if (next != null) {
      try {
        return Slices.run(ownThread(), next);
      } catch (Throwable e) { // the JDK failing: what the body throws is kept in the fiber
        scheduler.unobserved.report(this, e);
      }
    }
    return Slices.LEFT;
  }

  /**
   * Starts the thread and returns its first slice. Ends the fiber and returns null if it was
   * cancelled before its turn, or if its thread cannot be started. Returns null too while {@link
   * #thread} is starting it elsewhere, which then makes the fiber ready.
   */
  private @Nullable Runnable firstSlice() {
    Object result = NULL_RESULT;
    if (outcome == null || waiters != null) { // if cancelled: callbacks have to run in a fiber
      try {
        if (startThread()) {
          return slice;
        }
        result = Outcome.failed(new IllegalStateException("no memory for the thread of " + this));
      } catch (Throwable e) { // no memory for a thread, or the JDK failing
        result = Outcome.failed(e);
      }
    }
    if (THREAD.compareAndSet(this, null, NO_THREAD) || hasFailedToStart()) {
      body = null;
      end(result);
      over = true;
    }
    return null;
  }

  private boolean hasFailedToStart() {
    return SLICE.getAcquire(this) == null && Slices.hasEnded(ownThread());
  }

  /**
   * Told by its strand what the JDK gives it to run; returns whether that was the first slice of
   * its own thread.
   */
  boolean takeFirstSlice(Runnable first) {
    if (slice != null) {
      return false;
    }
    SLICE.setRelease(this, first);
    becomeReadyElsewhere();
    return true;
  }

  /**
   * Makes it ready when its thread has started, unless the caller is the worker that starts it to
   * run its first slice. It is queued as a rule; but a worker may have found it without a slice.
   */
  private void becomeReadyElsewhere() {
    if (!worker.runsHere(this)) {
      becomeReady();
    }
  }

  boolean isSlice(Runnable candidate) {
    return slice == candidate;
  }

  /** Runs the body, in its virtual thread. */
  void runBody() {
    Object result;
    Object todo = unprepared(body);
    if (todo instanceof Scope.Inheriting inheriting) {
      todo = inheriting.body();
    }
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
    try {
      // asked here: without memory the class of scopes may not load
      end(hasOpenScope() ? Scope.closeLeftOpen(this, result) : result);
    } finally {
      over = true;
    }
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
    if (!tellWaiters() && !observed && failure != null) {
      threadWanted = true; // by the handler that is told
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
      tellWaiters();
    }
  }

  /**
   * Returns whether it waits for ever: it was abandoned and has no thread to go on with. Being done
   * is not enough, for callbacks of its future may wait.
   */
  boolean isGone() {
    return abandoned && canLeaveThread();
  }

  /** Tells those who wait for the end; returns whether a failure is known to one of them. */
  private boolean tellWaiters() {
    Object waiting = WAITERS.getAndSet(this, EndWaiter.CLOSED);
    EndWaiter oldest =
        waiting instanceof EndWaiters several ? several.close() : (EndWaiter) waiting;
    return oldest != null && oldest.tellAll();
  }

  /**
   * Returns whether it has run its last slice, which is the end of its thread and not of its body:
   * the JDK closes the {@code StructuredTaskScope}s that the body has left open, and that may wait.
   */
  private boolean isOver() {
    if (!over && !guest) {
      return false;
    }
    Thread own = ownThread();
    if (own != NO_THREAD && !Slices.hasEnded(own)) {
      return false;
    }
    if (guest) {
      end(NULL_RESULT);
      if (hasOpenScope()) {
        Scope.cancelLeftOpen(this);
      }
    } else if (!threadWanted && (own == NO_THREAD || isGivenName(own.getName()))) {
      thread = NO_THREAD; // the better part of a fiber's memory, which joiners do not need
      slice = NO_SLICE; // not null: guests that outlive it must not be taken for it
    }
    return true;
  }

  boolean isCancelling() {
    return outcome == CANCELLING;
  }

  boolean isNew() {
    return registeredAt == null;
  }

  /** Returns whether its thread waits, be it in the body or after its end. */
  boolean isWaiting() {
    return turn == IDLE;
  }

  /** Takes the probe of a leak check; returns false if the fiber has not begun to run. */
  boolean hold(LeakCheck.Probe probe) {
    if (!hasStarted() || body != null) {
      return false;
    }
    body = probe;
    return true;
  }

  boolean holds(LeakCheck.Probe probe) {
    return body == probe;
  }

  void dropProbe() {
    if (body instanceof LeakCheck.Probe) {
      body = null;
    }
  }

  /** Returns whether its body has begun; that of a guest counts as if it had. */
  boolean hasStarted() {
    return body == null || body instanceof LeakCheck.Probe;
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

  @SuppressWarnings("NonAtomicVolatileUpdate") // by this fiber alone
  private void endSuspend() {
    suspends++;
  }

  /**
   * Returns what wakes the current suspend of this fiber, or the next one if it is in none; once
   * that has returned it wakes nothing.
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
      Deadline.move(blocks, place);
    }
    long slicesBefore = left.slices();
    Thread.yield(); // comes back on the new worker: see enqueue
    if (worker == left && left.slices() == slicesBefore) { // still the same slice
      boundThread = boundBefore;
      home = left;
      if (target != from) {
        scheduler = from;
        target.countEnded();
        Deadline.move(blocks, left);
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
    EndWaiter waiter = new EndWaiter(me);
    if ((!me.isVirtual() && endsSoon()) || !addWaiter(waiter)) {
      return true;
    }
    FiberAccess.Limit timeout = limit == null ? null : Timeout.of(self, limit);
    try {
      while (!isDone()) {
        throwIfInterrupted(self);
        if (timeout == null) {
          Slices.park(this);
        } else if (!timeout.park(this)) {
          return !removeWaiter(waiter);
        }
      }
      return true;
    } catch (Throwable e) {
      if (!removeWaiter(waiter)) {
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
    EndWaiter onlooker = new EndWaiter(new EndWaiter.Onlooker(Thread.currentThread()));
    if (!isDone() && addWaiter(onlooker)) {
      Uninterrupted.await(
          () -> {
            while (!isDone()) {
              LockSupport.park(this);
              throwIfInterrupted(null);
            }
          });
    }
  }

  private void addUnobserved() {
    Throwable failure = failure();
    if (failure != null && !observed) {
      scheduler.unobserved.add(this, failure);
    }
  }

  /** Has this called when it ends, by itself; at once, and by the caller, if it has ended. */
  void atEnd(Runnable callback) {
    if (!addWaiter(new EndWaiter(callback))) {
      callback.run();
    }
  }

  /** Adds a waiter; returns false if it has ended. */
  private boolean addWaiter(EndWaiter added) {
    while (true) {
      Object seen = waiters;
      if (seen == EndWaiter.CLOSED) {
        return false;
      }
      if (seen instanceof EndWaiters several) {
        return several.add(added);
      }
      if (seen == null
          ? WAITERS.compareAndSet(this, null, added)
          : listWaiters((EndWaiter) seen, added)) {
        return true;
      }
    }
  }

  /** Makes a list of its waiter and another one; returns false if its waiter has changed. */
  private boolean listWaiters(EndWaiter first, EndWaiter second) {
    EndWaiters list = new EndWaiters();
    list.lock(); // the first is linked when the list is in its place, and waits for that to leave
    try {
      if (!WAITERS.compareAndSet(this, first, list)) {
        return false;
      }
      list.link(first);
      list.link(second);
      return true;
    } finally {
      list.unlock();
    }
  }

  /** Removes a waiter that gives up; returns false if it has ended, and the waiter is told. */
  private boolean removeWaiter(EndWaiter gone) {
    return WAITERS.compareAndSet(this, gone, null)
        || (waiters instanceof EndWaiters several && several.remove(gone));
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

  /** Called by this fiber when the withTimeout of a deadline that has passed is through. */
  void deadlineFinished() {
    EXPIRED_DEADLINES.getAndAdd(this, -1);
  }

  /** Returns whether it has opened a scope and not closed it. */
  boolean hasOpenScope() {
    OpenBlocks open = blocks;
    return open != null && open.scope() != null;
  }

  /** Returns whether a time limit may end its waits; from another thread a moment ago's answer. */
  boolean hasDeadline() {
    OpenBlocks open = blocks;
    return open != null && open.deadline() != null;
  }

  /** Returns whether it is cancelled and no shield holds that back; asked by this fiber. */
  boolean isCancelInForce() {
    OpenBlocks open = blocks;
    return outcome == CANCELLING && (open == null || !open.isShielded());
  }

  /** Returns whether each wait of this fiber, the current one, is to fail. */
  boolean mustGiveUp() {
    return isCancelInForce() || isPastDeadline();
  }

  private boolean isPastDeadline() {
    OpenBlocks open = blocks;
    return expiredDeadlines > 0 && open != null && open.isPastDeadline();
  }

  /**
   * If it is cancelled, waits until the canceller has interrupted it or has seen that it must not,
   * and returns true. Called by this fiber.
   */
  boolean awaitCancelSent() {
    if (outcome != CANCELLING) {
      return false;
    }
    while (!cancelSent) {
      Thread.yield(); // the canceller may be a fiber of the same worker
    }
    return true;
  }

  private void throwIfCancelled() {
    if ((outcome == CANCELLING || expiredDeadlines > 0) && mustGiveUp()) {
      throw new CancellationException(whyItMustGiveUp());
    }
  }

  static void throwIfInterrupted(@Nullable Fiber<?> self) throws InterruptedException {
    if (self != null
        && (self.outcome == CANCELLING || self.expiredDeadlines > 0)
        && self.mustGiveUp()) {
      Thread.interrupted();
      throw new InterruptedException(self.whyItMustGiveUp());
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  private String whyItMustGiveUp() {
    return this + (isPastDeadline() ? " has passed its deadline" : " is cancelled");
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
