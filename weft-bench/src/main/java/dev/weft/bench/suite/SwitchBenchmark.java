package dev.weft.bench.suite;

import dev.weft.Coroutine;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.JmhMethod;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** One resume and one yield, with a given number of frames on the coroutine's stack. */
public class SwitchBenchmark {
  static Comparison comparison() {
    return Comparison.named(
            "switch", "What a resume and a yield cost, by the frames on the coroutine's stack.")
        .parameter("depth", 1, 5, 20, 100)
        .contestant("Weft", new JmhMethod(SwitchBenchmark.class, "weft"))
        .contestant("raw continuation", new JmhMethod(SwitchBenchmark.class, "raw"))
        .bar(Bar.atMost(Metric.TIME, 1.15, "raw continuation"))
        .build();
  }

  /** Resumes a Weft coroutine until it yields. */
  @Benchmark
  public void weft(OfWeft of) {
    of.coroutine.resume();
  }

  /** Runs the JDK's continuation until it yields. */
  @Benchmark
  public void raw(OfRaw of) {
    of.continuation.run();
  }

  /** A Weft coroutine. */
  @State(Scope.Thread)
  @NullUnmarked // JMH fills it
  public static class OfWeft extends Stack {
    private Coroutine coroutine;

    /** Creates it. */
    @Setup
    public void create() {
      coroutine = Coroutine.of(this::descendForEver);
      compile(coroutine::resume);
    }

    @Override
    void suspend() {
      Coroutine.yield();
    }
  }

  /** A continuation of the JDK. */
  @State(Scope.Thread)
  @NullUnmarked // JMH fills it
  public static class OfRaw extends Stack {
    private static final ContinuationScope SCOPE = new ContinuationScope("raw");
    private Continuation continuation;

    /** Creates it. */
    @Setup
    public void create() {
      continuation = new Continuation(SCOPE, this::descendForEver);
      compile(continuation::run);
    }

    @Override
    void suspend() {
      Continuation.yield(SCOPE);
    }
  }

  /**
   * What both contestants run: call down so many frames, yield there, return from all of them. The
   * JVM thaws only the frames that are returned to, so a body that stayed down would hide the
   * depth.
   */
  @State(Scope.Thread)
  public abstract static class Stack {
    private static final int RESUMES_TO_COMPILE = 200_000;

    /** The number of frames between the bottom of the body and the yield. */
    @Param("1")
    public int depth;

    private int frames = 1;

    final void descendForEver() {
      while (true) {
        descend(frames);
      }
    }

    /** One subclass is loaded in a JVM, so the call of {@code suspend} is a direct one. */
    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    final void descend(int left) {
      if (left > 1) {
        descend(left - 1);
      } else {
        suspend();
      }
    }

    abstract void suspend();

    /**
     * Replaces the interpreted frame at the bottom by a compiled one, which takes so many turns of
     * its loop: until then every switch is slow, at depth 100 for longer than a warm-up lasts.
     */
    final void compile(Runnable resume) {
      frames = 1;
      for (int i = 0; i < RESUMES_TO_COMPILE; i++) {
        resume.run();
      }
      frames = depth;
    }
  }
}
