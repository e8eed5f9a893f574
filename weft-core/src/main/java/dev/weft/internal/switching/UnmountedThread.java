package dev.weft.internal.switching;

import static java.lang.invoke.MethodType.methodType;

import dev.weft.internal.Unchecked;
import dev.weft.internal.jdk.RequiredFlags;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.VarHandle;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds a virtual thread still for a look from outside, as {@code VirtualThread.tryGetStackTrace}
 * does: while the SUSPENDED bit is in the state no carrier can mount the thread, and an event that
 * would make it runnable sets another field, which the looking thread checks afterwards.
 *
 * <p>A mounted thread cannot be held still.
 */
final class UnmountedThread {
  /** How long to wait for another looking thread, which may have lost its core. */
  private static final long MOST_WAIT_NANOS = 1_000_000_000;

  private static final VarHandle STATE;
  private static final VarHandle PARK_PERMIT;
  private static final VarHandle BLOCK_PERMIT;
  private static final VarHandle NOTIFIED;
  private static final VarHandle INTERRUPTED;
  private static final MethodHandle SUBMIT;
  private static final int SUSPENDED;
  private static final int PARKED;
  private static final int TIMED_PARKED;
  private static final int UNPARKED;
  private static final int YIELDED;
  private static final int BLOCKED;
  private static final int UNBLOCKED;
  private static final int WAIT;
  private static final int TIMED_WAIT;

  static {
    RequiredFlags.check();
    try {
      Class<?> type = Class.forName("java.lang.VirtualThread");
      Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      STATE = lookup.findVarHandle(type, "state", int.class);
      PARK_PERMIT = lookup.findVarHandle(type, "parkPermit", boolean.class);
      BLOCK_PERMIT = lookup.findVarHandle(type, "blockPermit", boolean.class);
      NOTIFIED = lookup.findVarHandle(type, "notified", boolean.class);
      INTERRUPTED =
          MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
              .findVarHandle(Thread.class, "interrupted", boolean.class);
      SUBMIT =
          lookup
              .findVirtual(type, "submitRunContinuation", methodType(void.class))
              .asType(methodType(void.class, Thread.class));
      SUSPENDED = Mounting.state(lookup, "SUSPENDED");
      PARKED = Mounting.state(lookup, "PARKED");
      TIMED_PARKED = Mounting.state(lookup, "TIMED_PARKED");
      UNPARKED = Mounting.state(lookup, "UNPARKED");
      YIELDED = Mounting.state(lookup, "YIELDED");
      BLOCKED = Mounting.state(lookup, "BLOCKED");
      UNBLOCKED = Mounting.state(lookup, "UNBLOCKED");
      WAIT = Mounting.state(lookup, "WAIT");
      TIMED_WAIT = Mounting.state(lookup, "TIMED_WAIT");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "this JDK (" + Runtime.version() + ") has other virtual threads: use JDK 25", e);
    }
  }

  private UnmountedThread() {}

  /**
   * Calls the function while the virtual thread cannot be mounted. Returns null, without a call, if
   * the thread is mounted, about to be, new or ended. Waits while another looking thread holds it.
   */
  static <R> @Nullable R holdStill(Thread virtual, Function<Thread, @Nullable R> look) {
    int state = stateAfterOtherLookers(virtual);
    if (!isUnmounted(state) || !STATE.compareAndSet(virtual, state, state | SUSPENDED)) {
      return null;
    }
    try {
      return look.apply(virtual);
    } finally {
      STATE.setVolatile(virtual, state);
      if (becameRunnable(virtual, state)) {
        submit(virtual);
      }
    }
  }

  /** Waits as {@code VirtualThread.asyncGetStackTrace} does; a look takes microseconds. */
  private static int stateAfterOtherLookers(Thread virtual) {
    int state = (int) STATE.getVolatile(virtual);
    long begin = System.nanoTime();
    while ((state & SUSPENDED) != 0 && System.nanoTime() - begin < MOST_WAIT_NANOS) {
      Thread.yield();
      state = (int) STATE.getVolatile(virtual);
    }
    return state;
  }

  private static boolean isUnmounted(int state) {
    return state == PARKED
        || state == TIMED_PARKED
        || state == UNPARKED
        || state == YIELDED
        || state == BLOCKED
        || state == UNBLOCKED
        || state == WAIT
        || state == TIMED_WAIT;
  }

  /**
   * Returns whether the thread has to be submitted. A thread that was ready has to be: a carrier
   * may have run an empty slice of it. A waiting thread has to be if an event came meanwhile.
   */
  private static boolean becameRunnable(Thread virtual, int state) {
    if (state == PARKED || state == TIMED_PARKED) {
      return (boolean) PARK_PERMIT.getVolatile(virtual)
          && STATE.compareAndSet(virtual, state, UNPARKED);
    }
    if (state == BLOCKED) {
      return (boolean) BLOCK_PERMIT.getVolatile(virtual)
          && STATE.compareAndSet(virtual, state, UNBLOCKED);
    }
    if (state == WAIT || state == TIMED_WAIT) {
      return ((boolean) NOTIFIED.getVolatile(virtual) || (boolean) INTERRUPTED.getVolatile(virtual))
          && STATE.compareAndSet(virtual, state, UNBLOCKED);
    }
    return true;
  }

  private static void submit(Thread virtual) {
    try {
      SUBMIT.invokeExact(virtual);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }
}
