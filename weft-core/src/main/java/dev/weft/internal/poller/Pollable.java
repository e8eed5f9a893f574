package dev.weft.internal.poller;

/** Something that can become readable or writable, and is told so by the poller it is added to. */
public abstract class Pollable {
  // its slot and the number of its registration, for EpollPoller; 0 if it has none
  volatile long token;

  /**
   * Called by the thread that polls, when something may be read or written, or has failed (both).
   * Must not block. It may be called for no reason.
   *
   * @param directions a set of {@link Poller#READ} and {@link Poller#WRITE}
   * @param ended whether the other side will send no more, or an error is pending
   */
  protected abstract void onReady(int directions, boolean ended);

  /**
   * Asked when another pollable is to be registered for this descriptor: returns true if this one
   * was registered for it, is not waited for, and gives it up.
   */
  protected boolean letsGo(int fd) {
    return false;
  }
}
