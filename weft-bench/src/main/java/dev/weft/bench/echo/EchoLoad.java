package dev.weft.bench.echo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.HdrHistogram.Histogram;

/** The load on one server: connections, dealt to as many threads as the server has. */
final class EchoLoad {
  /** The work of a server while it was watched. */
  record Window(double cpuNanosPerRequest, double requestsPerSecond, double bytesPerRequest) {}

  /**
   * How long answers took, in nanoseconds.
   *
   * @param count how many there were
   * @param p99 of all of them
   * @param p99OfSlice of those in one slice of the time, and that of the slice in the middle
   */
  record Latencies(long count, double p99, double p99OfSlice) {}

  private static final double P99 = 99;
  private static final int BRIEF_CONNECTIONS = 100;
  private static final Duration BRIEFLY = Duration.ofMillis(50);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final ServerProcess server;
  private final List<LoadLoop> loops = new ArrayList<>();

  EchoLoad(ServerProcess server, int threads, int connections, int size) {
    this.server = server;
    int used = Math.min(threads, connections);
    Talk talk = server.talk(size);
    for (int i = 0; i < used; i++) {
      LoadLoop loop = new LoadLoop(server.port(), talk);
      loop.open(connections / used + (i < connections % used ? 1 : 0));
      loops.add(loop);
    }
  }

  /**
   * Warms a server up by connections that come and go: a fiber that starts before its code is
   * compiled runs on interpreted frames until it ends, and these are slow to suspend, in Weft as in
   * the JDK. A server that has been up for a while has no such fibers.
   */
  static void warmUp(ServerProcess server, int threads, int size, boolean quick)
      throws InterruptedException, IOException {
    // counts messages, not time: on a busy machine the compiler gets less of the time
    long enough = quick ? 150_000 : 600_000;
    for (long answered = 0; answered < enough; ) {
      EchoLoad brief = new EchoLoad(server, threads, BRIEF_CONNECTIONS, size);
      brief.saturate(Duration.ZERO, () -> Thread.sleep(BRIEFLY));
      answered += brief.answered();
      brief.close();
    }
  }

  /** Keeps the server as busy as it can be, first to warm up and then to watch it. */
  Window saturate(Duration warmUp, Duration time) throws InterruptedException {
    Window[] seen = new Window[1];
    try {
      saturate(warmUp, () -> seen[0] = watch(time));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return seen[0];
  }

  /** An action that runs while the server is busy. */
  interface Meanwhile {
    void run() throws InterruptedException, IOException;
  }

  /** Keeps the server as busy as it can be until the action has ended. */
  void saturate(Duration warmUp, Meanwhile meanwhile) throws InterruptedException, IOException {
    List<FutureTask<?>> running = new ArrayList<>();
    for (LoadLoop loop : loops) {
      FutureTask<?> task = new FutureTask<>(loop::closedLoop, null);
      Thread.ofPlatform().daemon().name("load").start(task);
      running.add(task);
    }
    Thread.sleep(warmUp);
    meanwhile.run();
    loops.forEach(LoadLoop::stop);
    for (FutureTask<?> task : running) {
      await(task);
    }
  }

  private Window watch(Duration time) throws InterruptedException, IOException {
    long bytes = server.allocated();
    long cpu = server.cpuNanos();
    long answeredBefore = answered();
    long before = System.nanoTime();
    do { // again if a busy machine has not let the server run at all
      Thread.sleep(time);
    } while (answered() == answeredBefore && System.nanoTime() - before < PATIENCE.toNanos());
    cpu = server.cpuNanos() - cpu;
    long answered = answered() - answeredBefore;
    double nanos = System.nanoTime() - before;
    bytes = server.allocated() - bytes;
    if (answered == 0) {
      throw new IllegalStateException("the server has answered nothing in " + PATIENCE);
    }
    return new Window((double) cpu / answered, 1e9 * answered / nanos, (double) bytes / answered);
  }

  private static void await(FutureTask<?> task) throws InterruptedException {
    try {
      task.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the load has failed", e);
    }
  }

  /** Sends at a rate, first to warm up, then for some slices of time. One thread only. */
  Latencies atRate(double perSecond, Duration warmUp, Duration slice, int slices) {
    LoadLoop loop = loops.getFirst();
    if (loops.size() > 1) {
      throw new IllegalStateException("the open loop is for one thread");
    }
    loop.openLoop(perSecond, warmUp);
    Histogram all = new Histogram(3);
    double[] each = new double[slices];
    for (int i = 0; i < slices; i++) {
      Histogram some = loop.openLoop(perSecond, slice);
      all.add(some);
      each[i] = some.getValueAtPercentile(P99);
    }
    Arrays.sort(each);
    return new Latencies(all.getTotalCount(), all.getValueAtPercentile(P99), each[slices / 2]);
  }

  void close() {
    loops.forEach(LoadLoop::close);
  }

  private long answered() {
    return loops.stream().mapToLong(LoadLoop::answered).sum();
  }
}
