package dev.weft.internal.sched;

import dev.weft.Fiber;
import dev.weft.Policy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What a scheduler was built with: see {@code Scheduler.Builder}.
 *
 * @param name its name; an empty one becomes {@code weft-N}
 * @param keepsProcessAlive whether a process with daemon threads only lives until its fibers end
 */
public record SchedulerConfig(
    int threads,
    boolean useCaller,
    String name,
    Policy policy,
    long stackSize,
    boolean daemon,
    boolean failOnDeadlock,
    boolean reportLeaks,
    boolean keepsProcessAlive,
    Duration blockedAfter,
    @Nullable BiConsumer<Fiber<?>, Throwable> onUncaught) {
  /** After how long in one slice a thread is reported, unless told otherwise. */
  public static final Duration BLOCKED_AFTER = Duration.ofSeconds(1);

  private static final AtomicInteger LAST_NAME = new AtomicInteger();

  /** Gives it a name. */
  public SchedulerConfig {
    name = name.isEmpty() ? "weft-" + LAST_NAME.incrementAndGet() : name;
  }

  /** Returns the configuration of the shared scheduler. */
  static SchedulerConfig shared() {
    return ofDaemons(Runtime.getRuntime().availableProcessors(), "weft-shared", true);
  }

  /** Returns the configuration of the scheduler that runs the main of a whole program. */
  static SchedulerConfig ofProgram(int threads) {
    return ofDaemons(threads, "main", false);
  }

  private static SchedulerConfig ofDaemons(int threads, String name, boolean keepsProcessAlive) {
    return new SchedulerConfig(
        threads,
        false,
        name,
        Policy.fifo(),
        0,
        true,
        false,
        false,
        keepsProcessAlive,
        BLOCKED_AFTER,
        null);
  }
}
