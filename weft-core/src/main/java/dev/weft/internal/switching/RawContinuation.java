package dev.weft.internal.switching;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's one-shot delimited continuation, as coroutines use it.
 *
 * <p>{@link #resume} enters or continues the body on the calling thread and returns when the body
 * ends or calls {@link #suspend}. All instances share one scope, so {@code suspend} always leaves
 * the innermost one.
 */
public final class RawContinuation extends Continuation {
  private static final ContinuationScope SCOPE = new ContinuationScope("Weft");

  /** The code that a continuation runs. */
  public interface Target extends Runnable {
    /**
     * Called on the continuation each time it goes on after {@link #suspend}; may throw out of it.
     */
    void onContinue();
  }

  private final Target target;

  private RawContinuation(Target target) {
    super(SCOPE, target);
    this.target = target;
  }

  /** Creates a continuation that runs the target. */
  public static RawContinuation create(Target target) {
    return new RawContinuation(target);
  }

  /** Returns the target of the innermost running continuation, or null outside any. */
  public static @Nullable Target current() {
    return Continuation.getCurrentContinuation(SCOPE) instanceof RawContinuation innermost
        ? innermost.target
        : null;
  }

  /** Runs it until it ends or is suspended; the caller guarantees that no other thread does. */
  public void resume() {
    ContinuationRun.run(this);
  }

  /**
   * Leaves the innermost continuation; returns true when it is run again, false at once outside
   * any.
   */
  public static boolean suspend() {
    try {
      return Continuation.yield(SCOPE);
    } catch (IllegalStateException e) { // checked only now: saves a look-up in every switch
      if (Continuation.getCurrentContinuation(SCOPE) == null) {
        return false;
      }
      throw e;
    }
  }

  /** Undoes one pin of the innermost continuation of any scope; returns false if it has none. */
  public static boolean unpinIfPinned() {
    try {
      unpin();
      return true;
    } catch (IllegalStateException e) { // "pin underflow"
      return false;
    }
  }

  @Override
  protected void onContinue() {
    target.onContinue();
  }

  /**
   * Called if the continuation is pinned: in {@link #suspend}, which then fails, or when the
   * virtual thread around it parks, which then holds its carrier.
   */
  @Override
  protected void onPinned(Pinned reason) {
    if (!isSuspending()) {
      return;
    }
    String why =
        switch (reason) {
          case NATIVE -> "a native method is on its stack";
          case MONITOR -> "it holds a monitor (synchronized)";
          case CRITICAL_SECTION -> "it is pinned (Hook.disable)";
          case EXCEPTION -> "there was no memory to save its stack";
        };
    throw new IllegalStateException("cannot yield " + target + ": " + why);
  }

  /** Looks at the stack, so that a switch that succeeds need not record that it suspends. */
  private static boolean isSuspending() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .filter(frame -> !frame.getClassName().equals(Continuation.class.getName()))
                    .dropWhile(frame -> !frame.getMethodName().equals("onPinned"))
                    .skip(1)
                    .findFirst()
                    .filter(frame -> frame.getClassName().equals(RawContinuation.class.getName()))
                    .isPresent());
  }
}
