package dev.weft.internal.poller;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * All system calls that Weft makes itself. Each returns the kernel's result: 0 or more, else the
 * negated error number.
 *
 * <p>All but the waiting calls are <em>critical</em> ({@link Linker.Option#critical}): the thread
 * stays in Java, which saves two transitions, and buffers may be arrays on the heap. In return the
 * garbage collector waits for them, so they must not block: every descriptor here is non-blocking.
 *
 * <p>Linking takes the JVM some 7 ms for each new signature, and next to nothing for a known one.
 * So similar calls share a signature: a surplus argument is in a register that the callee does not
 * read, and an int may be passed and returned as a long. Rare calls are linked at their first use.
 */
@SuppressWarnings("restricted") // native access is the purpose of this class
public final class LinuxCalls {
  public static final int EINTR = 4;
  public static final int EBADF = 9;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  public static final int EACCES = 13;
  public static final int EPERM = 1;
  public static final int ENOENT = 2;
  public static final int EEXIST = 17;
  public static final int EINVAL = 22;
  public static final int ENFILE = 23;
  public static final int EMFILE = 24;
  public static final int EPIPE = 32;
  public static final int ENOSYS = 38;
  public static final int EPROTO = 71;
  public static final int EAFNOSUPPORT = 97;
  public static final int EADDRINUSE = 98;
  public static final int EADDRNOTAVAIL = 99;
  public static final int ENETUNREACH = 101;
  public static final int ECONNABORTED = 103;
  public static final int ECONNRESET = 104;
  public static final int ENOBUFS = 105;
  public static final int EISCONN = 106;
  public static final int ENOTCONN = 107;
  public static final int ETIMEDOUT = 110;
  public static final int ECONNREFUSED = 111;
  public static final int EHOSTUNREACH = 113;
  public static final int EALREADY = 114;
  public static final int EINPROGRESS = 115;

  private static final int MSG_DONTWAIT = 0x40;
  private static final int MSG_NOSIGNAL = 0x4000;

  /** System calls have other numbers on amd64 than on the newer architectures. */
  private static final boolean AMD64 = System.getProperty("os.arch").equals("amd64");

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final Linker.Option ON_HEAP = Linker.Option.critical(true);

  // the signatures: result first, i for int, l for long, p for pointer

  /** Numbers only. */
  private static final String NUMBERS = "iiii";

  /** A descriptor, memory, its size, flags. */
  private static final String BUFFER = "lipli";

  /** A descriptor, room for an address, its size, flags. */
  private static final String NAME = "iippi";

  /** A descriptor, two numbers, memory, its size. */
  private static final String SETTING = "iiiipi";

  private static final MethodHandle EPOLL_CREATE = call("epoll_create1", NUMBERS);
  private static final MethodHandle EVENTFD = call("eventfd", NUMBERS);
  private static final MethodHandle SOCKET = call("socket", NUMBERS);
  private static final MethodHandle LISTEN = call("listen", NUMBERS);
  private static final MethodHandle SHUTDOWN = call("shutdown", NUMBERS);
  private static final MethodHandle EPOLL_WAIT = call("epoll_wait", BUFFER);
  private static final MethodHandle WRITE = call("write", BUFFER);
  private static final MethodHandle BIND = call("bind", BUFFER);
  private static final MethodHandle CONNECT = call("connect", BUFFER);
  private static final MethodHandle RECV = call("recv", BUFFER);
  private static final MethodHandle SEND = call("send", BUFFER);
  private static final MethodHandle ACCEPT = call("accept4", NAME);
  private static final MethodHandle GETSOCKNAME = call("getsockname", NAME);
  private static final MethodHandle GETPEERNAME = call("getpeername", NAME);
  private static final MethodHandle EPOLL_CTL = call("epoll_ctl", SETTING);
  private static final MethodHandle SETSOCKOPT = call("setsockopt", SETTING);
  private static final MethodHandle CLOSE =
      LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("close"), descriptor("ii"));

  /**
   * Calls on memory outside the heap, by its address: a segment would be an object. Not by libc's
   * recv and send, which are cancellation points of pthreads and cost some 25 ns more.
   */
  private static final class ByAddress {
    static final long SENDTO = AMD64 ? 44 : 206;
    static final long RECVFROM = AMD64 ? 45 : 207;
    static final MethodHandle SYSCALL =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("syscall"),
            descriptor("llllllll"),
            Linker.Option.critical(false),
            ERRNO);
  }

  /** Waits without a limit, or with one in milliseconds. */
  private static final class Waiting {
    static final MethodHandle EPOLL_WAIT = blocking("epoll_wait", "iipii");
  }

  /** Waits with a limit in nanoseconds. */
  private static final class WaitingPrecisely {
    static final @Nullable MethodHandle EPOLL_PWAIT2 =
        LINKER.defaultLookup().find("epoll_pwait2").isPresent()
            ? blocking("epoll_pwait2", "iipipp")
            : null;
  }

  /** futex(2), for which libc has no function. */
  private static final class Futexes {
    static final long NUMBER = AMD64 ? 202 : 98;
    static final int WAIT = 128;
    static final int WAKE = 129;
    static final MethodHandle WAIT_CALL = blocking("syscall", "llpiip");
    static final MethodHandle WAKE_CALL = call("syscall", "llpiip");
  }

  /** Datagrams. */
  private static final class Datagrams {
    static final MethodHandle RECVFROM = call("recvfrom", "liplipp");
    static final MethodHandle SENDTO = call("sendto", "liplipi");
  }

  /** Asks for options. */
  private static final class Options {
    static final MethodHandle GETSOCKOPT = call("getsockopt", "iiiipp");
  }

  /** Names errors. */
  private static final class Errors {
    static final MethodHandle STRERROR =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("strerror"),
            FunctionDescriptor.of(ADDRESS, JAVA_INT));
  }

  private LinuxCalls() {}

  /**
   * Returns memory for the error number of a call; one for each thread that calls at a time. It is
   * outside the heap: the JDK slices it at each call, and the JIT compiler removes the slice only
   * as long as its constructors are not too deep below the calling method. They are two levels less
   * deep for such memory than for an array.
   */
  public static MemorySegment newState() {
    return Arena.ofAuto().allocate(JAVA_INT);
  }

  private static MemorySegment stateForOneCall() {
    return MemorySegment.ofArray(new int[1]);
  }

  public static int epollCreate(int flags) {
    MemorySegment state = stateForOneCall();
    try {
      return result((int) EPOLL_CREATE.invokeExact(state, flags, 0, 0), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int epollControl(
      int epoll, int operation, int fd, MemorySegment event, MemorySegment state) {
    try {
      return result((int) EPOLL_CTL.invokeExact(state, epoll, operation, fd, event, 0), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Looks for events without waiting. */
  public static int epollLook(int epoll, MemorySegment events, int count, MemorySegment state) {
    try {
      long found = (long) EPOLL_WAIT.invokeExact(state, epoll, events, (long) count, 0);
      return result((int) found, state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Waits for events, for ever if millis is -1; all memory must be off the heap. */
  public static int epollWait(
      int epoll, MemorySegment events, int count, int millis, MemorySegment state) {
    try {
      return result(
          (int) Waiting.EPOLL_WAIT.invokeExact(state, epoll, events, count, millis), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Waits for events; Linux 5.11 and later. All memory must be off the heap. */
  public static int epollWait(
      int epoll, MemorySegment events, int count, MemorySegment time, MemorySegment state) {
    MethodHandle wait = WaitingPrecisely.EPOLL_PWAIT2;
    if (wait == null) {
      return -ENOSYS;
    }
    try {
      int found = (int) wait.invokeExact(state, epoll, events, count, time, MemorySegment.NULL);
      return result(found, state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Waits until a wake-up, or for a time limit unless NULL; returns at once if the word is not as
   * expected. All memory must be off the heap.
   */
  static long futexWait(MemorySegment word, int expected, MemorySegment time, MemorySegment state) {
    try {
      return result(
          (long)
              Futexes.WAIT_CALL.invokeExact(
                  state, Futexes.NUMBER, word, Futexes.WAIT, expected, time),
          state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Wakes one thread that waits for the word. */
  static void futexWake(MemorySegment word) {
    MemorySegment state = stateForOneCall();
    try {
      long _ =
          (long)
              Futexes.WAKE_CALL.invokeExact(
                  state, Futexes.NUMBER, word, Futexes.WAKE, 1, MemorySegment.NULL);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int eventfd(int count, int flags) {
    MemorySegment state = stateForOneCall();
    try {
      return result((int) EVENTFD.invokeExact(state, count, flags, 0), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static long write(int fd, MemorySegment bytes) {
    MemorySegment state = stateForOneCall();
    try {
      return result((long) WRITE.invokeExact(state, fd, bytes, bytes.byteSize(), 0), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int socket(int domain, int type, int protocol) {
    MemorySegment state = stateForOneCall();
    try {
      return result((int) SOCKET.invokeExact(state, domain, type, protocol), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int bind(int fd, MemorySegment address) {
    MemorySegment state = stateForOneCall();
    try {
      long bound = (long) BIND.invokeExact(state, fd, address, address.byteSize(), 0);
      return result((int) bound, state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int listen(int fd, int backlog) {
    MemorySegment state = stateForOneCall();
    try {
      return result((int) LISTEN.invokeExact(state, fd, backlog, 0), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int connect(int fd, MemorySegment address) {
    MemorySegment state = stateForOneCall();
    try {
      long connected = (long) CONNECT.invokeExact(state, fd, address, address.byteSize(), 0);
      return result((int) connected, state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Accepts; the length holds the size of the address before, and that of the peer's after. */
  public static int accept(int fd, MemorySegment address, MemorySegment length, int flags) {
    MemorySegment state = stateForOneCall();
    try {
      return result((int) ACCEPT.invokeExact(state, fd, address, length, flags), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int localName(int fd, MemorySegment address, MemorySegment length) {
    MemorySegment state = stateForOneCall();
    try {
      return result((int) GETSOCKNAME.invokeExact(state, fd, address, length, 0), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int peerName(int fd, MemorySegment address, MemorySegment length) {
    MemorySegment state = stateForOneCall();
    try {
      return result((int) GETPEERNAME.invokeExact(state, fd, address, length, 0), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int getOption(int fd, int level, int name, MemorySegment value) {
    MemorySegment state = stateForOneCall();
    MemorySegment length = MemorySegment.ofArray(new int[] {(int) value.byteSize()});
    try {
      return result(
          (int) Options.GETSOCKOPT.invokeExact(state, fd, level, name, value, length), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int setOption(int fd, int level, int name, MemorySegment value) {
    MemorySegment state = stateForOneCall();
    int length = (int) value.byteSize();
    try {
      return result((int) SETSOCKOPT.invokeExact(state, fd, level, name, value, length), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static long receive(int fd, MemorySegment buffer, MemorySegment state) {
    try {
      return result(
          (long) RECV.invokeExact(state, fd, buffer, buffer.byteSize(), MSG_DONTWAIT), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static long send(int fd, MemorySegment bytes, MemorySegment state) {
    try {
      return result(
          (long) SEND.invokeExact(state, fd, bytes, bytes.byteSize(), MSG_NOSIGNAL | MSG_DONTWAIT),
          state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static long receive(int fd, long address, long size, MemorySegment state) {
    return onAddress(ByAddress.RECVFROM, fd, address, size, MSG_DONTWAIT, state);
  }

  public static long send(int fd, long address, long size, MemorySegment state) {
    return onAddress(ByAddress.SENDTO, fd, address, size, MSG_NOSIGNAL | MSG_DONTWAIT, state);
  }

  private static long onAddress(
      long call, long fd, long address, long size, long flags, MemorySegment state) {
    try {
      return result(
          (long) ByAddress.SYSCALL.invokeExact(state, call, fd, address, size, flags, 0L, 0L),
          state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static long receiveFrom(
      int fd,
      MemorySegment buffer,
      MemorySegment address,
      MemorySegment length,
      MemorySegment state) {
    try {
      return result(
          (long)
              Datagrams.RECVFROM.invokeExact(
                  state, fd, buffer, buffer.byteSize(), 0, address, length),
          state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static long sendTo(
      int fd, MemorySegment bytes, MemorySegment address, MemorySegment state) {
    int length = (int) address.byteSize();
    try {
      return result(
          (long)
              Datagrams.SENDTO.invokeExact(
                  state, fd, bytes, bytes.byteSize(), MSG_NOSIGNAL, address, length),
          state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  public static int shutdown(int fd, int how) {
    MemorySegment state = stateForOneCall();
    try {
      return result((int) SHUTDOWN.invokeExact(state, fd, how, 0), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Closes a descriptor; may wait if the socket is told to linger. */
  public static void close(int fd) {
    try {
      int ignored = (int) CLOSE.invokeExact(fd);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns the system's text for an error number, such as "Connection refused". */
  public static String describe(int errno) {
    try {
      MemorySegment text = (MemorySegment) Errors.STRERROR.invokeExact(errno);
      return text.reinterpret(256).getString(0);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static int result(int returned, MemorySegment state) {
    return returned >= 0 ? returned : -state.get(JAVA_INT, 0);
  }

  private static long result(long returned, MemorySegment state) {
    return returned >= 0 ? returned : -state.get(JAVA_INT, 0);
  }

  private static MethodHandle call(String name, String signature) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), descriptor(signature), ON_HEAP, ERRNO);
  }

  private static MethodHandle blocking(String name, String signature) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), descriptor(signature), ERRNO);
  }

  private static FunctionDescriptor descriptor(String signature) {
    MemoryLayout[] layouts =
        signature
            .chars()
            .mapToObj(c -> c == 'i' ? JAVA_INT : c == 'l' ? JAVA_LONG : ADDRESS)
            .toArray(MemoryLayout[]::new);
    return FunctionDescriptor.of(layouts[0], Arrays.copyOfRange(layouts, 1, layouts.length));
  }

  private static AssertionError unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    if (e instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    return new AssertionError(e);
  }
}
