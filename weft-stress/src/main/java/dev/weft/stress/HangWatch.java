package dev.weft.stress;

import dev.weft.Body;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs a program on a separate thread, and fails with a report if it makes no progress. */
final class HangWatch {
  /** How long a program may make no progress: long, because a busy machine is no hang. */
  private static final long HANG_NANOS = 60_000_000_000L;

  /** The same limit after a failure, which may keep parts of the program waiting. */
  private static final long HANG_AFTER_FAILURE_NANOS = 5_000_000_000L;

  private HangWatch() {}

  /**
   * Runs the body until it has ended or hangs.
   *
   * @param failure where the program leaves the first failure; a hang is left there too
   * @param state changes as long as the program makes progress
   * @param report says what each fiber and thread waits for
   */
  static void run(
      Body body,
      AtomicReference<@Nullable Throwable> failure,
      Supplier<?> state,
      Supplier<String> report)
      throws InterruptedException {
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    body.run();
                  } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                  }
                });
    Object last = "none";
    long moved = System.nanoTime();
    while (!thread.join(Duration.ofMillis(100))) {
      Object now = state.get();
      if (!now.equals(last)) {
        last = now;
        moved = System.nanoTime();
      }
      long limit = failure.get() == null ? HANG_NANOS : HANG_AFTER_FAILURE_NANOS;
      if (System.nanoTime() - moved > limit) {
        failure.compareAndSet(null, new AssertionError(report.get()));
        return;
      }
    }
  }
}
