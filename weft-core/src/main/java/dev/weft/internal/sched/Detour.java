package dev.weft.internal.sched;

/** A blocking call of a fiber as its scheduler sees it: the way to a helper thread and back. */
public interface Detour {
  /** Returns whether a helper runs the fiber now. */
  boolean isOnHelper();

  /** Returns whether the fiber waits for a helper. */
  boolean isWaiting();

  /** Returns the name of the helper thread that runs the fiber; empty if none does. */
  String helperName();

  /** Gives the ready fiber to the helper that has taken this call; returns false if none has. */
  boolean takes();
}
