package dev.weft.internal.sched;

import dev.weft.Scope;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A mistake in the use of a {@link Scope}. It has a class of its own so that the scope of a fiber
 * that fails with it can tell it from other failures, which are for the joiner to judge.
 */
public final class ScopeMisuse extends IllegalStateException {
  private static final long serialVersionUID = 1;

  private final boolean certain;

  /**
   * Creates one.
   *
   * @param certain whether it is a mistake also where it is suppressed. A missing join() is none if
   *     the block has thrown something else, and close() cannot know that
   */
  ScopeMisuse(String message, boolean certain) {
    super(message);
    this.certain = certain;
  }

  /** Returns the first misuse among a failure, its causes and their suppressed ones, or null. */
  static @Nullable ScopeMisuse in(Throwable failure) {
    Deque<Throwable> suppressed = new ArrayDeque<>();
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>()); // there may be cycles
    for (Throwable next = failure; next != null && seen.add(next); next = next.getCause()) {
      if (next instanceof ScopeMisuse misuse) {
        return misuse;
      }
      Collections.addAll(suppressed, next.getSuppressed());
    }
    for (Throwable next = suppressed.poll(); next != null; next = suppressed.poll()) {
      if (next instanceof ScopeMisuse misuse && misuse.certain) {
        return misuse;
      }
      if (seen.add(next)) {
        Collections.addAll(suppressed, next.getSuppressed());
        if (next.getCause() != null) {
          suppressed.add(next.getCause());
        }
      }
    }
    return null;
  }
}
