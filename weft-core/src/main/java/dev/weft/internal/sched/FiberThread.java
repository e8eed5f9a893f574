package dev.weft.internal.sched;

import dev.weft.FiberOptions;
import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.switching.ScopedBindings;
import dev.weft.internal.switching.VirtualThreads;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The name of a fiber and the virtual thread it is. Most fibers get their thread from the worker
 * that runs their first slice, and let go of it when they have ended: the thread takes most of a
 * fiber's memory, and callers of join do not need it.
 *
 * <pre>
 *   null ──► a new thread ──► NO_THREAD      // it has ended, and thread() was never called
 *   null ──► NO_THREAD                       // it ended before its first slice
 * </pre>
 *
 * <p>Invariant: the compare-and-set of {@link #thread} away from null decides which thread of
 * execution starts the fiber's thread, or that it never starts.
 */
public abstract sealed class FiberThread<T> extends FiberEnd<T> permits FiberCancel {
  /** Stands for the thread of a fiber that has ended and has none. */
  static final Thread NO_THREAD = VirtualThreads.ended(null);

  /** The slice of a fiber that has ended and let go of its thread. */
  @SuppressWarnings("UnnecessaryLambda") // its identity is what counts
  private static final Runnable NO_SLICE = () -> {};

  /** The name of a fiber without a given name, before its id. */
  private static final String DEFAULT_NAME = "fiber-";

  private static final AtomicLong LAST_ID = new AtomicLong();
  private static final VarHandle THREAD;
  private static final VarHandle SLICE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      THREAD = lookup.findVarHandle(FiberThread.class, "thread", Thread.class);
      SLICE = lookup.findVarHandle(FiberThread.class, "slice", Runnable.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long id = LAST_ID.incrementAndGet();
  private final FiberOptions options;
  private volatile @Nullable Thread thread;

  // true if thread() was called: the fiber keeps the thread after its end
  private volatile boolean threadWanted;

  // a Body or a Callable, maybe ScopeCore.Inheriting, maybe Prepared, until the body begins; then
  // null, or the probe of a leak check
  @Nullable Object body;

  // what the JDK gives its executor to run: one slice of the virtual thread; null until the thread
  // has started
  private @Nullable Runnable slice;

  /** Creates a fiber that has no thread yet. */
  FiberThread(FiberOptions options, Object body) {
    this.options = options;
    this.body =
        VirtualThreads.inheritsFrom(Thread.currentThread())
            ? new Prepared(body, newThread(true)) // made here to inherit from the current thread
            : body;
  }

  /** Creates the fiber of a virtual thread that has been started. */
  FiberThread(FiberOptions options, Thread thread, Runnable slice) {
    this.options = options;
    this.thread = thread;
    this.slice = slice;
  }

  /** A body and its thread, which has not started. */
  private record Prepared(Object body, Thread thread) {}

  // ---- names ----

  @Override
  public final long id() {
    return id;
  }

  @Override
  public final String name() {
    Thread made = threadOrNull();
    String name = made != null ? made.getName() : options.name();
    return name != null && !name.isEmpty() ? name : DEFAULT_NAME + id;
  }

  @Override
  public final int priority() {
    return options.priority();
  }

  /**
   * Returns whether the name is the given or default one; called per fiber, so it allocates none.
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

  @Override
  public final String toString() {
    String name = name();
    return name.equals(DEFAULT_NAME + id) ? "fiber " + id : "fiber " + id + " (" + name + ")";
  }

  // ---- the thread ----

  @Override
  public final Thread thread() {
    threadWanted = true;
    if (thread == null && !(isDone() && endWithoutThread())) {
      startThread();
    }
    Thread made = ownThread();
    if (made == NO_THREAD) {
      while (!isDone()) {
        Thread.onSpinWait(); // the worker that set NO_THREAD is about to record the end
      }
      Thread ended = VirtualThreads.ended(name());
      return THREAD.compareAndSet(this, NO_THREAD, ended) ? ended : ownThread();
    }
    while (made.getState() == Thread.State.NEW) {
      Thread.onSpinWait(); // another thread is about to start it
    }
    return made;
  }

  /** Keeps the thread after the fiber's end, as a call of thread() does. */
  final void keepThread() {
    threadWanted = true;
  }

  @Override
  public final @Nullable Thread threadOrNull() {
    Thread made = thread;
    return made == NO_THREAD ? null : made;
  }

  /** Returns its virtual thread, or {@link #NO_THREAD}, of a fiber that has run. */
  final Thread ownThread() {
    return Objects.requireNonNull(thread);
  }

  private Thread newThread(boolean inherits) {
    FiberExecutor executor = new FiberExecutor((FiberCore<?>) this);
    return VirtualThreads.create(executor, name(), inherits, executor);
  }

  /** Decides that it never has a thread; returns false if it has one, or is about to. */
  final boolean endWithoutThread() {
    return THREAD.compareAndSet(this, null, NO_THREAD);
  }

  /**
   * Makes the thread and starts it, which hands the first slice to the {@link FiberExecutor}. As a
   * rule the worker that runs the first slice does so, else the first caller of {@link #thread}.
   * Returns false if another thread has done so, or is about to, or if the fiber ends without.
   */
  final boolean startThread() {
    Object todo = body;
    Thread made = todo instanceof Prepared prepared ? prepared.thread : newThread(false);
    if (!THREAD.compareAndSet(this, null, made)) {
      return false;
    }
    if (FlightEvents.recording()) {
      FlightEvents.started(this);
    }
    if (unprepared(todo) instanceof ScopeCore.Inheriting inheriting) {
      ScopedBindings.set(made, inheriting.bindings());
    }
    try {
      VirtualThreads.start(made, core().container);
    } catch (Throwable e) {
      becomeReadyElsewhere(); // a worker has to record the end of the fiber
      throw e;
    }
    return true;
  }

  /**
   * Makes the fiber ready now that its thread has started, unless the caller is the worker that
   * started it to run its first slice.
   */
  abstract void becomeReadyElsewhere();

  /** Returns the body as it was given to go(), with the scoped values it inherits, if any. */
  final @Nullable Object unpreparedBody() {
    return unprepared(body);
  }

  private static @Nullable Object unprepared(@Nullable Object body) {
    return body instanceof Prepared prepared ? prepared.body : body;
  }

  /**
   * Drops a thread that has ended, unless thread() was called or the thread has been renamed: the
   * fiber has to know its name.
   */
  final void dropThread(Thread own) {
    if (!threadWanted && (own == NO_THREAD || isGivenName(own.getName()))) {
      thread = NO_THREAD;
      slice = NO_SLICE; // not null: takeFirstSlice must not take a slice of a guest that lives on
    }
  }

  // ---- the slice: the Runnable that the JDK gives to the thread's executor ----

  /** Returns what runs one slice of its thread, or null if that has not started. */
  final @Nullable Runnable sliceOrNull() {
    return (Runnable) SLICE.getAcquire(this); // thread() may have set it on another thread
  }

  /** Takes the first slice; returns false if the fiber has a slice already. */
  final boolean takeFirstSlice(Runnable first) {
    if (slice != null) {
      return false;
    }
    SLICE.setRelease(this, first);
    becomeReadyElsewhere();
    return true;
  }

  final boolean isSlice(Runnable candidate) {
    return slice == candidate;
  }

  // ---- leak checks ----

  /** Takes the probe of a leak check; returns false if the fiber has not begun to run. */
  final boolean hold(LeakProbe probe) {
    if (!hasStarted() || body != null) {
      return false;
    }
    body = probe;
    return true;
  }

  public final boolean holds(LeakProbe probe) {
    return body == probe;
  }

  final void dropProbe() {
    if (body instanceof LeakProbe) {
      body = null;
    }
  }

  /** Returns whether its body has begun; a guest's body counts as begun. */
  public final boolean hasStarted() {
    return body == null || body instanceof LeakProbe;
  }
}
