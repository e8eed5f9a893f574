package dev.weft.internal.timer;

/**
 * The queue of a timer from its start to its end: one worker's timer wheel. All methods may be
 * called on any thread; each is atomic.
 */
public interface TimerPlace {
  /** Returns the scheduler's timers that this place belongs to. */
  TimerHost host();

  /** Begins a one-shot: from now on it is pending, and stop() waits for it. */
  void beginOneShot(TimerNode timer, long deadline);

  /** Ends a one-shot; returns false, and does nothing, if it is not in the queue any more. */
  boolean cancelOneShot(TimerNode timer);

  /** Ends a one-shot that has left the queue and fired. */
  void endOneShot();

  /** Changes the time of a timer; returns false if it is not in the queue any more. */
  boolean move(TimerNode timer, long deadline);

  /** Puts a timer into the queue. */
  void add(TimerNode timer, long deadline);

  /** Takes a timer from the queue; returns false if it is not there any more. */
  boolean remove(TimerNode timer);
}
