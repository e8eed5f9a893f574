package dev.weft.bench.echo;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.LinuxCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Epoll without anything around it, by the same foreign functions as Weft's. Descriptors are
 * watched by edge, in both directions, each with a number that is told with its events.
 */
final class Epoll {
  private static final int INTEREST =
      EpollPoller.IN | EpollPoller.OUT | EpollPoller.PEER_ENDED | EpollPoller.EDGE;
  private static final int MOST = 256;

  /** The kernel packs struct epoll_event on x86 only. */
  private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");

  private static final int EVENT_SIZE = PACKED ? 12 : 16;
  private static final int DATA_OFFSET = PACKED ? 4 : 8;

  private final int fd = check("epoll_create1", LinuxCalls.epollCreate(0));
  private final MemorySegment events = Arena.ofAuto().allocate((long) MOST * EVENT_SIZE, 8);
  private final MemorySegment state = Arena.ofAuto().allocate(4, 4);

  /** Watches a descriptor from now on; any thread may. */
  void add(int watched, int number) {
    int[] event = new int[EVENT_SIZE / 4];
    event[0] = INTEREST;
    event[DATA_OFFSET / 4] = number;
    check(
        "epoll_ctl",
        LinuxCalls.epollControl(
            fd, 1, watched, MemorySegment.ofArray(event), LinuxCalls.newState()));
  }

  /** Waits for so long, -1 for ever, and returns how many events there are. */
  int await(int millis) {
    return found(LinuxCalls.epollWait(fd, events, MOST, millis, state));
  }

  /** Returns how many events there are at once. */
  int look() {
    return found(LinuxCalls.epollLook(fd, events, MOST, state));
  }

  private static int found(int result) {
    return result == -LinuxCalls.EINTR ? 0 : check("epoll_wait", result);
  }

  /** Returns the number that came with an event. */
  int number(int event) {
    return events.get(JAVA_INT_UNALIGNED, (long) event * EVENT_SIZE + DATA_OFFSET);
  }

  /** Returns what has happened. */
  int happened(int event) {
    return events.get(JAVA_INT_UNALIGNED, (long) event * EVENT_SIZE);
  }

  static boolean isReadable(int happened) {
    // ended, failed or hung up: reading tells
    return (happened & ~EpollPoller.OUT) != 0;
  }

  static boolean isWritable(int happened) {
    return (happened & EpollPoller.OUT) != 0;
  }

  /** Returns the result of a call if it is not an error. */
  static int check(String call, long result) {
    if (result < 0) {
      throw new IllegalStateException(call + ": " + LinuxCalls.describe((int) -result));
    }
    return (int) result;
  }

  /** Returns a new TCP socket that does not block. */
  static int socket() {
    int nonBlocking = 0x800;
    int closeOnExec = 0x80000;
    return check("socket", LinuxCalls.socket(2, 1 | nonBlocking | closeOnExec, 0));
  }

  /** Sends small messages at once. */
  static void noDelay(int socket) {
    int[] on = {1};
    check("setsockopt", LinuxCalls.setOption(socket, 6, 1, MemorySegment.ofArray(on)));
  }

  /** Returns a struct sockaddr_in of the loopback address. */
  static MemorySegment loopback(int port) {
    byte[] address = Arrays.copyOf(new byte[] {2, 0, 0, 0, 127, 0, 0, 1}, 16);
    address[2] = (byte) (port >> 8);
    address[3] = (byte) port;
    return MemorySegment.ofArray(address);
  }
}
