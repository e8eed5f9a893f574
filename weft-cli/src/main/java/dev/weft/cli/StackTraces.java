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
  private static final String LAUNCHER = "dev.weft.cli.";

  private static final Set<String> BELOW_A_FIBER =
      Set.of(
          "dev.weft.internal.sched.ProgramMain",
          "dev.weft.internal.sched.Slice",
          "dev.weft.internal.sched.FiberExecutor",
          "java.lang.VirtualThread",
          "jdk.internal.misc.Unsafe"); // initializes the class of main

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
    boolean ours = false;
    while (end > 0 && isBelowMain(trace[end - 1].getClassName())) {
      end--;
      ours |= trace[end].getClassName().startsWith(LAUNCHER);
    }
    if (ours) { // else it comes from another stack than main's
      thrown.setStackTrace(Arrays.copyOf(trace, end));
    }
    trim(thrown.getCause(), seen);
    for (Throwable suppressed : thrown.getSuppressed()) {
      trim(suppressed, seen);
    }
  }

  private static boolean isBelowMain(String className) {
    return className.startsWith(LAUNCHER)
        || className.startsWith("java.lang.invoke.")
        || BELOW_A_FIBER.contains(className);
  }
}
