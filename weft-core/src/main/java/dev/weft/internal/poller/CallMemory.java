package dev.weft.internal.poller;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that calls of the system's go through; one for each thread that calls. Short messages are
 * copied by way of it: an array can be given to a call as it is, but only wrapped in two objects,
 * which the compiler does without in some JVMs and in others not, for every message.
 */
public final class CallMemory {
  /** How many bytes a worker's copies at most; a call on more is worth the objects. */
  private static final int SHORT = 8 * 1024;

  // outside the heap: the JDK slices the one for the error number at each call, and the compiler
  // does without that object only as long as its constructors are not too deep below the caller
  private final MemorySegment errno = LinuxCalls.newState();
  private final MemorySegment bytes;
  private final long address;

  private CallMemory(int size) {
    bytes = Arena.ofAuto().allocate(size, 64);
    address = bytes.address();
  }

  /** Creates that of a worker. */
  public static CallMemory ofWorker() {
    return new CallMemory(SHORT);
  }

  /** Creates that of another thread, of which there may be many: nothing is copied through it. */
  public static CallMemory ofOther() {
    return new CallMemory(0);
  }

  /** Returns up to how many bytes can be copied. */
  public int size() {
    return (int) bytes.byteSize();
  }

  /** Returns where the error number of a call goes. */
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
