package dev.weft;

/**
 * The helper threads, on which {@linkplain Weft#blocking blocking calls} run, for JMX clients: the
 * bean {@code dev.weft:type=Helpers}. All schedulers share the helpers.
 */
public interface HelpersMXBean {
  /** Returns how many helper threads there are, idle ones included. */
  int getThreads();

  /** Returns how many there may be: {@code -Dweft.blocking.threads}. */
  int getLimit();

  /** Returns how many calls wait for a helper. */
  int getQueued();
}
