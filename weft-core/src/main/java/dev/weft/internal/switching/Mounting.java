package dev.weft.internal.switching;

import static java.lang.invoke.MethodHandles.constant;
import static java.lang.invoke.MethodHandles.dropArguments;
import static java.lang.invoke.MethodType.methodType;

import dev.weft.internal.Unchecked;
import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.jdk.Inside;
import dev.weft.internal.jdk.RequiredFlags;
import dev.weft.internal.jdk.UnsupportedJdk;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import jdk.internal.vm.Continuation;
import org.jspecify.annotations.Nullable;

/**
 * Runs the slices of virtual threads as {@code VirtualThread.runContinuation} does, but with half
 * its fences, and lets the worker decide when a thread that parks or yields can be made ready. Each
 * method here mirrors one of JDK 25's {@code VirtualThread}:
 *
 * <pre>
 *   run             runContinuation, mount, unmount   (the generated {@link MountingClass})
 *   after           afterDone or afterYield, which it calls
 *   leave           the parts of afterYield for PARKING and YIELDING
 *   park            park, but reads the permit, and leaves its exchange to LockSupport.park
 *   unparkIfParked  unpark, without the permit and the submit
 * </pre>
 *
 * <p>Invariants, beyond the JDK's own:
 *
 * <ul>
 *   <li>An interrupt reaches the carrier of a mounted thread, and does not stay with a carrier that
 *       the thread has left. {@code VirtualThread.interrupt} sets interrupted, then reads the
 *       carrier, under the thread's interrupt lock. So a mount writes the carrier, has a fence (the
 *       state), then reads interrupted; an unmount clears the carrier, has a fence (the state
 *       again, in {@link #leave}), then reads interrupted, and takes the lock only if it is set.
 *       The JDK's own unmount takes the lock each time.
 *   <li>A slice that ends {@link #PARKS} or {@link #YIELDS} is not left yet: the state is PARKING
 *       or YIELDING, and no thread can make the thread ready, until {@link #leave}.
 * </ul>
 */
public final class Mounting {
  /** How a slice has ended: the JDK's code has left it; the caller has nothing to do. */
  public static final int LEFT = 0;

  /** How a slice has ended: the thread parks; the caller has to call {@link #leave}. */
  public static final int PARKS = 1;

  /** How a slice has ended: the thread yields; the caller has to call {@link #leave}. */
  public static final int YIELDS = 2;

  private static final MethodHandle RUN;
  private static final MethodHandle AFTER_DONE;
  private static final MethodHandle AFTER_YIELD;
  private static final MethodHandle YIELD;
  private static final VarHandle CONTINUATION;
  private static final VarHandle STATE;
  private static final VarHandle PERMIT;
  private static final VarHandle INTERRUPTED;
  private static final VarHandle INTERRUPT_LOCK;
  private static final int RUNNING;
  private static final int PARKING;
  private static final int PARKED;
  private static final int TIMED_PARKED;
  private static final int UNPARKED;
  private static final int YIELDING;
  private static final int YIELDED;
  private static final int STARTED;
  private static final int UNBLOCKED;
  private static final int TERMINATED;
  private static final int SUSPENDED;
  private static final @Nullable Throwable UNSUPPORTED;

  static {
    RequiredFlags.check();
    try {
      Class<?> type = Class.forName("java.lang.VirtualThread");
      Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      AFTER_DONE = ofThread(lookup.findVirtual(type, "afterDone", methodType(void.class)));
      AFTER_YIELD = ofThread(lookup.findVirtual(type, "afterYield", methodType(void.class)));
      YIELD = ofThread(lookup.findVirtual(type, "yieldContinuation", methodType(boolean.class)));
      CONTINUATION = lookup.findVarHandle(type, "cont", Continuation.class);
      STATE = lookup.findVarHandle(type, "state", int.class);
      PERMIT = lookup.findVarHandle(type, "parkPermit", boolean.class);
      Lookup inThread = MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
      INTERRUPTED = inThread.findVarHandle(Thread.class, "interrupted", boolean.class);
      INTERRUPT_LOCK = inThread.findVarHandle(Thread.class, "interruptLock", Object.class);
      RUNNING = state(lookup, "RUNNING");
      PARKING = state(lookup, "PARKING");
      PARKED = state(lookup, "PARKED");
      TIMED_PARKED = state(lookup, "TIMED_PARKED");
      UNPARKED = state(lookup, "UNPARKED");
      YIELDING = state(lookup, "YIELDING");
      YIELDED = state(lookup, "YIELDED");
      STARTED = state(lookup, "STARTED");
      UNBLOCKED = state(lookup, "UNBLOCKED");
      TERMINATED = state(lookup, "TERMINATED");
      SUSPENDED = state(lookup, "SUSPENDED");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "this JDK (" + Runtime.version() + ") has other virtual threads: use JDK 25", e);
    }
    MethodHandle run = dropArguments(constant(int.class, MountingClass.NOT_MINE), 0, Thread.class);
    Throwable unsupported = null;
    if (Inside.SWITCHES) {
      try {
        Inside.checkTested();
        run = MountingClass.define();
      } catch (UnsupportedJdk | ReflectiveOperationException | RuntimeException | LinkageError e) {
        unsupported = e;
      }
    }
    RUN = run;
    UNSUPPORTED = unsupported;
  }

  private Mounting() {}

  private static MethodHandle ofThread(MethodHandle handle) {
    return handle.asType(handle.type().changeParameterType(0, Thread.class));
  }

  static int state(Lookup lookup, String name) throws ReflectiveOperationException {
    return (int) lookup.findStaticVarHandle(lookup.lookupClass(), name, int.class).get();
  }

  /**
   * Throws if Weft had to leave the switching of threads to the JDK.
   *
   * @throws UnsupportedJdk if the JDK's virtual threads are not mounted as expected
   */
  public static void check() throws UnsupportedJdk {
    if (UNSUPPORTED != null) {
      throw UNSUPPORTED instanceof UnsupportedJdk known ? known : new UnsupportedJdk(UNSUPPORTED);
    }
    ContinuationRun.check();
  }

  /**
   * Runs a slice of a virtual thread on the current platform thread, unless the thread cannot go on
   * now; returns how the slice has ended. If not {@link #LEFT}, the caller has to call {@link
   * #leave}.
   *
   * @param slice the Runnable that the JDK gave the thread's executor
   */
  public static int run(Thread virtual, Runnable slice) {
    int state;
    try {
      state = (int) RUN.invokeExact(virtual);
    } catch (Throwable e) { // a failure of the JDK: VirtualThread.run catches what the body throws
      after(virtual);
      throw Unchecked.rethrow(e);
    }
    if (state == PARKING) {
      return PARKS;
    }
    if (state == YIELDING) {
      return YIELDS;
    }
    if (state == MountingClass.TAKEN_BACK) {
      VarHandle.fullFence();
      clearInterruptOfCarrier(virtual);
    } else if (state != MountingClass.NOT_MINE) {
      after(virtual);
      return LEFT;
    }
    slice.run();
    return LEFT;
  }

  /** Leaves a slice as the JDK does: the thread has ended, or waits for a time or a monitor. */
  private static void after(Thread virtual) {
    VarHandle.fullFence();
    clearInterruptOfCarrier(virtual);
    try {
      if (((Continuation) CONTINUATION.get(virtual)).isDone()) {
        AFTER_DONE.invokeExact(virtual);
      } else {
        AFTER_YIELD.invokeExact(virtual);
      }
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  /**
   * Leaves the slice of a thread: from now on any thread can make it ready, and another worker may
   * run it. Returns whether the caller has to make it ready: it yields, or was unparked meanwhile.
   *
   * @param end {@link #PARKS} or {@link #YIELDS}
   */
  public static boolean leave(Thread virtual, int end) {
    boolean parks = end == PARKS;
    STATE.setVolatile(virtual, parks ? PARKED : YIELDED);
    clearInterruptOfCarrier(virtual);
    return !parks
        || ((boolean) PERMIT.getVolatile(virtual)
            && STATE.compareAndSet(virtual, PARKED, UNPARKED));
  }

  /** Called by a carrier after a fence: clears an interrupt that was meant for the thread. */
  private static void clearInterruptOfCarrier(Thread virtual) {
    if ((boolean) INTERRUPTED.getVolatile(virtual)) {
      synchronized (INTERRUPT_LOCK.get(virtual)) { // waits until interrupt() has returned
        Thread.interrupted();
      }
    }
  }

  /** Parks the current thread like {@link LockSupport#park(Object)}. */
  public static void park(Object blocker) {
    if (Thread.currentThread().isVirtual()) {
      park(blocker, true);
    } else {
      LockSupport.park(blocker);
    }
  }

  /**
   * Parks the current thread, which is virtual, like {@link LockSupport#park(Object)}; returns
   * false at once if it is pinned to its carrier, or if there is no memory for unmounting it.
   */
  public static boolean parkUnlessPinned(Object blocker) {
    return park(blocker, false);
  }

  private static boolean park(Object blocker, boolean alsoPinned) {
    Thread me = Thread.currentThread();
    boolean parked = false;
    LockSupport.setCurrentBlocker(blocker);
    Object event = FlightEvents.recording() ? FlightEvents.beginWait() : null;
    try {
      boolean returnsAtOnce =
          (boolean) PERMIT.getVolatile(me) || (boolean) INTERRUPTED.getVolatile(me);
      parked = !returnsAtOnce && parkOffCarrier(me);
      if (!parked && (returnsAtOnce || alsoPinned)) {
        LockSupport.park();
        parked = true;
      }
    } finally {
      LockSupport.setCurrentBlocker(null);
      if (event != null && parked) {
        FlightEvents.endWait(event, blocker);
      }
    }
    return parked;
  }

  /** Parks the current thread unmounted; returns false at once if it is pinned. */
  private static boolean parkOffCarrier(Thread me) {
    boolean parked = false;
    STATE.setRelease(me, PARKING); // no fence: no thread acts on PARKING before leave()
    try {
      parked = (boolean) YIELD.invokeExact(me);
    } catch (OutOfMemoryError e) {
      return false; // as VirtualThread.park: the caller then parks on the carrier
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    } finally {
      if (!parked) {
        STATE.setVolatile(me, RUNNING);
      }
    }
    return parked;
  }

  /**
   * Returns whether a virtual thread, which is not mounted, would go on if its slice were run now:
   * not while {@code tryGetStackTrace} has suspended it. Reads a volatile field.
   */
  public static boolean canGoOn(Thread virtual) {
    int state = (int) STATE.getVolatile(virtual);
    return state == UNPARKED || state == YIELDED || state == UNBLOCKED || state == STARTED;
  }

  /**
   * Returns whether another thread looks at the stack of a virtual thread that is ready: the JDK's
   * {@code tryGetStackTrace}, or {@link UnmountedThread}. That thread submits it again, in case the
   * slice was run meanwhile and did nothing. A volatile read.
   */
  public static boolean isReadyButLookedAt(Thread virtual) {
    int state = (int) STATE.getVolatile(virtual);
    return (state & SUSPENDED) != 0
        && (state == (YIELDED | SUSPENDED)
            || state == (UNPARKED | SUSPENDED)
            || state == (UNBLOCKED | SUSPENDED));
  }

  /** Returns whether a virtual thread is parked with a time limit; a volatile read. */
  public static boolean isParkedForATime(Thread virtual) {
    return (int) STATE.getVolatile(virtual) == TIMED_PARKED;
  }

  /** Returns the stack of a virtual thread that the caller, and no other thread, is to mount. */
  public static StackTraceElement[] stackOf(Thread virtual) {
    return ((Continuation) CONTINUATION.get(virtual)).getStackTrace();
  }

  /** Returns whether a virtual thread has run its last slice, or could not be started. */
  public static boolean hasEnded(Thread virtual) {
    return (int) STATE.getVolatile(virtual) == TERMINATED;
  }

  /** Returns whether the thread has been started and has not run since. */
  public static boolean isToBegin(Thread virtual) {
    return (int) STATE.getVolatile(virtual) == STARTED;
  }

  /**
   * Unparks a virtual thread if it is parked without a time limit and unmounted; the caller then
   * has to queue it. Else does nothing and returns false. This is the compare-and-set of {@code
   * VirtualThread.unpark}, without the permit: {@link #park} consumes none.
   */
  public static boolean unparkIfParked(Thread virtual) {
    return STATE.compareAndSet(virtual, PARKED, UNPARKED);
  }
}
