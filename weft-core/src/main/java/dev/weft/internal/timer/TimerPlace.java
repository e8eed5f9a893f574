package dev.weft.internal.timer;

/**
 * Where a timer is from its beginning to its end: one worker's queue. All methods may be called
 * from any thread; each takes effect at once and as a whole.
 */
public interface TimerPlace {
  /** Returns whose place it is. */
  TimerHost host();

  /** Begins a one-shot: from now on it is pending, and stop() waits for it. */
  void beginOneShot(TimerNode timer, long deadline);

  /** Ends a one-shot; returns false, and does nothing, if it is not in the queue any more. */
  boolean cancelOneShot(TimerNode timer);

  /** Ends a one-shot that has left the queue and been called. */
  void endOneShot();

  /** Changes the time of a timer; returns false if it is not in the queue any more. */
  boolean move(TimerNode timer, long deadline);

  /** Puts a timer into the queue. */
  void add(TimerNode timer, long deadline);

  /** Takes a timer from the queue; returns false if it is not there any more. */
  boolean remove(TimerNode timer);
}
