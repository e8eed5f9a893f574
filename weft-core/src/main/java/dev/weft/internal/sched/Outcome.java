package dev.weft.internal.sched;

import java.io.InterruptedIOException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * How a fiber ended, if not with a result of its own. To record it works also without free memory.
 *
 * <pre>
 *   null ──► a result, NULL_RESULT or a Failure         // the body ended
 *   null ──► CANCELLING ──► Cancelled                   // cancel(), then the end of the body
 *   null, CANCELLING ──► Cancelled                      // its scheduler gave up on it
 * </pre>
 */
final class Outcome {
  /** The outcome of a body that returned null: a null outcome means that it has not ended. */
  static final Object NULL_RESULT = new Object();

  /** From cancel() until the end of the body. */
  static final Object CANCELLING = new Object();

  private static final Failure NO_MEMORY =
      new Failure(new OutOfMemoryError("and no memory to say where"));
  private static final Cancelled JUST_CANCELLED = new Cancelled(null);

  private Outcome() {}

  /** The body threw. */
  record Failure(Throwable cause) {}

  /** The fiber was cancelled; the cause is what its body threw, if not just the cancellation. */
  record Cancelled(@Nullable Throwable cause) {}

  static Failure failed(Throwable cause) {
    try {
      return new Failure(cause);
    } catch (OutOfMemoryError e) {
      return NO_MEMORY;
    }
  }

  /** Returns the outcome of a cancelled fiber, given how its body ended. */
  static Cancelled cancelled(Object result) {
    if (!(result instanceof Failure(Throwable thrown))) {
      return JUST_CANCELLED;
    }
    try {
      return obeysCancel(thrown) && ScopeMisuse.in(thrown) == null
          ? JUST_CANCELLED
          : new Cancelled(thrown);
    } catch (OutOfMemoryError e) {
      return JUST_CANCELLED;
    }
  }

  private static boolean obeysCancel(Throwable thrown) {
    return thrown instanceof InterruptedException
        || thrown instanceof CancellationException
        || thrown.getClass() == InterruptedIOException.class;
  }

  /** What the body threw, also after a cancel; null if it did not, or only obeyed the cancel. */
  static @Nullable Throwable failureOf(@Nullable Object outcome) {
    if (outcome instanceof Failure failure) { // no switch: its first use would cost milliseconds
      return failure.cause;
    }
    return outcome instanceof Cancelled cancelled ? cancelled.cause : null;
  }
}
