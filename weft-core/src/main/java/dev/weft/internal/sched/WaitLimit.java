package dev.weft.internal.sched;

/** A limited wait of the current thread, which closes it: see {@link Timeout}. */
public interface WaitLimit extends AutoCloseable {
  /** Parks until the thread is unparked; returns false, without parking, once the time is over. */
  boolean park(Object blocker);

  @Override
  void close();
}
