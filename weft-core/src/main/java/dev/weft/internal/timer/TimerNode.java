package dev.weft.internal.timer;

import org.jspecify.annotations.Nullable;

/** One entry of a {@link TimerQueue}; it is its own list node, so that adding allocates nothing. */
public abstract class TimerNode {
  // when it is due, in ticks of its queue
  long dueTick;

  // the slot that holds it; -1 if it is in no queue
  int slot = -1;

  @Nullable TimerNode prev;
  @Nullable TimerNode next;

  /** Called when the time has come, after the node has left its queue. */
  public abstract void onExpired();

  /** Returns whether it is in a queue. */
  public final boolean isQueued() {
    return slot >= 0;
  }
}
