package dev.weft.internal.switching;

import dev.weft.internal.jdk.RequiredFlags;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds monitors that the current thread holds, by walking its stack.
 *
 * <p>Slow (microseconds a frame), hence only for checks that run with assertions on. Works on
 * platform and virtual threads alike, which {@code ThreadMXBean} does not.
 */
public final class HeldMonitors {
  private static final StackWalker LIVE_WALKER;
  private static final MethodHandle MONITORS;

  static {
    RequiredFlags.check();
    try {
      Class<?> frame = Class.forName("java.lang.LiveStackFrame");
      MethodHandles.Lookup lookup =
          MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
      LIVE_WALKER =
          (StackWalker)
              lookup
                  .findStatic(frame, "getStackWalker", MethodType.methodType(StackWalker.class))
                  .invoke();
      MONITORS =
          lookup
              .findVirtual(frame, "getMonitors", MethodType.methodType(Object[].class))
              .asType(MethodType.methodType(Object[].class, StackWalker.StackFrame.class));
    } catch (Throwable e) {
      throw new IllegalStateException(
          "this JDK (" + Runtime.version() + ") has no live stack frames: use JDK 25", e);
    }
  }

  private HeldMonitors() {}

  /**
   * Describes the innermost held monitor, or returns null if there is none. Frames are looked at
   * from the caller downwards until one fits {@code bottom}.
   */
  public static @Nullable String describe(Predicate<StackWalker.StackFrame> bottom) {
    return LIVE_WALKER.walk(
        frames ->
            frames
                .takeWhile(bottom.negate())
                .map(HeldMonitors::describe)
                .filter(found -> found != null)
                .findFirst()
                .orElse(null));
  }

  private static @Nullable String describe(StackWalker.StackFrame frame) {
    Object[] monitors;
    try {
      monitors = (Object[]) MONITORS.invokeExact(frame);
    } catch (Throwable e) {
      throw new IllegalStateException("cannot read the monitors of " + frame, e);
    }
    for (Object monitor : monitors) {
      if (monitor != null) { // null: a slot of a block that has been left
        return "the monitor of a %s, taken in %s"
            .formatted(monitor.getClass().getName(), frame.toStackTraceElement());
      }
    }
    return null;
  }
}
