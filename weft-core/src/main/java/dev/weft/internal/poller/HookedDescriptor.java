package dev.weft.internal.poller;

import dev.weft.internal.wait.SpinLock;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor's number as one poller watches it for the JDK's own sockets: one reader and one
 * writer at most wait, each to be unparked once.
 *
 * <pre>
 *   a reader waits        the kernel watches by edge, and goes on watching when the edge has come
 *   the same one again    nothing is said to the kernel: it is trusted to watch still, for a while
 *   anybody else          the kernel is told anew
 * </pre>
 *
 * <p>Invariants, under the lock:
 *
 * <ul>
 *   <li>Whoever is expected is watched for: the kernel's watch covers at least the directions of
 *       the threads named here. It may cover more, since nobody tells it when a thread gives up;
 *       what it tells then finds no one.
 *   <li>The exception is a trusted wait: the socket may have been closed, and its number given to
 *       another that nobody watches. {@link HookedDescriptors} has each of these waits confirmed,
 *       by telling the kernel after all, before the worker sleeps and after some milliseconds.
 *   <li>No edge is lost: one that finds no reader is remembered in unheard, and the next wait is
 *       not a trusted one.
 *   <li>It is about a number. A socket that is closed without a word takes its watch with it, and
 *       an event of it that comes late may unpark a thread that waits for the next one of this
 *       number: the JDK looks again whenever it is unparked.
 * </ul>
 */
public final class HookedDescriptor extends Pollable {
  /** After so many edges that nobody waited for the kernel is told to be silent. */
  private static final int MOST_UNHEARD = 8;

  private final EpollPoller poller;
  private final HookedDescriptors all;
  private final int fd;
  private final EpollPoller.Control controlOfPolling;
  private final SpinLock lock = new SpinLock();

  // under the lock
  private @Nullable Thread reader;
  private @Nullable Thread writer;
  private boolean watchStays; // by edge, for one who reads, when last told
  private long lastReader; // the id of the thread for whom it stays
  private int unheard; // edges that found no reader since the kernel was last told
  private boolean trusted; // the reader waits without a word to the kernel

  // since when it does; for HookedDescriptors, under its lock and this one
  int generation;

  HookedDescriptor(
      EpollPoller poller, HookedDescriptors all, int fd, EpollPoller.Control controlOfPolling) {
    this.poller = poller;
    this.all = all;
    this.fd = fd;
    this.controlOfPolling = controlOfPolling;
  }

  boolean expect(int direction, Thread thread, EpollPoller.Control control) {
    lock.lock();
    try {
      set(direction, thread);
      if (direction == Poller.READ && mayTrust(thread)) {
        trusted = true;
        all.noteTrusted(this);
        return true;
      }
      watchStays = writer == null;
      lastReader = thread.threadId();
      if (watch(control) == 0) {
        return true;
      }
      set(direction, null);
      return false;
    } finally {
      lock.unlock();
    }
  }

  private boolean mayTrust(Thread thread) {
    return watchStays
        && unheard == 0
        && lastReader == thread.threadId()
        && writer == null
        && !poller.isClosed();
  }

  /**
   * Tells the kernel of a trusted wait that has lasted since before this generation; called by the
   * thread that polls.
   */
  void confirm(int before) {
    Thread misled = null;
    lock.lock();
    try {
      if (trusted && generation - before < 0 && watch(controlOfPolling) != 0) {
        misled = reader; // it sees for itself what is wrong
        set(Poller.READ, null);
      }
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(misled);
  }

  /**
   * Returns whether it has this number and nobody waits; then its watch is somebody else's from now
   * on.
   */
  boolean letsGo(int number) {
    lock.lock();
    try {
      boolean idle = fd == number && reader == null && writer == null;
      watchStays &= !idle;
      return idle;
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
      if (reader == null && watchStays) {
        noteUnheard();
      }
      if ((directions & Poller.READ) != 0) {
        toRead = reader;
        set(Poller.READ, null);
      }
      if ((directions & Poller.WRITE) != 0) {
        toWrite = writer;
        set(Poller.WRITE, null);
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

  /**
   * The reader is busy, or waits by another worker's poller now: then it is not to be told here.
   */
  private void noteUnheard() {
    if (++unheard == MOST_UNHEARD) {
      watchStays = false;
      poller.silence(this, fd, controlOfPolling);
    }
  }

  private void set(int direction, @Nullable Thread thread) {
    if (direction == Poller.READ) {
      reader = thread;
      trusted = false;
    } else {
      writer = thread;
    }
  }

  private int watch(EpollPoller.Control control) {
    unheard = 0;
    trusted = false;
    int interest = (reader != null ? EpollPoller.IN : 0) | (writer != null ? EpollPoller.OUT : 0);
    int how = watchStays ? EpollPoller.EDGE : EpollPoller.ONE_SHOT;
    return poller.watch(this, fd, interest | how, control);
  }

  @Override
  public String toString() {
    return "descriptor " + fd;
  }
}
