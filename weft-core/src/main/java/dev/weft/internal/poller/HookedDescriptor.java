package dev.weft.internal.poller;

import dev.weft.internal.wait.SpinLock;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor's number as one poller watches it for the JDK's own sockets: one reader and one
 * writer at most wait, each to be unparked once.
 *
 * <p>Invariants, under the lock:
 *
 * <ul>
 *   <li>Whoever is expected is watched for: the kernel's one-shot watch covers at least the
 *       directions of the threads named here. It may cover more, since nobody tells it when a
 *       thread gives up; what it tells then finds no one.
 *   <li>It is about a number. A socket that is closed without a word takes its watch with it, and
 *       an event of it that comes late may unpark a thread that waits for the next one of this
 *       number: the JDK looks again whenever it is unparked.
 * </ul>
 */
public final class HookedDescriptor extends Pollable {
  private final EpollPoller poller;
  private final int fd;
  private final EpollPoller.Control controlOfPolling;
  private final SpinLock lock = new SpinLock();

  // under the lock
  private @Nullable Thread reader;
  private @Nullable Thread writer;

  HookedDescriptor(EpollPoller poller, int fd, EpollPoller.Control controlOfPolling) {
    this.poller = poller;
    this.fd = fd;
    this.controlOfPolling = controlOfPolling;
  }

  boolean expect(int direction, Thread thread, EpollPoller.Control control) {
    lock.lock();
    try {
      set(direction, thread);
      if (watch(control) == 0) {
        return true;
      }
      set(direction, null);
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether it has this number and nobody waits. */
  boolean isIdle(int number) {
    lock.lock();
    try {
      return fd == number && reader == null && writer == null;
    } finally {
      lock.unlock();
    }
  }

  /** Takes a thread back that goes on, be it for the event or for something else. */
  public void giveUp(int direction) {
    lock.lock();
    try {
      set(direction, null);
    } finally {
      lock.unlock();
    }
  }

  @Override
  protected void onReady(int directions, boolean ended) {
    Thread toRead = null;
    Thread toWrite = null;
    lock.lock();
    try {
      if ((directions & Poller.READ) != 0) {
        toRead = reader;
        reader = null;
      }
      if ((directions & Poller.WRITE) != 0) {
        toWrite = writer;
        writer = null;
      }
      if ((reader != null || writer != null) && watch(controlOfPolling) != 0) {
        toRead = reader != null ? reader : toRead; // they see for themselves what is wrong
        toWrite = writer != null ? writer : toWrite;
      }
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(toRead);
    LockSupport.unpark(toWrite);
  }

  private void set(int direction, @Nullable Thread thread) {
    if (direction == Poller.READ) {
      reader = thread;
    } else {
      writer = thread;
    }
  }

  private int watch(EpollPoller.Control control) {
    int interest = (reader != null ? EpollPoller.IN : 0) | (writer != null ? EpollPoller.OUT : 0);
    return poller.watch(this, fd, interest | EpollPoller.ONE_SHOT, control);
  }

  @Override
  public String toString() {
    return "descriptor " + fd;
  }
}
