package dev.weft.internal;

import dev.weft.Scheduler;
import dev.weft.internal.poller.CallMemory;
import dev.weft.internal.poller.Poller;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How a fiber, or any thread, waits for I/O: what sockets need of the scheduler. */
public abstract class IoWaits {
  /**
   * What is waited for. Who makes it come about unparks the waiting thread afterwards. Its text is
   * what dumps say the fiber waits for.
   */
  public interface Event {
    /** Returns whether it has come about. */
    boolean hasCome();
  }

  private static volatile @Nullable IoWaits instance;

  /** Called once, by {@link Scheduler}. */
  public static void set(IoWaits waits) {
    instance = waits;
  }

  /** Returns the one there is. */
  public static IoWaits get() {
    IoWaits waits = instance;
    return waits != null ? waits : first();
  }

  private static IoWaits first() {
    try {
      MethodHandles.lookup().ensureInitialized(Scheduler.class);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    return Objects.requireNonNull(instance);
  }

  /**
   * Returns memory for calls of the system's: the worker's, so that no socket needs its own. It is
   * the current thread's until that waits or yields.
   */
  public abstract CallMemory callMemory();

  /** Returns the poller of the current fiber's worker; outside fibers one of the shared ones. */
  public abstract Poller poller();

  /**
   * Parks the current thread until the event has come; returns false if the limit, if any, is over
   * first. A cancel point.
   *
   * @throws InterruptedException if the thread is interrupted, or the fiber cancelled
   */
  public abstract boolean await(Event event, @Nullable Duration limit) throws InterruptedException;

  /** Waits for so long: a cancel point. */
  public abstract void sleep(Duration time) throws InterruptedException;
}
