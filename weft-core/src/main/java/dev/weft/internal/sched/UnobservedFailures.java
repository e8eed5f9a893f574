package dev.weft.internal.sched;

import dev.weft.Fiber;
import dev.weft.internal.Log;
import java.lang.System.Logger.Level;
import java.lang.Thread.UncaughtExceptionHandler;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Failures of fibers that no fiber or thread has joined yet. A join may still come: a failure is
 * reported a second after the end of the fiber, or when the scheduler has stopped. Failures of
 * timer and I/O callbacks, which cannot be joined, are reported at once.
 *
 * <p>A report goes to the log and to the first of these handlers that is set:
 *
 * <ol>
 *   <li>the handler of the fiber's thread ({@code Thread.setUncaughtExceptionHandler}). The JDK
 *       drops it when the thread ends, so it is read when the body has ended;
 *   <li>the handler of the scheduler, {@code onUncaught};
 *   <li>the default handler of the JVM.
 * </ol>
 *
 * <p>The log gets the stack trace, unless an UncaughtExceptionHandler is called: those print it.
 */
public final class UnobservedFailures {
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private record Failed(Throwable cause, @Nullable UncaughtExceptionHandler ofThread, long since) {
    boolean isOld(long now) {
      return now - since > PATIENCE_NANOS;
    }
  }

  private final Map<FiberEnd<?>, Failed> failed = new ConcurrentHashMap<>();
  private final AtomicInteger reporting = new AtomicInteger();
  private final @Nullable BiConsumer<Fiber<?>, Throwable> ofScheduler;

  UnobservedFailures(@Nullable BiConsumer<Fiber<?>, Throwable> ofScheduler) {
    this.ofScheduler = ofScheduler;
  }

  public void add(FiberEnd<?> fiber, Throwable cause) {
    failed.put(fiber, new Failed(cause, handlerOfThread(fiber), System.nanoTime()));
    if (fiber.isObserved()) { // a caller of join saw the end before the failure was put here
      failed.remove(fiber);
    }
  }

  public void observed(FiberEnd<?> fiber) {
    failed.remove(fiber);
  }

  public boolean isEmpty() {
    return failed.isEmpty();
  }

  /** Returns whether there is nothing to report, and no handler is at work. */
  public boolean isIdle() {
    return failed.isEmpty() && reporting.get() == 0;
  }

  public boolean hasOld() {
    long now = System.nanoTime();
    return !failed.isEmpty() && failed.values().stream().anyMatch(failure -> failure.isOld(now));
  }

  public void reportOld() {
    long now = System.nanoTime();
    failed.forEach(
        (fiber, failure) -> {
          if (failure.isOld(now)) {
            report(fiber, failure);
          }
        });
  }

  /**
   * Removes the failures without a report, and returns them in the order of their fibers' ids; for
   * a simulated world, which has a report of its own.
   */
  public List<Throwable> takeAll() {
    List<Throwable> taken =
        failed.entrySet().stream()
            .sorted(Comparator.comparingLong(entry -> entry.getKey().id()))
            .map(entry -> entry.getValue().cause())
            .toList();
    failed.clear();
    return taken;
  }

  public void reportAll() {
    failed.forEach(this::report);
  }

  private void report(FiberEnd<?> fiber, Failed failure) {
    reporting.incrementAndGet(); // before the removal, so that isIdle is not true in between
    try {
      if (failed.remove(fiber, failure)) {
        report(fiber, failure.cause, failure.ofThread);
      }
    } finally {
      reporting.decrementAndGet();
    }
  }

  /** Reports the failure of a callback or a task that runs in this fiber, the current one. */
  public void report(FiberEnd<?> fiber, Throwable cause) {
    report(fiber, cause, handlerOfThread(fiber));
  }

  private void report(
      FiberEnd<?> fiber, Throwable cause, @Nullable UncaughtExceptionHandler ofThread) {
    UncaughtExceptionHandler ofJvm =
        ofThread != null || ofScheduler != null
            ? ofThread
            : Thread.getDefaultUncaughtExceptionHandler();
    String what = fiber + " of " + fiber.core() + " failed and no fiber or thread joined it";
    if (ofJvm == null) {
      Log.logger().log(Level.ERROR, what, cause);
    } else {
      Log.logger().log(Level.ERROR, what + ": " + cause);
    }
    try {
      if (ofJvm != null) {
        ofJvm.uncaughtException(fiber.thread(), cause);
      } else if (ofScheduler != null) {
        ofScheduler.accept(fiber, cause);
      }
    } catch (Throwable e) {
      Log.logger()
          .log(Level.ERROR, "the handler for uncaught failures failed itself, on " + fiber, e);
    }
  }

  /** Returns the handler that code has set on the thread of a fiber, which must not have ended. */
  private static @Nullable UncaughtExceptionHandler handlerOfThread(FiberEnd<?> fiber) {
    Thread thread = fiber.threadOrNull();
    UncaughtExceptionHandler handler = thread == null ? null : thread.getUncaughtExceptionHandler();
    return handler instanceof ThreadGroup ? null : handler; // its group means: no handler was set
  }
}
