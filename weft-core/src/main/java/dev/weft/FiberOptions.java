package dev.weft;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options of a new fiber: its name, its priority and the thread it is bound to.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="options"}
 *
 * @param name the name for dumps and logs, or null for {@code fiber-<id>}
 * @param priority higher runs first under {@link Policy#priority}; 0 is normal
 * @param thread the index of the thread that runs every slice of it, or {@link #ANY_THREAD}
 */
public record FiberOptions(@Nullable String name, int priority, int thread) {
  /** The {@code thread} of a fiber that is not bound. */
  public static final int ANY_THREAD = -1;

  /** Checks the values. */
  public FiberOptions {
    if (thread < ANY_THREAD) {
      throw new IllegalArgumentException("thread must be 0 or more, not " + thread);
    }
  }

  /** Returns options with a name, normal priority and no thread. */
  public static FiberOptions named(String name) {
    return new FiberOptions(Objects.requireNonNull(name, "name"), 0, ANY_THREAD);
  }

  /** Returns the same with another priority. */
  public FiberOptions priority(int newPriority) {
    return new FiberOptions(name, newPriority, thread);
  }

  /** Returns the same, bound to the scheduler's thread with this index. */
  public FiberOptions onThread(int index) {
    if (index < 0) {
      throw new IllegalArgumentException("thread must be 0 or more, not " + index);
    }
    return new FiberOptions(name, priority, index);
  }
}
