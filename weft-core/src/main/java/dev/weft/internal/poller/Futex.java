package dev.weft.internal.poller;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A futex(2): a word in memory at which one thread waits until another wakes it. The JVM's parking
 * uses the same system call, but with a mutex and a condition around it, which add a microsecond to
 * each wake-up.
 *
 * <pre>
 *   memory   0: the word    16: time limit, seconds and nanoseconds    32: error number
 * </pre>
 *
 * <p>Invariant: the word is 1 from {@link #wake} until the next {@link #reset}, and no thread waits
 * while it is.
 */
final class Futex {
  private static final int WOKEN = 1;
  private static final long WORD_AT = 0;
  private static final long TIME_AT = 16;
  private static final long ERRNO_AT = 32;
  private static final long SIZE = 64; // a cache line of its own

  private static final VarHandle WORD = JAVA_INT.varHandle();

  /** Set once: whether the calls are linked and the system permits them. */
  private static volatile boolean usable;

  private static boolean begun;

  private final MemorySegment memory = Arena.ofAuto().allocate(SIZE, SIZE);
  private final MemorySegment time = memory.asSlice(TIME_AT, 16);
  private final MemorySegment errno = memory.asSlice(ERRNO_AT, 4);

  private Futex() {}

  /** Returns a new futex; null before the calls are linked, or if this system has none. */
  static @Nullable Futex create() {
    return usable ? new Futex() : null;
  }

  /** Starts, once, a background thread that links the calls, which takes some 100 ms. */
  static synchronized void prepare() {
    if (!begun && Poller.isEpoll()) {
      begun = true;
      Thread.ofPlatform().daemon().name("weft-futex").start(Futex::link);
    }
  }

  private static void link() {
    try {
      Futex tried = new Futex();
      tried.wake();
      usable =
          tried.await(Long.MAX_VALUE)
              == -LinuxCalls.EAGAIN; // because the word is 1; a sandbox returns another error
    } catch (Throwable e) {
      // native access is denied, or there is no such call: workers park as before
    }
  }

  /** Forgets earlier wake-ups: only a wake-up from now on ends the next wait. */
  void reset() {
    WORD.setVolatile(memory, WORD_AT, 0);
  }

  /**
   * Waits for a wake-up since the reset, for so many nanoseconds at most ({@link Long#MAX_VALUE}:
   * no limit); may return early.
   *
   * @return the result of {@link LinuxCalls#futexWait}
   */
  long await(long nanos) {
    if (nanos == Long.MAX_VALUE) {
      return LinuxCalls.futexWait(memory, 0, MemorySegment.NULL, errno);
    }
    time.set(JAVA_LONG, 0, nanos / 1_000_000_000);
    time.set(JAVA_LONG, 8, nanos % 1_000_000_000);
    return LinuxCalls.futexWait(memory, 0, time, errno);
  }

  /** Ends the current wait, or the next wait unless a reset comes before it. */
  void wake() {
    WORD.setVolatile(memory, WORD_AT, WOKEN);
    LinuxCalls.futexWake(memory);
  }
}
