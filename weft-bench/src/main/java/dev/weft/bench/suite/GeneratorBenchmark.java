package dev.weft.bench.suite;

import dev.weft.Coroutine;
import dev.weft.Generator;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.JmhMethod;
import java.util.Iterator;
import java.util.concurrent.SynchronousQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One element of an endless sequence; the elements exist beforehand, so boxing is not measured. */
public class GeneratorBenchmark {
  private static final Integer[] ELEMENTS =
      IntStream.range(0, 1_024).boxed().toArray(Integer[]::new);

  static Comparison comparison() {
    return Comparison.named("generator", "What the next element of a generator costs.")
        .contestant("Weft Generator", new JmhMethod(GeneratorBenchmark.class, "generator"))
        .contestant("Weft resume + yield", new JmhMethod(GeneratorBenchmark.class, "coroutine"))
        .contestant("Iterator by hand", new JmhMethod(GeneratorBenchmark.class, "iterator"))
        .contestant("thread + queue", new JmhMethod(GeneratorBenchmark.class, "thread"))
        .bar(Bar.atMost(Metric.TIME, 1.5, "Weft resume + yield"))
        .build();
  }

  /** From a Weft generator. */
  @Benchmark
  public Integer generator(OfGenerator of) {
    return of.generator.next();
  }

  /** From a field that a coroutine fills before it yields. */
  @Benchmark
  public Integer coroutine(OfCoroutine of) {
    of.coroutine.resume();
    return of.element;
  }

  /** From an iterator written by hand, which a generator makes unnecessary. */
  @Benchmark
  public Integer iterator(OfIterator of) {
    return of.iterator.next();
  }

  /** From a thread that hands elements over, as programs without coroutines do. */
  @Benchmark
  public Integer thread(OfThread of) throws InterruptedException {
    return of.queue.take();
  }

  /** A Weft generator. */
  @State(Scope.Thread)
  public static class OfGenerator {
    private final Generator<Integer> generator =
        Generator.of(
            emitter -> {
              while (true) {
                for (Integer element : ELEMENTS) {
                  emitter.emit(element);
                }
              }
            });
  }

  /** A coroutine that leaves the element in a field. */
  @State(Scope.Thread)
  @NullUnmarked // the first resume fills it
  public static class OfCoroutine {
    private Integer element;
    private final Coroutine coroutine =
        Coroutine.of(
            () -> {
              while (true) {
                for (Integer next : ELEMENTS) {
                  element = next;
                  Coroutine.yield();
                }
              }
            });
  }

  /** An iterator with its state in a field. */
  @State(Scope.Thread)
  public static class OfIterator {
    private final Iterator<Integer> iterator =
        new Iterator<>() {
          private int index;

          @Override
          public boolean hasNext() {
            return true;
          }

          @Override
          public Integer next() {
            return ELEMENTS[index++ & (ELEMENTS.length - 1)];
          }
        };
  }

  /** A platform thread that hands its elements over one by one. */
  @State(Scope.Thread)
  public static class OfThread {
    private final SynchronousQueue<Integer> queue = new SynchronousQueue<>();
    private final Thread producer = new Thread(this::produce, "producer");

    /** Starts the thread. */
    @Setup
    public void start() {
      producer.start();
    }

    /** Ends the thread. */
    @TearDown
    public void stop() throws InterruptedException {
      producer.interrupt();
      producer.join();
    }

    private void produce() {
      try {
        while (true) {
          for (Integer element : ELEMENTS) {
            queue.put(element);
          }
        }
      } catch (InterruptedException e) {
        // the measurement is over
      }
    }
  }
}
