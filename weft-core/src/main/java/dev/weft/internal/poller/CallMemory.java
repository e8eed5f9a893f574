package dev.weft.internal.poller;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Native memory for system calls; one for each calling thread. Short messages are copied through
 * it: an array can be passed to a call directly, but only wrapped in two objects per message, which
 * the JIT compiler removes in some JVMs only.
 */
public final class CallMemory {
  /** How many bytes are copied through a worker's memory; longer messages pass the array. */
  private static final int SHORT = 8 * 1024;

  // outside the heap: the JDK slices this segment at each call, and the JIT compiler removes the
  // slice only as long as its constructors are not too deep below the caller
  private final MemorySegment errno = LinuxCalls.newState();
  private final MemorySegment bytes;
  private final long address;

  private CallMemory(int size) {
    bytes = Arena.ofAuto().allocate(size, 64);
    address = bytes.address();
  }

  /** Creates the memory of a worker. */
  public static CallMemory ofWorker() {
    return new CallMemory(SHORT);
  }

  /** Creates the memory of another thread; as there may be many, nothing is copied through it. */
  public static CallMemory ofOther() {
    return new CallMemory(0);
  }

  /** Returns how many bytes can be copied at most. */
  public int size() {
    return (int) bytes.byteSize();
  }

  /** Returns the segment for the error number of a call. */
  public MemorySegment errno() {
    return errno;
  }

  /** Receives up to {@link #size} bytes into an array; returns how many, or a negated error. */
  public long receive(int fd, byte[] target, int offset, int length) {
    long count = LinuxCalls.receive(fd, address, length, errno);
    if (count > 0) {
      MemorySegment.copy(bytes, JAVA_BYTE, 0, target, offset, (int) count);
    }
    return count;
  }

  /** Sends up to {@link #size} bytes of an array; returns how many, or a negated error number. */
  public long send(int fd, byte[] source, int offset, int length) {
    MemorySegment.copy(source, offset, bytes, JAVA_BYTE, 0, length);
    return LinuxCalls.send(fd, address, length, errno);
  }
}
