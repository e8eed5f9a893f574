package dev.weft;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Runs code with a native frame on the stack, which pins a fiber: inside qsort's comparator. */
@SuppressWarnings("restricted") // a native frame is the purpose of this class
final class NativeFrame {
  private static final MethodHandle QSORT = qsort();

  private final Body body;
  private Throwable failure;

  private NativeFrame(Body body) {
    this.body = body;
  }

  static void run(Body body) throws Exception {
    NativeFrame frame = new NativeFrame(body);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment comparator =
          Linker.nativeLinker()
              .upcallStub(
                  MethodHandles.lookup()
                      .findVirtual(
                          NativeFrame.class,
                          "compare",
                          MethodType.methodType(
                              int.class, MemorySegment.class, MemorySegment.class))
                      .bindTo(frame),
                  FunctionDescriptor.of(
                      ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
                  arena);
      QSORT.invokeExact(arena.allocate(8), 2L, 4L, comparator);
    } catch (Throwable e) {
      throw new AssertionError("qsort is not as expected", e);
    }
    if (frame.failure instanceof Exception e) {
      throw e;
    } else if (frame.failure instanceof Error e) {
      throw e;
    }
  }

  /** Called by qsort for its two elements; must not throw. */
  int compare(MemorySegment left, MemorySegment right) {
    try {
      body.run();
    } catch (Throwable e) {
      failure = e;
    }
    return 0;
  }

  private static MethodHandle qsort() {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow("qsort"),
        FunctionDescriptor.ofVoid(
            ValueLayout.ADDRESS,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.ADDRESS));
  }
}
