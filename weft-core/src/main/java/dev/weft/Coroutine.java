package dev.weft;

import dev.weft.internal.jdk.RequiredFlags;
import dev.weft.internal.sched.CoroutineBlocks;
import dev.weft.internal.switching.HeldMonitors;
import dev.weft.internal.switching.RawContinuation;
import dev.weft.internal.switching.ScopedBindings;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A piece of code with a stack of its own, which runs when it is resumed and stops where it yields.
 *
 * <p>No scheduler is involved: {@link #resume} is a call that returns at the next {@link #yield} or
 * at the end of the body. A coroutine belongs to the thread, or fiber, that first resumed it.
 *
 * {@snippet class="dev.weft.CoroutineSnippetsTest" region="resume-and-yield"}
 *
 * <p>Do not resume while holding a monitor ({@code synchronized}) and do not yield inside one: the
 * JVM would hand the monitor to the suspended coroutine. With assertions on ({@code -ea}) both are
 * refused. {@link java.util.concurrent.locks.Lock Locks} are fine.
 */
public final class Coroutine implements AutoCloseable {
  /*
   * State transitions; only the owner thread makes them.
   *
   *      READY -> RUNNING       // resume, or a transferTo from a running one
   *    RUNNING -> READY         // yield, or it passed control on by transferTo
   *    RUNNING -> TERMINATED    // the body returned or threw
   *      READY -> TERMINATED    // close: never started, or unwound (by way of RUNNING)
   * TERMINATED -> READY         // reset
   *
   * A coroutine that has resumed another coroutine stays RUNNING until control returns to it.
   *
   * TERMINATED is the last thing that its owner writes: a thread that sees it may reset the
   * coroutine and begin a new life of it. Until then an ended coroutine is RUNNING without frames.
   */

  /** Where a coroutine is in its life. */
  public enum State {
    /** Created, or suspended in {@link Coroutine#yield}. */
    READY,
    /** On a thread's stack: it runs, or it has resumed another coroutine, which runs. */
    RUNNING,
    /** Its body has ended. */
    TERMINATED
  }

  /**
   * Thrown by {@code yield} in a coroutine that is being closed; an Error so that bodies let it
   * pass.
   */
  private static final class Unwind extends Error {
    private static final long serialVersionUID = 1L;

    Unwind(Coroutine coroutine) {
      super(coroutine + " is being closed", null, false, false);
    }
  }

  /** How often a body may catch {@link Unwind} and yield before close gives up. */
  private static final int MAX_UNWINDS = 1_000;

  private static final int READY = 0;
  private static final int RUNNING = 1;
  private static final int TERMINATED = 2;

  private static final boolean CHECK_MONITORS = Coroutine.class.desiredAssertionStatus();
  private static final AtomicLong LAST_ID = new AtomicLong();
  private static final LongAdder ENDED = new LongAdder();
  private static final VarHandle OWNER;
  private static final VarHandle STATE;

  static {
    RequiredFlags.check();
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OWNER = lookup.findVarHandle(Coroutine.class, "owner", Thread.class);
      STATE = lookup.findVarHandle(Coroutine.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long id = LAST_ID.incrementAndGet();

  // what to run; null once it has ended
  private @Nullable Body body;

  // written by the owner (release), read by any thread (acquire); a number and not an enum, because
  // two stores of a reference per switch would cost the garbage collector's barrier
  private int state = READY;

  // the thread that first resumed it; null before and after a life
  private volatile @Nullable Thread owner;

  // its stack; null before the first resume and after the end
  private @Nullable RawContinuation frames;

  // the scoped value bindings that it had when it yielded
  private @Nullable Object scopedBindings;

  // the deadlines and shields that its body is in; null if it never was in any
  private @Nullable CoroutineBlocks blocks;

  // the coroutine to which transferTo passes control; read by the loop in resume
  private @Nullable Coroutine next;

  // what the body threw; rethrown by resume
  private @Nullable Throwable failure;

  // true while close() unwinds it: every yield throws Unwind
  private boolean closing;

  // lazily created: most coroutines have none
  private @Nullable Map<CoroutineLocal<?>, Object> locals;

  private Coroutine(Body body) {
    this.body = body;
  }

  /** Creates a coroutine that will run the body; nothing runs before the first {@link #resume}. */
  public static Coroutine of(Body body) {
    return new Coroutine(Objects.requireNonNull(body, "body"));
  }

  /**
   * Runs this coroutine until it yields or ends.
   *
   * <p>What the body throws comes out of here: unchecked exceptions and errors unchanged, checked
   * ones as the cause of a {@link CompletionException}.
   *
   * @throws IllegalStateException if it is RUNNING or TERMINATED, or belongs to another thread
   */
  public void resume() {
    Thread me = Thread.currentThread();
    checkResumable("resume", me);
    Object callersBindings = ScopedBindings.of(me);
    Coroutine c = this;
    while (true) {
      RawContinuation frames = c.enter(me, callersBindings);
      try {
        frames.resume();
      } finally {
        c.leave(me, callersBindings);
      }
      Coroutine target = c.next; // set by transferTo
      if (target == null) {
        break;
      }
      c.next = null;
      c = target;
    }
    if (c.frames == null) {
      c.endLife();
    }
  }

  /**
   * Suspends the current coroutine and returns control to its resumer. Returns when the coroutine
   * is resumed again.
   *
   * @throws IllegalStateException if called outside a coroutine
   */
  public static void yield() {
    if (CHECK_MONITORS) {
      running("yield").refuseHeldMonitor("yield");
    }
    if (!RawContinuation.suspend()) {
      throw outside("yield");
    }
  }

  /**
   * Suspends the current coroutine and passes control straight to another coroutine, which from
   * then on returns to the resumer of the current one. Returns when the current coroutine is
   * resumed again.
   *
   * @throws IllegalStateException if called outside a coroutine, or if the other coroutine cannot
   *     be resumed: it is RUNNING (as every ancestor is), TERMINATED or of another thread
   */
  public static void transferTo(Coroutine next) {
    Coroutine self = running("transfer");
    next.checkResumable("transfer to", Thread.currentThread());
    self.next = next;
    try {
      Coroutine.yield();
    } finally {
      self.next = null; // the loop in resume has read it, unless yield() threw
    }
  }

  /**
   * Gives a TERMINATED or never started coroutine a new body; it is READY and free of its thread.
   *
   * @throws IllegalStateException if it is suspended or RUNNING
   */
  public void reset(Body newBody) {
    Objects.requireNonNull(newBody, "newBody");
    State seen = state();
    if (seen == State.TERMINATED) {
      ENDED.decrement();
    } else if (seen == State.RUNNING) {
      throw refusal("reset", "it is RUNNING");
    } else if (frames != null) {
      throw refusal("reset", "it is READY but suspended in its body; close() it first");
    }
    body = newBody;
    OWNER.setRelease(this, (Thread) null); // a transferTo that failed may have set it
    STATE.setRelease(this, READY);
  }

  /**
   * Ends this coroutine. If it is suspended its stack is unwound, as if {@code yield} had thrown,
   * so that its {@code finally} blocks run; if it has not started or has ended nothing runs.
   *
   * @throws IllegalStateException if it is RUNNING, belongs to another thread, or catches the
   *     unwinding and goes on to yield
   */
  @Override
  public void close() {
    if (state == TERMINATED) {
      return;
    }
    if (state == READY && frames == null) {
      endLife();
      return;
    }
    checkResumable("close", Thread.currentThread());
    closing = true;
    Throwable thrown = null;
    for (int i = 0; i < MAX_UNWINDS && closing; i++) { // until endLife
      try {
        resume();
      } catch (Throwable e) { // thrown by its body, or by a coroutine that it has transferred to
        thrown = thrown == null ? e : thrown;
      }
    }
    if (closing) {
      closing = false;
      throw refusal(
          "close", "its body caught the unwinding and yielded again, " + MAX_UNWINDS + " times");
    }
    if (thrown != null) {
      throw unchecked(thrown);
    }
  }

  /** Returns the number that identifies this coroutine: unique, and higher than all before it. */
  public long id() {
    return id;
  }

  /** Returns its state; other threads may get an outdated answer. */
  public State state() {
    return switch ((int) STATE.getAcquire(this)) {
      case READY -> State.READY;
      case RUNNING -> State.RUNNING;
      default -> State.TERMINATED;
    };
  }

  /** Returns the innermost running coroutine of this thread, or empty outside any. */
  public static Optional<Coroutine> current() {
    return Optional.ofNullable(currentOrNull());
  }

  /** Returns how many coroutines have been created in this JVM. */
  public static long created() {
    return LAST_ID.get();
  }

  /**
   * Returns how many coroutines have not ended yet. A coroutine that is dropped while suspended,
   * without {@link #close}, stays counted.
   */
  public static long live() {
    return LAST_ID.get() - ENDED.sum();
  }

  @Override
  public String toString() {
    return "coroutine " + id;
  }

  static @Nullable Coroutine currentOrNull() {
    return RawContinuation.current() instanceof BottomFrame bottom ? bottom.coroutine() : null;
  }

  Map<CoroutineLocal<?>, Object> locals() {
    if (locals == null) {
      locals = new IdentityHashMap<>(4);
    }
    return locals;
  }

  /** Makes this the running coroutine; creates its stack the first time. */
  private RawContinuation enter(Thread me, @Nullable Object callersBindings) {
    if (frames == null) {
      frames = RawContinuation.create(new BottomFrame());
      scopedBindings = callersBindings;
    }
    if (scopedBindings != callersBindings) {
      ScopedBindings.set(me, scopedBindings);
    }
    STATE.setRelease(this, RUNNING);
    if (blocks != null) {
      blocks.enter();
    }
    return frames;
  }

  /** Called after it has yielded or ended: restores the resumer's bindings and blocks. */
  private void leave(Thread me, @Nullable Object callersBindings) {
    Object left = ScopedBindings.of(me);
    if (left != callersBindings) {
      ScopedBindings.set(me, callersBindings);
    }
    if (left != scopedBindings) {
      scopedBindings = left;
    }
    if (blocks != null) {
      blocks.leave();
    }
    if (frames != null) {
      STATE.setRelease(this, READY);
    }
  }

  /** The bottom of every coroutine's stack. */
  private final class BottomFrame implements RawContinuation.Target, CoroutineBlocks.Holder {
    @Override
    public void run() {
      try {
        Objects.requireNonNull(body).run();
      } catch (Unwind unwind) {
        // closed: its finally blocks have run
      } catch (Throwable e) {
        failure = e;
      }
      frames = null;
    }

    @Override
    public void onContinue() {
      if (closing) {
        throw new Unwind(Coroutine.this);
      }
    }

    @Override
    public CoroutineBlocks blocks() {
      if (blocks == null) {
        blocks = new CoroutineBlocks();
      }
      return blocks;
    }

    Coroutine coroutine() {
      return Coroutine.this;
    }

    @Override
    public String toString() {
      return Coroutine.this.toString();
    }
  }

  /** Publishes its end, after which any thread may reset it; throws what the body threw. */
  private void endLife() {
    Throwable thrown = failure;
    failure = null;
    body = null;
    locals = null;
    closing = false;
    ENDED.increment();
    OWNER.setRelease(this, (Thread) null);
    STATE.setRelease(this, TERMINATED);
    if (thrown != null) {
      throw unchecked(thrown);
    }
  }

  private RuntimeException unchecked(Throwable e) {
    if (e instanceof RuntimeException unchecked) {
      return unchecked;
    }
    if (e instanceof Error error) {
      throw error;
    }
    return new CompletionException(this + " failed: " + e, e);
  }

  private static Coroutine running(String verb) {
    Coroutine self = currentOrNull();
    if (self == null) {
      throw outside(verb);
    }
    return self;
  }

  private static IllegalStateException outside(String verb) {
    return new IllegalStateException(
        "cannot " + verb + " outside a coroutine: call it in the body of one that was resumed");
  }

  /** Throws if it is not READY or has another owner; makes the thread its owner if it has none. */
  private void checkResumable(String verb, Thread me) {
    if (state != READY) {
      throw refusal(verb, "it is " + state());
    }
    if (CHECK_MONITORS) {
      refuseHeldMonitor(verb);
    }
    if (owner != me && !OWNER.compareAndSet(this, (Thread) null, me)) {
      throw refusal(verb, "it is " + state() + " and belongs to " + owner + ", not to " + me);
    }
  }

  private void refuseHeldMonitor(String verb) {
    String monitor = HeldMonitors.describe(Coroutine::isBottomFrame);
    if (monitor != null) {
      throw refusal(
          verb,
          "it is "
              + state()
              + " but this thread holds "
              + monitor
              + "; leave the synchronized block first, or use a java.util.concurrent Lock");
    }
  }

  private static boolean isBottomFrame(StackWalker.StackFrame frame) {
    return frame.getClassName().equals(BottomFrame.class.getName());
  }

  private IllegalStateException refusal(String verb, String reason) {
    return new IllegalStateException("cannot " + verb + " " + this + ": " + reason);
  }
}
