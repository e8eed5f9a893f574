package dev.weft.bench.suite;

import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.WindowProbe;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One fiber yields and then waits while a native frame pins it; another one reads its stack and
 * wakes it, as a sampling profiler would. The shape of OpenJDK's test GetStackTraceALotWhenPinned.
 */
public final class PinnedLookBenchmark {
  private static final Metric ROUND = new Metric("time of a round", "µs", Metric.Better.LESS);
  private static final String VIRTUAL_THREADS = "virtual threads";

  private PinnedLookBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "pinned-look",
            "How long it takes to read the stack of a fiber that yields and then waits pinned, and"
                + " to wake it, on two threads.")
        .metrics(ROUND)
        .contestant("Weft", ForkedWindows.of(OfWeft.class))
        .contestant(
            VIRTUAL_THREADS,
            ForkedWindows.of(OfVirtualThreads.class, "-Djdk.virtualThreadScheduler.parallelism=2"))
        .bar(Bar.atMost(ROUND, 1, VIRTUAL_THREADS))
        .build();
  }

  /** Fibers of a scheduler with two threads. */
  public static final class OfWeft extends Rounds {
    public OfWeft() {
      super(Crew.fibersOf(Scheduler.builder().threads(2).daemon(true).build().start()));
    }
  }

  /** The JDK's own. */
  public static final class OfVirtualThreads extends Rounds {
    public OfVirtualThreads() {
      super(Crew.virtualThreads());
    }
  }

  /** Two fibers that meet before each round, and spin until both have come. */
  abstract static class Rounds implements WindowProbe {
    private static final int ROUNDS = 20_000;
    private static final int FEW_ROUNDS = 5_000;

    private final Crew crew;
    private final AtomicInteger missing = new AtomicInteger(2);
    private volatile int round;
    private volatile Thread pinned;

    Rounds(Crew crew) {
      this.crew = crew;
    }

    @Override
    public final Windows prepare(String parameter, boolean quick) throws Exception {
      int rounds = quick ? FEW_ROUNDS : ROUNDS;
      run(rounds);
      return () -> {
        Timed timed = Timed.of(1, () -> run(rounds));
        return Map.of(ROUND.name(), timed.wall() / rounds);
      };
    }

    private void run(int rounds) throws InterruptedException {
      crew.run(List.of(() -> waitPinned(rounds), () -> lookAndWake(rounds)));
    }

    private void waitPinned(int rounds) {
      pinned = Thread.currentThread();
      for (int i = 0; i < rounds; i++) {
        meet();
        Thread.yield();
        NativeFrame.park();
      }
    }

    private void lookAndWake(int rounds) {
      for (int i = 0; i < rounds; i++) {
        meet();
        if (pinned.getStackTrace() == null) {
          throw new IllegalStateException("a live thread has no stack");
        }
        LockSupport.unpark(pinned);
      }
    }

    private void meet() {
      int seen = round;
      if (missing.decrementAndGet() == 0) {
        missing.set(2);
        round = seen + 1;
      } else {
        while (round == seen) {
          Thread.onSpinWait();
        }
      }
    }
  }

  /** Parks below a native frame: in the comparator of C's qsort. */
  @SuppressWarnings("restricted") // a native frame is the purpose of this class
  static final class NativeFrame {
    private static final MethodHandle QSORT =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().findOrThrow("qsort"),
                FunctionDescriptor.ofVoid(
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS));
    private static final MemorySegment COMPARATOR = comparator();
    private static final MemorySegment TWO_BYTES = Arena.global().allocate(2);

    private NativeFrame() {}

    static void park() {
      try {
        QSORT.invokeExact(TWO_BYTES, 2L, 1L, COMPARATOR);
      } catch (Throwable e) {
        throw new IllegalStateException("cannot call qsort", e);
      }
    }

    /** Called by qsort once for its two elements; must not throw. */
    static int compare(MemorySegment left, MemorySegment right) {
      LockSupport.park();
      return 0;
    }

    private static MemorySegment comparator() {
      FunctionDescriptor type =
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
      try {
        MethodHandle compare =
            MethodHandles.lookup()
                .findStatic(
                    NativeFrame.class,
                    "compare",
                    MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
        return Linker.nativeLinker().upcallStub(compare, type, Arena.global());
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }
  }
}
