package dev.weft.internal.sched;

/** A wait of the current thread with a time limit; that thread closes it. See {@link Timeout}. */
public interface WaitLimit extends AutoCloseable {
  /**
   * Parks until the thread is unparked; returns false, without a park, once the limit has passed.
   */
  boolean park(Object blocker);

  @Override
  void close();
}
