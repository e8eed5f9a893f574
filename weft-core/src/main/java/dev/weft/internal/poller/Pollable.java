package dev.weft.internal.poller;

/** A socket or channel that is registered at a poller, which calls it when it is ready. */
public abstract class Pollable {
  // its slot and the number of its registration, for EpollPoller; 0 if it has none
  volatile long token;

  /**
   * Called by the polling thread when it may be readable or writable, or has failed (both). Must
   * not block. The call may be spurious.
   *
   * @param directions a set of {@link Poller#READ} and {@link Poller#WRITE}
   * @param ended whether the other side will send no more, or an error is pending
   */
  protected abstract void onReady(int directions, boolean ended);

  /**
   * Called when another pollable is to be registered for a descriptor: returns true if this
   * pollable was registered for it, no thread waits at it, and it gives the registration up.
   */
  protected boolean givesUpRegistration(int fd) {
    return false;
  }
}
