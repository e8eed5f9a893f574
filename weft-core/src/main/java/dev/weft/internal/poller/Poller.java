package dev.weft.internal.poller;

/** Where an idle worker waits. Only the worker's thread waits; any thread wakes it. */
public interface Poller {
  /** Waits until woken, or for at most so many nanoseconds; may return early for no reason. */
  void await(long nanos);

  /** Makes the current or the next {@link #await} return at once. */
  void wakeUp();
}
