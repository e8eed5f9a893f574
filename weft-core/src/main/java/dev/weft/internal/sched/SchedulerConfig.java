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
    boolean separateComputing,
    @Nullable BiConsumer<Fiber<?>, Throwable> onUncaught) {
  /** After how long in one slice a thread is reported, unless told otherwise. */
  public static final Duration BLOCKED_AFTER = Duration.ofSeconds(1);

  /** When the first scheduler of this JVM was configured. */
  static final long FIRST_USE = System.nanoTime();

  /** Whether fibers that compute are set apart, unless told otherwise. */
  public static final boolean SEPARATE_COMPUTING =
      !"false".equals(System.getProperty("weft.separateComputing"));

  private static final AtomicInteger LAST_NAME = new AtomicInteger();

  /** Gives the scheduler a name if it has none. */
  public SchedulerConfig {
    name = name.isEmpty() ? "weft-" + LAST_NAME.incrementAndGet() : name;
  }

  /**
   * Returns the policy of a scheduler that is given none. On one thread bodies start in the order
   * in which they were submitted, as the users of other libraries expect; on several there is no
   * such order, and idle threads help.
   */
  public static Policy defaultPolicy(int threads) {
    return threads == 1 ? Policy.fifo() : Policy.workStealing();
  }

  /** Returns the configuration of the shared scheduler. */
  static SchedulerConfig shared() {
    return ofDaemons(Runtime.getRuntime().availableProcessors(), "weft-shared", true);
  }

  /** Returns the configuration of the scheduler that runs the main of a whole program. */
  static SchedulerConfig ofProgram(int threads) {
    return ofDaemons(threads, "main", false);
  }

  /** Returns the configuration of a scheduler in a simulated world. */
  static SchedulerConfig ofWorld(String name, Policy policy) {
    return ofDaemons(1, name, false, policy);
  }

  private static SchedulerConfig ofDaemons(int threads, String name, boolean keepsProcessAlive) {
    return ofDaemons(threads, name, keepsProcessAlive, defaultPolicy(threads));
  }

  private static SchedulerConfig ofDaemons(
      int threads, String name, boolean keepsProcessAlive, Policy policy) {
    return new SchedulerConfig(
        threads,
        false,
        name,
        policy,
        0,
        true,
        false,
        false,
        keepsProcessAlive,
        BLOCKED_AFTER,
        SEPARATE_COMPUTING,
        null);
  }
}
