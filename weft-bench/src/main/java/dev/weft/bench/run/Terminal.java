package dev.weft.bench.run;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Asks the C library whether a stream is a terminal: Java itself tells it of its console only. */
final class Terminal {
  private static final int STDERR = 2;

  private Terminal() {}

  @SuppressWarnings("restricted") // isatty only looks at a number
  static boolean isStderr() {
    Linker linker = Linker.nativeLinker();
    Optional<MemorySegment> isatty = linker.defaultLookup().find("isatty");
    if (isatty.isEmpty()) {
      return false;
    }
    FunctionDescriptor shape = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    try {
      return (int) linker.downcallHandle(isatty.get(), shape).invokeExact(STDERR) == 1;
    } catch (Throwable e) {
      throw new IllegalStateException("cannot call isatty", e);
    }
  }
}
