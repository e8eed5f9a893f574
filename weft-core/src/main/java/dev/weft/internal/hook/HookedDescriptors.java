package dev.weft.internal.hook;

import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.LinuxCalls;
import dev.weft.internal.poller.Poller;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The descriptors of the JDK's own sockets and channels that fibers of one worker have waited for,
 * by number. There are never more than the process has had descriptors at a time, so none is
 * removed. For the worker's thread only.
 *
 * <p>The number alone does not identify a socket: the socket may be closed and its number reused.
 * The JDK has an object for each socket, but its poller gets the number only. So a read, which has
 * the object, vouches for the wait that follows it: same thread, same number, and no socket closed
 * in between.
 */
public final class HookedDescriptors {
  /** How many sockets the JDK has closed. */
  private static final AtomicLong CLOSED = new AtomicLong();

  private final EpollPoller poller;
  private final EpollPoller.Control control;

  // for the polling thread, which may be another than the worker's while the worker is stuck
  private final EpollPoller.Control controlOfPolling;

  private final MemorySegment errno = LinuxCalls.newState();
  private @Nullable HookedDescriptor[] byNumber = new HookedDescriptor[64];

  // the last read that left nothing to read
  private @Nullable Object triedSocket;
  private int triedNumber;
  private @Nullable Thread triedBy;
  private long closedBefore;

  /** Returns the descriptors of a poller; only to be used on its worker's thread. */
  static HookedDescriptors of(EpollPoller poller) {
    if (poller.attachment() instanceof HookedDescriptors made) {
      return made;
    }
    HookedDescriptors made = new HookedDescriptors(poller);
    poller.attach(made);
    return made;
  }

  private HookedDescriptors(EpollPoller poller) {
    this.poller = poller;
    this.control = poller.new Control();
    this.controlOfPolling = poller.new Control();
  }

  /** Called before the JDK closes a socket, on any thread. */
  public static void noteClosing() {
    CLOSED.incrementAndGet();
  }

  /**
   * Reads a socket to native memory; makes no system call if the socket is known to be empty and
   * the caller waits in this case. A thread that got less than it asked for may wait for the
   * socket.
   *
   * @param socket the JDK's object of the socket
   * @return a count, 0 at the end, or a negated error number
   */
  public long receive(Object socket, int fd, long address, int length, Thread thread) {
    HookedDescriptor descriptor = known(fd);
    long got;
    if (descriptor == null) {
      got = LinuxCalls.receive(fd, address, length, errno);
    } else if (descriptor.isEmpty(socket, BlockingChannelCall.of(thread), thread)) {
      got = -LinuxCalls.EAGAIN;
    } else {
      int before = descriptor.changes();
      got = LinuxCalls.receive(fd, address, length, errno);
      if (got < length) {
        descriptor.noteEmpty(socket, before);
      }
    }
    if (got < length) {
      vouch(socket, fd, thread);
    }
    return got;
  }

  /** Writes from native memory; returns a count or a negated error number. */
  public long send(int fd, long address, int length) {
    return LinuxCalls.send(fd, address, length, errno);
  }

  private @Nullable HookedDescriptor known(int fd) {
    return fd < byNumber.length ? byNumber[fd] : null;
  }

  private void vouch(Object socket, int fd, Thread thread) {
    triedSocket = socket;
    triedNumber = fd;
    triedBy = thread;
    closedBefore = CLOSED.get();
  }

  /**
   * Has a thread unparked when the descriptor is ready, once.
   *
   * @param direction {@link Poller#READ} or {@link Poller#WRITE}
   * @return the descriptor, for giveUp, or null if it cannot be watched here
   */
  public @Nullable HookedDescriptor expect(int fd, int direction, Thread thread) {
    if (fd >= byNumber.length) {
      byNumber = Arrays.copyOf(byNumber, Math.max(fd + 1, 2 * byNumber.length));
    }
    HookedDescriptor descriptor = byNumber[fd];
    if (descriptor == null) {
      descriptor = new HookedDescriptor(poller, fd, controlOfPolling);
      byNumber[fd] = descriptor;
    }
    boolean vouched =
        direction == Poller.READ
            && triedBy == thread
            && triedNumber == fd
            && closedBefore == CLOSED.get();
    Object socket = vouched ? triedSocket : null;
    triedBy = null;
    Object call = BlockingChannelCall.of(thread);
    return descriptor.expect(direction, thread, socket, call, control) ? descriptor : null;
  }
}
