package dev.weft.internal.hook;

import static java.lang.invoke.MethodType.methodType;

import dev.weft.internal.Unchecked;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;

/**
 * Finds the channel in which a thread makes a blocking call. {@code
 * AbstractInterruptibleChannel.begin} puts an object of its channel into {@code Thread.nioBlocker},
 * where {@code Thread.interrupt} finds it, and {@code end} clears the field; the JDK's channels
 * call the two around a call in blocking mode, and around no other. {@code java.net.Socket} calls
 * neither.
 */
public final class BlockingChannelCall {
  private static final @Nullable MethodHandle BLOCKER = find();

  private BlockingChannelCall() {}

  /**
   * Returns the object that stands for the channel in which the current thread makes a blocking
   * call, or null: always the same object for one channel, and never one object for two channels.
   */
  public static @Nullable Object of(Thread current) {
    if (BLOCKER == null) {
      return null;
    }
    try {
      return (Object) BLOCKER.invokeExact(current);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  /** Returns whether this JDK's threads have the field. */
  static boolean isKnown() {
    return BLOCKER != null;
  }

  private static @Nullable MethodHandle find() {
    try {
      return MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
          .findGetter(Thread.class, "nioBlocker", Class.forName("sun.nio.ch.Interruptible"))
          .asType(methodType(Object.class, Thread.class));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
