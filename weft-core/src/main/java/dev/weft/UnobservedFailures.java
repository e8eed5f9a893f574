package dev.weft;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Failures of fibers that nobody has joined yet. Somebody may still: a failure is reported, to the
 * handler and the log, when nobody has for a second, or when the scheduler has stopped.
 */
final class UnobservedFailures {
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private record Failed(Throwable cause, long since) {
    boolean isOld(long now) {
      return now - since > PATIENCE_NANOS;
    }
  }

  private final Map<Fiber<?>, Failed> failed = new ConcurrentHashMap<>();
  private final BiConsumer<Fiber<?>, Throwable> handler;

  UnobservedFailures(BiConsumer<Fiber<?>, Throwable> handler) {
    this.handler = handler;
  }

  void add(Fiber<?> fiber, Throwable cause) {
    failed.put(fiber, new Failed(cause, System.nanoTime()));
    if (fiber.isObserved()) { // by one who saw the end before this was told
      failed.remove(fiber);
      return;
    }
  }

  void observed(Fiber<?> fiber) {
    failed.remove(fiber);
  }

  boolean isEmpty() {
    return failed.isEmpty();
  }

  boolean hasOld() {
    long now = System.nanoTime();
    return !failed.isEmpty() && failed.values().stream().anyMatch(failure -> failure.isOld(now));
  }

  void reportOld() {
    long now = System.nanoTime();
    failed.forEach(
        (fiber, failure) -> {
          if (failure.isOld(now) && failed.remove(fiber, failure)) {
            report(fiber, failure.cause);
          }
        });
  }

  void reportAll() {
    failed.forEach(
        (fiber, failure) -> {
          if (failed.remove(fiber, failure)) {
            report(fiber, failure.cause);
          }
        });
  }

  void report(Fiber<?> fiber, Throwable cause) {
    Log.error(fiber + " of " + fiber.scheduler() + " failed and nobody joined it", cause);
    try {
      handler.accept(fiber, cause);
    } catch (Throwable e) {
      Log.error("the handler for uncaught failures failed itself, on " + fiber, e);
    }
  }
}
