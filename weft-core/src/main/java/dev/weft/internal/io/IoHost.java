package dev.weft.internal.io;

import dev.weft.Body;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.poller.ReadyEvent;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The services of a scheduler that {@code dev.weft.io} needs. */
public interface IoHost {
  /** Returns the poller of the current thread's worker; on a plain thread, of any worker. */
  Poller poller();

  /** Runs a callback as a fiber and reports its failure. */
  void fire(Body callback);

  /**
   * Returns a waker, which lets the current or next suspend of the calling fiber return.
   *
   * @throws IllegalStateException outside fibers
   */
  Runnable wakerOfCurrentFiber();

  /**
   * Called when an event begins (+1) and ceases (-1) to be pending; stop() waits for pending
   * events.
   *
   * @throws java.util.concurrent.RejectedExecutionException if an event begins and the scheduler
   *     has stopped
   */
  void pending(int change);

  /** Returns how many events are pending. */
  int pending();

  /**
   * Parks the current thread until the event has come; returns false if the limit, if any, passes
   * first. A cancel point.
   *
   * @throws InterruptedException if the thread is interrupted, or the fiber cancelled
   */
  boolean await(ReadyEvent event, @Nullable Duration limit) throws InterruptedException;
}
