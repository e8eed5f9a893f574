package dev.weft.internal.switching;

import dev.weft.internal.jdk.RequiredFlags;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The {@link ScopedValue} bindings of the current thread. The JDK keeps them per thread, not per
 * continuation: a coroutine that yields inside {@code ScopedValue.where(…)} would leave its
 * bindings to its resumer, so each switch exchanges them.
 */
public final class ScopedBindings {
  private static final VarHandle BINDINGS;
  private static final MethodHandle CURRENT;

  static {
    RequiredFlags.check();
    try {
      BINDINGS =
          MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
              .findVarHandle(Thread.class, "scopedValueBindings", Object.class);
      CURRENT =
          MethodHandles.privateLookupIn(ScopedValue.class, MethodHandles.lookup())
              .findStatic(
                  ScopedValue.class,
                  "scopedValueBindings",
                  MethodType.methodType(Class.forName("java.lang.ScopedValue$Snapshot")))
              .asType(MethodType.methodType(Object.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "this JDK (" + Runtime.version() + ") keeps scoped values elsewhere: use JDK 25", e);
    }
  }

  private ScopedBindings() {}

  /**
   * Returns the bindings of the current thread, the same object for the same bindings: the field
   * alone has several values for none, and none at all after a stack overflow.
   */
  public static Object current() {
    try {
      return (Object) CURRENT.invokeExact();
    } catch (Throwable e) {
      throw new IllegalStateException("this JDK finds scoped values in another way", e);
    }
  }

  /** Returns the bindings of the thread, which must be the current one. */
  public static @Nullable Object of(Thread current) {
    return BINDINGS.get(current);
  }

  /** Replaces the bindings of the thread, which is the current one or has not started. */
  public static void set(Thread current, @Nullable Object bindings) {
    BINDINGS.set(current, bindings);
  }
}
