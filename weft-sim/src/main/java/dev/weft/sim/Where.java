package dev.weft.sim;

import dev.weft.sim.RunResult.TraceEvent;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Where a fiber is, for people: the call in which it waits, and the line of the program. */
final class Where {
  private static final Pattern API =
      Pattern.compile("dev\\.weft\\.((sync|channel|net|io|time)\\.)?[A-Z][^.]*");

  /** Classes of the simulation that are on stacks of fibers; tests share the package. */
  private static final Set<String> OWN =
      Set.of(
          "dev.weft.sim.Disks",
          "dev.weft.sim.Explorer",
          "dev.weft.sim.FileCalls",
          "dev.weft.sim.Host",
          "dev.weft.sim.Hosts",
          "dev.weft.sim.PlainThreads",
          "dev.weft.sim.Simulation",
          "dev.weft.sim.Stage",
          "dev.weft.sim.Surroundings",
          "dev.weft.sim.Unwinding",
          "dev.weft.sim.WeftSimulationExtension",
          "dev.weft.sim.Where");

  private Where() {}

  /** Describes where a thread, which is not running, waits. */
  static TraceEvent of(long nanos, int fiber, Thread thread, String verb) {
    String call = "";
    for (StackTraceElement frame : thread.getStackTrace()) {
      String type = frame.getClassName();
      if (isProgram(type)) {
        String what = call.isEmpty() ? "in " + frame.getMethodName() : "in " + call;
        return new TraceEvent(nanos, fiber, verb + " " + what, place(frame));
      }
      if (!isPlumbing(type)) {
        call = type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName();
      }
    }
    return new TraceEvent(nanos, fiber, call.isEmpty() ? verb : verb + " in " + call, "");
  }

  /** Returns the line of the program that a thread is in; empty if there is none. */
  static String programLine(Thread thread) {
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (isProgram(frame.getClassName())) {
        return place(frame);
      }
    }
    return "";
  }

  /**
   * Returns the innermost frame of the program, else the innermost of all; null if none is known.
   */
  static @Nullable StackTraceElement programFrame(Throwable failure) {
    StackTraceElement[] stack = failure.getStackTrace();
    for (StackTraceElement frame : stack) {
      if (isProgram(frame.getClassName())) {
        return frame;
      }
    }
    return stack.length == 0 ? null : stack[0];
  }

  private static String place(StackTraceElement frame) {
    return frame.getFileName() + ":" + frame.getLineNumber();
  }

  static boolean isProgram(String type) {
    return !type.startsWith("java.")
        && !type.startsWith("jdk.")
        && !type.startsWith("sun.")
        && !isAssertions(type)
        && !isWeft(type);
  }

  private static boolean isAssertions(String type) {
    return type.startsWith("org.junit.")
        || type.startsWith("org.assertj.")
        || type.startsWith("org.opentest4j.")
        || type.startsWith("org.hamcrest.")
        || type.startsWith("org.testng.")
        || type.startsWith("com.google.common.truth.");
  }

  private static boolean isWeft(String type) {
    return type.startsWith("dev.weft.internal.")
        || API.matcher(type).matches()
        || type.startsWith("dev.weft.sim.boot.")
        || type.startsWith("dev.weft.sim.net.")
        || type.startsWith("dev.weft.cli.")
        || OWN.contains(type.indexOf('$') < 0 ? type : type.substring(0, type.indexOf('$')));
  }

  private static boolean isPlumbing(String type) {
    return type.startsWith("java.lang.VirtualThread")
        || type.startsWith("jdk.internal.vm.")
        || type.startsWith("dev.weft.internal.")
        || type.startsWith("dev.weft.sim.")
        || type.equals("java.util.concurrent.locks.LockSupport")
        || type.startsWith("java.util.concurrent.locks.Abstract")
        || type.equals("java.util.concurrent.ForkJoinPool");
  }
}
