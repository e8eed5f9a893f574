package dev.weft.internal.jdk;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's one-shot delimited continuation: the only class of Weft that touches it.
 *
 * <p>{@link #run} enters or continues the body on the calling thread and returns when the body ends
 * or calls {@link #suspend}. All instances share one scope, so {@code suspend} always leaves the
 * innermost one.
 */
public final class RawContinuation extends Continuation {
  private static final ContinuationScope SCOPE = new ContinuationScope("Weft");

  // whose frames these are: what currentOwner() answers while this one is innermost
  private final Object owner;

  private RawContinuation(Object owner, Runnable body) {
    super(SCOPE, body);
    this.owner = owner;
  }

  /** Creates a continuation that runs the body on behalf of the owner. */
  public static RawContinuation create(Object owner, Runnable body) {
    return new RawContinuation(owner, body);
  }

  /** Returns the owner of the innermost running continuation, or null outside any. */
  public static @Nullable Object currentOwner() {
    return Continuation.getCurrentContinuation(SCOPE) instanceof RawContinuation inner
        ? inner.owner
        : null;
  }

  /** Leaves the innermost continuation; returns when it is run again. */
  public static void suspend() {
    Continuation.yield(SCOPE);
  }

  @Override
  protected void onPinned(Pinned reason) {
    String why =
        switch (reason) {
          case NATIVE -> "a native method is on its stack";
          case MONITOR -> "it holds a monitor (synchronized)";
          case CRITICAL_SECTION -> "it is pinned";
          case EXCEPTION -> "there was no memory to save its stack";
        };
    throw new IllegalStateException("cannot yield " + owner + ": " + why);
  }
}
