package dev.weft.internal.timer;

import org.jspecify.annotations.Nullable;

/** One entry of a {@link TimerQueue}. It knows where it is, so that removing needs no search. */
public abstract class TimerNode {
  // when it is due, in ticks of its queue
  long dueTick;

  // the chunk that holds it, and where; null if it is in no queue
  @Nullable TimerChunk chunk;
  int index;

  /** Called when the time has come, after the node has left its queue. */
  public abstract void onExpired();

  /** Returns whether it is in a queue. */
  public final boolean isQueued() {
    return chunk != null;
  }
}
