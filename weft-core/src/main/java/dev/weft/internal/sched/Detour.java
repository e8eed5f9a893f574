package dev.weft.internal.sched;

/**
 * The way of a fiber to a thread that is no worker, and back, as its scheduler sees it: for a
 * blocking call to a helper thread, for long computations to a computing thread ({@link SetApart}).
 */
public interface Detour {
  /** Returns whether a helper runs the fiber now. */
  boolean isOnHelper();

  /** Returns whether the fiber stays on its helper when it waits. */
  boolean pins();

  /** Returns whether the fiber waits for a helper. */
  boolean isWaiting();

  /** Returns the name of the helper thread that runs the fiber; empty if none does. */
  String helperName();

  /** Gives the ready fiber to the helper that has taken this call; returns false if none has. */
  boolean takes();
}
