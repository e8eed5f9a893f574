package dev.weft.internal.lock;

import dev.weft.internal.switching.Pinning;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock for a few instructions: its holder neither waits nor calls foreign code, so a thread that
 * wants it spins. Not reentrant. To be used with {@code try} and {@code finally}, so that nothing
 * thrown under it leaves it taken; a {@link StackOverflowError} right before the {@code try}, or in
 * {@link #unlock}, still does. A class that is locked often may extend it, to save an object.
 *
 * <p>It is a {@link Lock} because Error Prone checks {@code @GuardedBy} for monitors and for the
 * JDK's lock interface only. The methods that would have to wait in another way are refused.
 */
public class SpinLock implements Lock {
  /** How many tries before a nap: by then the holder must have lost its core. */
  private static final int SPINS = 2_000;

  private static final VarHandle TAKEN;

  static {
    try {
      TAKEN = MethodHandles.lookup().findVarHandle(SpinLock.class, "taken", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused")
  private volatile int taken;

  @Override
  public final void lock() {
    if (!TAKEN.compareAndSet(this, 0, 1)) {
      lockSlow();
    }
  }

  private void lockSlow() {
    for (int i = 1; !(taken == 0 && TAKEN.compareAndSet(this, 0, 1)); i++) {
      if (i % SPINS == 0) {
        Pinning.nap(); // frees this core for the holder
      } else {
        Thread.onSpinWait();
      }
    }
  }

  @Override
  public final void unlock() {
    TAKEN.setRelease(this, 0);
  }

  @Override
  public final boolean tryLock() {
    return TAKEN.compareAndSet(this, 0, 1);
  }

  @Override
  public final void lockInterruptibly() {
    throw refused("an interruptible wait");
  }

  @Override
  public final boolean tryLock(long time, TimeUnit unit) {
    throw refused("a time limit");
  }

  @Override
  public final Condition newCondition() {
    throw refused("conditions");
  }

  private static UnsupportedOperationException refused(String what) {
    return new UnsupportedOperationException("a spin lock does without " + what + ": use a Mutex");
  }

  /** Returns whether a thread holds it, or did a moment ago. */
  public final boolean isTaken() {
    return taken != 0;
  }
}
