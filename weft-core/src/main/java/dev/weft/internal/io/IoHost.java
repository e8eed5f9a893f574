package dev.weft.internal.io;

import dev.weft.Body;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.poller.ReadyEvent;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What {@code dev.weft.io} needs of a scheduler. */
public interface IoHost {
  /** Returns the poller of the worker that serves the calling thread, else of any. */
  Poller poller();

  /** Runs a callback as a fiber and reports what it throws. */
  void fire(Body callback);

  /**
   * Returns what lets the calling fiber's suspend return.
   *
   * @throws IllegalStateException outside fibers
   */
  Runnable wakerOfCurrentFiber();

  /**
   * Told when an event begins (+1) and ceases (-1) to be pending; pending ones keep stop() waiting.
   *
   * @throws java.util.concurrent.RejectedExecutionException if one begins and the scheduler has
   *     stopped
   */
  void pending(int change);

  /** Returns how many events are pending. */
  int pending();

  /**
   * Parks the current thread until the event has come; returns false if the limit, if any, is over
   * first. A cancel point.
   *
   * @throws InterruptedException if the thread is interrupted, or the fiber cancelled
   */
  boolean await(ReadyEvent event, @Nullable Duration limit) throws InterruptedException;
}
