package dev.weft.internal.hook;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.Pollable;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.FiberCore;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor's number as one poller watches it for the JDK's own sockets: one reader and one
 * writer at most wait, each to be unparked once.
 *
 * <pre>
 *   a reader waits for a socket   the kernel watches by edge, and goes on when the edge has come
 *   one waits for it again        nothing is said to the kernel
 *   anybody else waits            the kernel is told anew, for once
 * </pre>
 *
 * <p>Invariants, under the lock:
 *
 * <ul>
 *   <li>Whoever is expected is watched for: the kernel's watch covers at least the directions of
 *       the threads named here. It may cover more, since nobody tells it when a thread gives up;
 *       what it tells then finds no one.
 *   <li>As long as socket is not null and that socket is open, the kernel watches it by edge. A
 *       socket that is closed takes its watch with it; its object then never comes again.
 *   <li>If emptyAt equals changes, the socket had nothing to read after its last edge, and all that
 *       has come since is an edge that the kernel has still to tell. For changes counts the edges,
 *       and whatever else makes a look at the socket worth while; a try that found nothing leaves
 *       behind what it was before the try.
 *   <li>An event of a closed socket that comes late may unpark a thread that waits for the next one
 *       of this number: the JDK looks again whenever it is unparked.
 * </ul>
 *
 * <p>A fiber that is about to read looks without the lock, and may take the socket for empty though
 * an edge has not been told yet. That answer is right only for a call that goes on to wait, and so
 * sees the edge: {@link #isEmpty} asks for it.
 */
public final class HookedDescriptor extends Pollable {
  /** After so many edges that nobody waited for the kernel is told to be silent. */
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
  private @Nullable Object socket; // the JDK's object for the one that is watched by edge
  private WeakReference<@Nullable Object> blockingCall = NO_CHANNEL; // of that socket's channel
  private boolean ended; // or has urgent data, where a read stops short: it may never be empty
  private int changes = 1;
  private int unheard; // how many edges in a row have found no reader

  // written by the worker's thread alone
  private int emptyAt;

  HookedDescriptor(EpollPoller poller, int fd, EpollPoller.Control controlOfPolling) {
    this.poller = poller;
    this.fd = fd;
    this.controlOfPolling = controlOfPolling;
  }

  /**
   * Returns whether this is the socket that is watched, is known to have had nothing when its
   * poller last looked, and the reader is in a call that waits if that is so.
   *
   * <p>A call of a {@code SocketChannel} waits in blocking mode alone, and is then known by the
   * same object as the wait before it; in non-blocking mode it is known by none, or by the object
   * of a channel of the user's around it. A read of a {@code Socket} always waits, and is known by
   * none. A thread that is interrupted would not wait until the edge is seen.
   *
   * @param call what {@link BlockingChannelCall} says
   */
  boolean isEmpty(Object tried, @Nullable Object call, Thread reading) {
    return isEmpty(tried) && blockingCall.refersTo(call) && !reading.isInterrupted();
  }

  private boolean isEmpty(Object tried) {
    return socket == tried && emptyAt == changes();
  }

  /** To be asked before a try to read, and told {@link #noteEmpty} after it. */
  int changes() {
    return (int) CHANGES.getAcquire(this);
  }

  /** Told that a try has left nothing to read, and what the changes were before it. */
  void noteEmpty(Object tried, int changesBefore) {
    if (tried == socket && !ended) {
      emptyAt = changesBefore;
    }
  }

  /**
   * Has a thread unparked.
   *
   * @param tried the JDK's object for the socket that it waits for, or null if that is not sure
   * @param call what {@link BlockingChannelCall} says
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
   * Returns whether it has this number and nobody waits; then its watch is somebody else's from now
   * on.
   */
  @Override
  protected boolean letsGo(int number) {
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
   * Takes a thread back that goes on, be it for the event or for something else. Called by that
   * thread; if the event has woken it there is nothing to do, which it sees without the lock.
   */
  public void giveUp(int direction) {
    if ((direction == Poller.READ ? reader : writer) == null) {
      return;
    }
    lock.lock();
    try {
      set(direction, null);
      noteChange(); // it wants to see for itself
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
      ended |= hasEnded; // before it is counted: who sees the count sees it
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
        toRead = reader != null ? reader : toRead; // they see for themselves what is wrong
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
   * The reader is busy, or waits by another worker's poller now: then it is not to be told here.
   */
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

  @Override
  public String toString() {
    return "descriptor " + fd;
  }
}
