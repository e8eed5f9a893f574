package dev.weft.internal.poller;

/**
 * What a thread waits for. The thread that makes it come about unparks the waiting thread
 * afterwards. Its text is what dumps say the fiber waits for.
 */
public interface ReadyEvent {
  /** Returns whether it has come about. */
  boolean hasCome();
}
