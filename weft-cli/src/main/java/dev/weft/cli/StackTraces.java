package dev.weft.cli;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes the launcher out of stack traces, so that a program's read as they do under {@code java}.
 */
final class StackTraces {
  private StackTraces() {}

  /** Returns the exception itself, with the launcher's frames cut off it and all it refers to. */
  static Throwable withoutLauncher(Throwable thrown) {
    trim(thrown, Collections.newSetFromMap(new IdentityHashMap<>()));
    return thrown;
  }

  private static void trim(@Nullable Throwable thrown, Set<Throwable> seen) {
    if (thrown == null || !seen.add(thrown)) {
      return;
    }
    StackTraceElement[] trace = thrown.getStackTrace();
    int end = trace.length;
    while (end > 0 && isLauncher(trace[end - 1].getClassName())) {
      end--;
    }
    // cut only what ran on the launcher's stack
    if (end < trace.length) {
      thrown.setStackTrace(Arrays.copyOf(trace, end));
    }
    trim(thrown.getCause(), seen);
    for (Throwable suppressed : thrown.getSuppressed()) {
      trim(suppressed, seen);
    }
  }

  private static boolean isLauncher(String className) {
    return className.startsWith("dev.weft.cli.")
        || className.startsWith("jdk.internal.reflect.")
        || className.startsWith("java.lang.reflect.");
  }
}
