package dev.weft.internal.hook;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.net.SocketName;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.Pollable;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.FiberCore;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor of the JDK's own sockets in one poller: at most one reader and one writer wait, and
 * each is unparked once.
 *
 * <pre>
 *   a reader waits for a socket      epoll_ctl: edge-triggered, stays registered after the edge
 *   a reader waits for it again      no system call
 *   a writer waits, or a reader of   epoll_ctl: one-shot
 *     a socket that is not known
 * </pre>
 *
 * <p>Invariants, under the lock:
 *
 * <ul>
 *   <li>The registration in the kernel covers at least the directions of reader and writer. It may
 *       cover more, because a thread that gives up does not change it; an event then finds no
 *       thread.
 *   <li>While socket is not null and that socket is open, the kernel watches it edge-triggered. The
 *       close of a socket removes its registration; the JDK's object for it is never used again.
 *   <li>If emptyAt equals changes, the socket had nothing to read after its last edge, and for data
 *       that has come since the kernel still has to deliver an edge. The field changes counts the
 *       edges and every other reason to try a read; a read that left nothing stores in emptyAt the
 *       value that changes had before the read.
 *   <li>A late event of a closed socket may unpark a thread that waits for the next socket with
 *       this descriptor: a spurious wake-up, after which the JDK checks again.
 * </ul>
 *
 * <p>A fiber that is about to read checks without the lock, and may find the socket empty although
 * an edge has not been delivered yet. That answer is right only for a call that then waits, and so
 * gets the edge: {@link #isEmpty} checks that it is such a call.
 */
public final class HookedDescriptor extends Pollable {
  /** After so many edges without a waiting reader the registration is silenced. */
  private static final int MOST_UNHEARD = 2;

  private static final int EDGES_OF_READING =
      EpollPoller.IN | EpollPoller.PEER_ENDED | EpollPoller.URGENT | EpollPoller.EDGE;

  private static final WeakReference<@Nullable Object> NO_CHANNEL = new WeakReference<>(null);

  private static final VarHandle CHANGES;

  static {
    try {
      CHANGES = MethodHandles.lookup().findVarHandle(HookedDescriptor.class, "changes", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final EpollPoller poller;
  private final int fd;
  private final EpollPoller.Control controlOfPolling;
  private final SpinLock lock = new SpinLock();

  // written under the lock
  private @Nullable Thread reader;
  private @Nullable Thread writer;
  private @Nullable Object socket; // the JDK's object of the socket that is watched edge-triggered
  private WeakReference<@Nullable Object> blockingCall = NO_CHANNEL; // see BlockingChannelCall
  private boolean ended; // the peer has ended or sent urgent data: a short read says nothing then
  private int changes = 1;

  @GuardedBy("lock")
  private int unheard; // how many edges in a row have found no reader

  // written by the worker's thread alone
  private int emptyAt;

  HookedDescriptor(EpollPoller poller, int fd, EpollPoller.Control controlOfPolling) {
    this.poller = poller;
    this.fd = fd;
    this.controlOfPolling = controlOfPolling;
  }

  /**
   * Returns whether this is the watched socket, it had nothing to read at the last poll, and the
   * reader is in a call that waits in this case.
   *
   * <p>A call of a {@code SocketChannel} waits in blocking mode only, and then has the same {@link
   * BlockingChannelCall} as the wait before it; in non-blocking mode it has none, or the object of
   * a channel of the user around it. A read of a {@code Socket} always waits and has none. An
   * interrupted thread would not wait for the edge.
   *
   * @param call the reader's {@link BlockingChannelCall}
   */
  boolean isEmpty(Object tried, @Nullable Object call, Thread reading) {
    return isEmpty(tried) && blockingCall.refersTo(call) && !reading.isInterrupted();
  }

  private boolean isEmpty(Object tried) {
    return socket == tried && emptyAt == changes();
  }

  /** Returns the count to pass to {@link #noteEmpty}; to be read before a read is tried. */
  int changes() {
    return (int) CHANGES.getAcquire(this);
  }

  /** Records that a read has left nothing; changesBefore was read before it. */
  void noteEmpty(Object tried, int changesBefore) {
    if (tried == socket && !ended) {
      emptyAt = changesBefore;
    }
  }

  /**
   * Has a thread unparked at the next event; returns false if the descriptor cannot be watched.
   *
   * @param tried the JDK's object of the socket that the thread waits for, or null if not certain
   * @param call the thread's {@link BlockingChannelCall}
   */
  boolean expect(
      int direction,
      Thread thread,
      @Nullable Object tried,
      @Nullable Object call,
      EpollPoller.Control control) {
    lock.lock();
    try {
      set(direction, thread);
      if (!blockingCall.refersTo(call)) {
        blockingCall = new WeakReference<>(call);
      }
      unheard = 0;
      if (tried != null && isEmpty(tried) && writer == null && !poller.isClosed()) {
        return true;
      }
      socket = writer == null ? tried : null;
      if (watch(control) == 0) {
        return true;
      }
      set(direction, null);
      return false;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns whether it has this number and no thread waits; then another pollable takes over its
   * registration.
   */
  @Override
  protected boolean givesUpRegistration(int number) {
    lock.lock();
    try {
      boolean idle = fd == number && reader == null && writer == null;
      if (idle) {
        forgetSocket();
      }
      return idle;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes a thread that goes on, after the event or for another reason. Called by that thread; if
   * the event woke it there is nothing to do, which it sees without the lock.
   */
  public void giveUp(int direction) {
    if ((direction == Poller.READ ? reader : writer) == null) {
      return;
    }
    lock.lock();
    try {
      set(direction, null);
      noteChange(); // the thread tries a read next
    } finally {
      lock.unlock();
    }
  }

  @Override
  protected void onReady(int directions, boolean hasEnded) {
    Thread toRead = null;
    Thread toWrite = null;
    lock.lock();
    try {
      ended |= hasEnded; // before the count: a thread that reads the new count sees it
      noteChange();
      if (reader == null && socket != null) {
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
        toRead = reader != null ? reader : toRead; // each tries its call and gets the error
        toWrite = writer != null ? writer : toWrite;
      }
    } finally {
      lock.unlock();
    }
    if (toRead != null) {
      FiberCore.unpark(toRead);
    }
    if (toWrite != null) {
      FiberCore.unpark(toWrite);
    }
  }

  /**
   * Counts an edge without a waiting reader: the reader is busy, or waits at another worker's
   * poller now. After MOST_UNHEARD such edges the kernel is to send no more.
   */
  @GuardedBy("lock")
  private void noteUnheard() {
    if (++unheard == MOST_UNHEARD) {
      forgetSocket();
      poller.silence(this, fd, controlOfPolling);
    }
  }

  private void forgetSocket() {
    socket = null;
    noteChange();
  }

  private void noteChange() {
    CHANGES.setRelease(this, changes + 1);
  }

  private void set(int direction, @Nullable Thread thread) {
    if (direction == Poller.READ) {
      reader = thread;
    } else {
      writer = thread;
    }
  }

  private int watch(EpollPoller.Control control) {
    ended = false;
    noteChange();
    return poller.watch(this, fd, socket != null ? EDGES_OF_READING : once(), control);
  }

  private int once() {
    return EpollPoller.ONE_SHOT
        | (reader != null ? EpollPoller.IN : 0)
        | (writer != null ? EpollPoller.OUT : 0);
  }

  /** What a thread waits for here, for dumps; without the lock, so it may be outdated. */
  @Override
  public String toString() {
    boolean sends = writer != null && reader == null;
    String peer = SocketName.ofPeer(fd);
    if (!peer.isEmpty()) {
      return (sends ? "room to send to " : "data from ") + peer + " (descriptor " + fd + ")";
    }
    String here = SocketName.ofThisSide(fd);
    return here.isEmpty()
        ? "descriptor " + fd
        : (sends ? "the connection of " : "")
            + "the socket at "
            + here
            + " (descriptor "
            + fd
            + ")";
  }
}
