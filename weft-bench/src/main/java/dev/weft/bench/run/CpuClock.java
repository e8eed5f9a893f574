package dev.weft.bench.run;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The CPU time of a process in nanoseconds, user and system, all threads together, the JVM's own
 * included. The JDK's bean of that name and {@code /proc} count in steps of 10 ms, which is more
 * than an idle process takes.
 */
public final class CpuClock {
  private static final int CLOCK_PROCESS_CPUTIME_ID = 2; // Linux

  private static final MethodHandle CLOCK_GETTIME = link();

  private CpuClock() {}

  /** Returns the time of this process. */
  public static long nanos() {
    return read(CLOCK_PROCESS_CPUTIME_ID);
  }

  /** Returns the time of another process, which must be alive. */
  public static long nanosOf(long pid) {
    // as clock_getcpuclockid(3) makes it: the complement of the id, and 2 for the scheduler's clock
    return read(((int) ~pid << 3) | 2);
  }

  private static long read(int clock) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment time = arena.allocate(ValueLayout.JAVA_LONG, 2);
      int status = (int) CLOCK_GETTIME.invokeExact(clock, time);
      if (status != 0) {
        throw new IllegalStateException("clock_gettime of clock " + clock + " returned " + status);
      }
      return time.getAtIndex(ValueLayout.JAVA_LONG, 0) * 1_000_000_000
          + time.getAtIndex(ValueLayout.JAVA_LONG, 1);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("cannot call clock_gettime", e);
    }
  }

  @SuppressWarnings("restricted") // clock_gettime writes the two longs it is given
  private static MethodHandle link() {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow("clock_gettime"),
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
  }
}
