package dev.weft.internal.timer;

import org.jspecify.annotations.Nullable;

/**
 * One entry of a {@link TimerQueue}. It knows its place there, so that removing needs no search.
 */
public abstract class TimerNode {
  // when it is due, by the clock of its queue
  long deadline;

  // the chunk that holds it, and its index there; null if it is in no queue
  @Nullable TimerChunk chunk;
  int index;

  /** Called when it is due, after the node has left its queue. */
  public abstract void onExpired();

  /** Returns the time for which it was last put into a queue. */
  public final long deadline() {
    return deadline;
  }

  /** Returns whether it is in a queue. */
  public final boolean isQueued() {
    return chunk != null;
  }
}
