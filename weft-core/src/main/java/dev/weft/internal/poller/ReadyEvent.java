package dev.weft.internal.poller;

/**
 * An event that a thread waits for. The thread that causes the event unparks the waiting thread
 * afterwards. Dumps show its text as the thing that the fiber waits for.
 */
public interface ReadyEvent {
  /** Returns whether the event has come. */
  boolean hasCome();
}
