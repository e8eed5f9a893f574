package dev.weft.bench.suite;

import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.WindowProbe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * The time from a wake-up, or a start, of a fiber until that fiber runs. The fiber that woke or
 * started it, or another fiber of the same thread, computes on; the second thread of the scheduler
 * sleeps.
 */
public final class WakeWhileBusyBenchmark {
  private static final Metric WOKEN = new Metric("woken, median", "µs", Metric.Better.LESS);
  private static final Metric WOKEN_99 = new Metric("woken, 99 %", "µs", Metric.Better.LESS);
  private static final Metric NEW = new Metric("new, median", "µs", Metric.Better.LESS);
  private static final Metric NEW_99 = new Metric("new, 99 %", "µs", Metric.Better.LESS);
  private static final Metric GO = new Metric("Weft.go, median", "µs", Metric.Better.LESS);
  private static final Metric GO_99 = new Metric("Weft.go, 99 %", "µs", Metric.Better.LESS);
  private static final Metric TIMER = new Metric("timer due, median", "µs", Metric.Better.LESS);
  private static final Metric TIMER_99 = new Metric("timer due, 99 %", "µs", Metric.Better.LESS);
  private static final Metric SOCKET = new Metric("socket ready, median", "µs", Metric.Better.LESS);
  private static final Metric SOCKET_99 =
      new Metric("socket ready, 99 %", "µs", Metric.Better.LESS);

  private WakeWhileBusyBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "wake-while-busy",
            "How long a woken or new fiber takes to run while the fiber that woke or started it, or"
                + " another one on its thread, computes on, and another thread sleeps.")
        .parameter("policy", "fifo", "priority", "responseRatio", "timeSlice", "workStealing")
        .metrics(WOKEN, WOKEN_99, NEW, NEW_99, GO, GO_99, TIMER, TIMER_99, SOCKET, SOCKET_99)
        .contestant("Weft", ForkedWindows.of(OfWeft.class))
        .contestant(
            "virtual threads",
            ForkedWindows.of(OfVirtualThreads.class, "-Djdk.virtualThreadScheduler.parallelism=2"))
        .bar(Bar.within(WOKEN, 1_000, "Weft"))
        .bar(Bar.within(WOKEN_99, 5_000, "Weft"))
        .bar(Bar.within(NEW, 1_000, "Weft"))
        .bar(Bar.within(NEW_99, 5_000, "Weft"))
        .bar(Bar.within(GO, 1_000, "Weft"))
        .bar(Bar.within(GO_99, 5_000, "Weft"))
        .bar(Bar.within(TIMER, 1_000, "Weft"))
        .bar(Bar.within(TIMER_99, 5_000, "Weft"))
        .bar(Bar.within(SOCKET, 1_000, "Weft"))
        .bar(Bar.within(SOCKET_99, 5_000, "Weft"))
        .build();
  }

  /** Fibers of a scheduler with two threads. */
  public static final class OfWeft extends Contestant {
    @Override
    public Windows prepare(String policy, boolean quick) throws Exception {
      Scheduler scheduler =
          Scheduler.builder().threads(2).policy(policy(policy)).daemon(true).build().start();
      scheduler.go(() -> measure(WARM_UPS)).join();
      return () -> scheduler.go(() -> measure(quick ? FEW_ROUNDS : ROUNDS)).join();
    }

    @Override
    Thread go(Runnable body) {
      return Weft.go(body::run).thread();
    }

    private static Policy policy(String name) {
      return switch (name) {
        case "priority" -> Policy.priority();
        case "responseRatio" -> Policy.responseRatio();
        case "timeSlice" -> Policy.timeSlice(Duration.ofMillis(10));
        case "workStealing" -> Policy.workStealing();
        default -> Policy.fifo();
      };
    }
  }

  /** The JDK's own. */
  public static final class OfVirtualThreads extends Contestant {
    @Override
    public Windows prepare(String policy, boolean quick) throws Exception {
      measureInThread(WARM_UPS);
      return () -> measureInThread(quick ? FEW_ROUNDS : ROUNDS);
    }

    @Override
    Thread go(Runnable body) {
      return Thread.startVirtualThread(body);
    }

    private Map<String, Double> measureInThread(int rounds) throws Exception {
      Object[] result = new Object[1];
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  result[0] = measure(rounds);
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              })
          .join();
      @SuppressWarnings("unchecked")
      Map<String, Double> numbers = (Map<String, Double>) result[0];
      return numbers;
    }
  }

  /** The same code for both: a virtual thread that a fiber starts is a fiber. */
  abstract static class Contestant implements WindowProbe {
    static final int WARM_UPS = 50;
    static final int ROUNDS = 100;
    static final int FEW_ROUNDS = 25;
    private static final long COMPUTE_NANOS = 8_000_000;

    final Map<String, Double> measure(int rounds) throws InterruptedException {
      Samples woken = new Samples(rounds);
      Samples started = new Samples(rounds);
      Samples startedByWeft = new Samples(rounds);
      Samples due = new Samples(rounds);
      Samples ready = new Samples(rounds);
      try (ReadPipes pipes = new ReadPipes()) {
        for (int i = 0; i < rounds; i++) {
          woken.add(microsUntilWoken());
          started.add(microsUntilStarted(Thread::startVirtualThread));
          startedByWeft.add(microsUntilStarted(this::go));
          due.add(microsAfterTimer());
          ready.add(microsAfterWrite(pipes));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Map<String, Double> numbers = new LinkedHashMap<>();
      put(numbers, woken, WOKEN, WOKEN_99);
      put(numbers, started, NEW, NEW_99);
      put(numbers, startedByWeft, GO, GO_99);
      put(numbers, due, TIMER, TIMER_99);
      put(numbers, ready, SOCKET, SOCKET_99);
      return numbers;
    }

    private static void put(
        Map<String, Double> numbers, Samples samples, Metric median, Metric most) {
      numbers.put(median.name(), samples.median());
      numbers.put(most.name(), samples.percentile(99));
    }

    /** Starts a fiber in the way of the contestant. */
    abstract Thread go(Runnable body);

    /** A way to start a fiber. */
    private interface Starter {
      Thread start(Runnable body);
    }

    private static double microsUntilWoken() throws InterruptedException {
      CountDownLatch gate = new CountDownLatch(1);
      long[] ran = new long[1];
      Thread sleeper =
          Thread.startVirtualThread(
              () -> {
                try {
                  gate.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                ran[0] = System.nanoTime();
              });
      Thread.sleep(Duration.ofMillis(2)); // until it waits, and the second thread sleeps
      long start = System.nanoTime();
      gate.countDown();
      compute(start);
      sleeper.join();
      return (ran[0] - start) / 1e3;
    }

    private static double microsUntilStarted(Starter starter) throws InterruptedException {
      Thread.sleep(Duration.ofMillis(2));
      long[] ran = new long[1];
      long start = System.nanoTime();
      Thread thread = starter.start(() -> ran[0] = System.nanoTime());
      compute(start);
      thread.join();
      return (ran[0] - start) / 1e3;
    }

    /**
     * Returns how late the later one of two sleepers wakes: a policy that deals out puts one of
     * them on the thread that is to compute.
     */
    private static double microsAfterTimer() throws InterruptedException {
      long[] late = new long[2];
      Thread[] sleepers = new Thread[late.length];
      for (int i = 0; i < late.length; i++) {
        int index = i;
        sleepers[i] =
            Thread.startVirtualThread(
                () -> {
                  long due = System.nanoTime() + 4_000_000;
                  try {
                    Thread.sleep(Duration.ofMillis(4));
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  late[index] = System.nanoTime() - due;
                });
      }
      Thread.sleep(Duration.ofMillis(2));
      compute(System.nanoTime());
      for (Thread sleeper : sleepers) {
        sleeper.join();
      }
      return Math.max(late[0], late[1]) / 1e3;
    }

    /** Returns after how long the later one of two readers runs, of which one is as above. */
    private static double microsAfterWrite(ReadPipes pipes) throws InterruptedException {
      long[] ran = new long[2];
      Thread[] readers = new Thread[ran.length];
      for (int i = 0; i < ran.length; i++) {
        int index = i;
        readers[i] =
            Thread.startVirtualThread(
                () -> {
                  pipes.read(index);
                  ran[index] = System.nanoTime();
                });
      }
      Thread.sleep(Duration.ofMillis(2));
      long[] written = new long[1];
      Thread writer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      Thread.sleep(Duration.ofMillis(2));
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                    written[0] = System.nanoTime();
                    pipes.write();
                  });
      compute(System.nanoTime());
      writer.join();
      for (Thread reader : readers) {
        reader.join();
      }
      return (Math.max(ran[0], ran[1]) - written[0]) / 1e3;
    }

    private static void compute(long start) {
      while (System.nanoTime() - start < COMPUTE_NANOS) {
        Thread.onSpinWait();
      }
    }
  }

  /** Two pipes in blocking mode. */
  private static final class ReadPipes implements AutoCloseable {
    private final Pipe[] pipes = {Pipe.open(), Pipe.open()};

    ReadPipes() throws IOException {}

    /** Reads a byte, when it has come. */
    void read(int index) {
      try {
        pipes[index].source().read(ByteBuffer.allocate(1));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Writes a byte to each. */
    void write() {
      try {
        for (Pipe pipe : pipes) {
          pipe.sink().write(ByteBuffer.allocate(1));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() throws IOException {
      for (Pipe pipe : pipes) {
        pipe.sink().close();
        pipe.source().close();
      }
    }
  }
}
