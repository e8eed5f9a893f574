package dev.weft.internal.poller;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A place in memory where Linux lets one thread wait until another wakes it. The JVM's own parking
 * is made of the same call, and of a mutex and a condition around it, which cost a wake-up a
 * microsecond.
 *
 * <pre>
 *   memory   0: the word    16: time limit, seconds and nanoseconds    32: error number
 * </pre>
 *
 * <p>Invariant: the word is 1 from {@link #wake} until the next {@link #reset}, and nobody waits
 * while it is.
 */
final class Futex {
  private static final int WOKEN = 1;
  private static final long WORD_AT = 0;
  private static final long TIME_AT = 16;
  private static final long ERRNO_AT = 32;
  private static final long SIZE = 64; // a line of the cache of its own

  private static final VarHandle WORD = JAVA_INT.varHandle();

  /** Set once: whether the calls are linked, and the system lets them through. */
  private static volatile boolean usable;

  private static boolean begun;

  private final MemorySegment memory = Arena.ofAuto().allocate(SIZE, SIZE);
  private final MemorySegment time = memory.asSlice(TIME_AT, 16);
  private final MemorySegment errno = memory.asSlice(ERRNO_AT, 4);

  private Futex() {}

  /** Returns a new one, or null: not yet, or not on this system. */
  static @Nullable Futex create() {
    return usable ? new Futex() : null;
  }

  /** Begins, once, to link the calls, which takes some 100 ms of a thread that nobody waits for. */
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
              == -LinuxCalls.EAGAIN; // as the word is 1; a sandbox says something else
    } catch (Throwable e) {
      // native access is denied, or there is no such call: workers park as before
    }
  }

  /** Begins anew: a wake-up from now on ends the next wait, one from before does not. */
  void reset() {
    WORD.setVolatile(memory, WORD_AT, 0);
  }

  /**
   * Waits for a wake-up since the reset, for so many nanoseconds at most, {@link Long#MAX_VALUE}
   * for as long as it takes; may return early.
   *
   * @return what the system says, as LinuxCalls does
   */
  long await(long nanos) {
    if (nanos == Long.MAX_VALUE) {
      return LinuxCalls.futexWait(memory, 0, MemorySegment.NULL, errno);
    }
    time.set(JAVA_LONG, 0, nanos / 1_000_000_000);
    time.set(JAVA_LONG, 8, nanos % 1_000_000_000);
    return LinuxCalls.futexWait(memory, 0, time, errno);
  }

  /** Ends the current wait, or the next one unless there is a reset before. */
  void wake() {
    WORD.setVolatile(memory, WORD_AT, WOKEN);
    LinuxCalls.futexWake(memory);
  }
}
