package dev.weft;

import dev.weft.internal.jdk.HeldMonitors;
import dev.weft.internal.jdk.RawContinuation;
import dev.weft.internal.jdk.RequiredFlags;
import dev.weft.internal.jdk.ScopedBindings;
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
 * {@snippet class="dev.weft.CoroutineSnippets" region="resume-and-yield"}
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
   * A coroutine that resumed another one stays RUNNING until control is back.
   */

  /** Where a coroutine is in its life. */
  public enum State {
    /** Created, or suspended in {@link Coroutine#yield}. */
    READY,
    /** On a thread's stack: it runs, or it resumed another one and waits for it. */
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

  /** How often a body may catch {@link Unwind} and yield again before close gives up. */
  private static final int MAX_UNWINDS = 1_000;

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
      STATE = lookup.findVarHandle(Coroutine.class, "state", State.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long id = LAST_ID.incrementAndGet();

  // what to run; null once it has ended
  private @Nullable Body body;

  // written by the owner (release), read by anyone (acquire)
  private State state = State.READY;

  // the thread that first resumed it; null before and after a life
  private volatile @Nullable Thread owner;

  // its stack; null before and after a life
  private @Nullable RawContinuation frames;

  // scoped values it left behind when it yielded
  private @Nullable Object scopedBindings;

  // where transferTo passes control, picked up by the resume loop
  private @Nullable Coroutine next;

  // what the body threw, picked up by resume
  private @Nullable Throwable failure;

  // how often yield has thrown Unwind; -1 while nobody closes it
  private int unwinds = -1;

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
    if (CHECK_MONITORS) {
      refuseHeldMonitor("resume");
    }
    switchFrom(me);
  }

  /**
   * Suspends the current coroutine; control is with the one who resumed it. Returns when it is
   * resumed again.
   *
   * @throws IllegalStateException if called outside a coroutine
   */
  public static void yield() {
    running("yield").suspend();
  }

  /**
   * Suspends the current coroutine and passes control straight to another one, which from then on
   * returns to whoever resumed this one. Returns when this one is resumed again.
   *
   * @throws IllegalStateException if called outside a coroutine, or if the other one cannot be
   *     resumed: it is RUNNING (as every ancestor is), TERMINATED or of another thread
   */
  public static void transferTo(Coroutine next) {
    Coroutine self = running("transfer");
    next.checkResumable("transfer to", Thread.currentThread());
    self.next = next;
    try {
      self.suspend();
    } catch (Throwable e) {
      self.next = null;
      throw e;
    }
  }

  /**
   * Gives a TERMINATED or never started coroutine a new body; it is READY and free of its thread.
   *
   * @throws IllegalStateException if it is suspended or RUNNING
   */
  public void reset(Body newBody) {
    Objects.requireNonNull(newBody, "newBody");
    if (state == State.TERMINATED) {
      ENDED.decrement();
    } else if (state == State.RUNNING) {
      throw refusal("reset", "it is RUNNING");
    } else if (frames != null) {
      throw refusal("reset", "it is READY but suspended in its body; close() it first");
    }
    body = newBody;
    STATE.setRelease(this, State.READY);
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
    if (state == State.TERMINATED) {
      return;
    }
    if (state == State.READY && frames == null) {
      end();
      return;
    }
    Thread me = Thread.currentThread();
    checkResumable("close", me);
    if (CHECK_MONITORS) {
      refuseHeldMonitor("close");
    }
    unwinds = 0;
    switchFrom(me);
    if (state != State.TERMINATED) {
      unwinds = -1;
      throw refusal(
          "close", "its body caught the unwinding and went on to yield " + MAX_UNWINDS + " times");
    }
  }

  /** Returns the number that identifies this coroutine: unique, and higher than all before it. */
  public long id() {
    return id;
  }

  /** Returns where it is in its life; from another thread a moment ago's answer. */
  public State state() {
    return (State) STATE.getAcquire(this);
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
   * Returns how many coroutines have not ended yet. One that is dropped while suspended, without
   * {@link #close}, stays counted.
   */
  public static long live() {
    return LAST_ID.get() - ENDED.sum();
  }

  @Override
  public String toString() {
    return "coroutine " + id;
  }

  static @Nullable Coroutine currentOrNull() {
    return (Coroutine) RawContinuation.currentOwner();
  }

  Map<CoroutineLocal<?>, Object> locals() {
    if (locals == null) {
      locals = new IdentityHashMap<>(4);
    }
    return locals;
  }

  /** The resume loop: runs this one, then each one that control is transferred to. */
  private void switchFrom(Thread me) {
    Object callersBindings = ScopedBindings.of(me);
    Coroutine c = this;
    while (true) {
      RawContinuation stack = c.frames;
      if (stack == null) {
        c.frames = stack = RawContinuation.create(c, c::runBody);
        c.scopedBindings = callersBindings;
      }
      ScopedBindings.set(me, c.scopedBindings);
      STATE.setRelease(c, State.RUNNING);
      try {
        stack.run();
      } finally {
        c.scopedBindings = ScopedBindings.of(me);
        ScopedBindings.set(me, callersBindings);
        if (c.state == State.RUNNING) {
          STATE.setRelease(c, State.READY);
        }
      }
      Coroutine target = c.next;
      if (target == null) {
        break;
      }
      c.next = null;
      c = target;
    }
    if (c.failure != null) {
      c.rethrowFailure();
    }
  }

  /** The bottom frame of every coroutine. */
  private void runBody() {
    try {
      Objects.requireNonNull(body).run();
    } catch (Unwind unwind) {
      // closed: the finally blocks have run
    } catch (Throwable e) {
      failure = e;
    }
    end();
  }

  private void end() {
    body = null;
    frames = null;
    locals = null;
    scopedBindings = null;
    unwinds = -1;
    ENDED.increment();
    OWNER.setRelease(this, (Thread) null);
    STATE.setRelease(this, State.TERMINATED);
  }

  private void suspend() {
    unwindIfClosing();
    if (CHECK_MONITORS) {
      refuseHeldMonitor("yield");
    }
    RawContinuation.suspend();
    unwindIfClosing();
  }

  private void unwindIfClosing() {
    if (unwinds >= 0 && unwinds < MAX_UNWINDS) {
      unwinds++;
      throw new Unwind(this);
    }
  }

  private void rethrowFailure() {
    Throwable e = Objects.requireNonNull(failure);
    failure = null;
    switch (e) {
      case RuntimeException unchecked -> throw unchecked;
      case Error error -> throw error;
      default -> throw new CompletionException(this + " failed: " + e, e);
    }
  }

  private static Coroutine running(String verb) {
    Coroutine self = currentOrNull();
    if (self == null) {
      throw new IllegalStateException(
          "cannot " + verb + " outside a coroutine: call it in the body of one that was resumed");
    }
    return self;
  }

  /** Refuses what is not READY, and makes the thread its owner if it has none. */
  private void checkResumable(String verb, Thread me) {
    if (state != State.READY) {
      throw refusal(verb, "it is " + state);
    }
    if (owner != me && !OWNER.compareAndSet(this, (Thread) null, me)) {
      throw refusal(verb, "it is " + state + " and belongs to " + owner + ", not to " + me);
    }
  }

  private void refuseHeldMonitor(String verb) {
    String monitor = HeldMonitors.describe(Coroutine::isBottomFrame);
    if (monitor != null) {
      throw refusal(
          verb,
          "it is "
              + state
              + " but this thread holds "
              + monitor
              + "; leave the synchronized block first, or use a java.util.concurrent Lock");
    }
  }

  private static boolean isBottomFrame(StackWalker.StackFrame frame) {
    return frame.getMethodName().equals("runBody")
        && frame.getClassName().equals(Coroutine.class.getName());
  }

  private IllegalStateException refusal(String verb, String reason) {
    return new IllegalStateException("cannot " + verb + " " + this + ": " + reason);
  }
}
