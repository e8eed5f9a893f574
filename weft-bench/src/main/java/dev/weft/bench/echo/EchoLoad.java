package dev.weft.bench.echo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.HdrHistogram.Histogram;

/** The load on one server: connections, dealt to as many threads as the server has. */
final class EchoLoad {
  /** What a server did while it was watched. */
  record Window(double cpuNanosPerRequest, double requestsPerSecond) {}

  private final ServerProcess server;
  private final List<LoadLoop> loops = new ArrayList<>();

  EchoLoad(ServerProcess server, int threads, int connections, int size) {
    this.server = server;
    int used = Math.min(threads, connections);
    for (int i = 0; i < used; i++) {
      LoadLoop loop = new LoadLoop(server.port(), size);
      loop.open(connections / used + (i < connections % used ? 1 : 0));
      loops.add(loop);
    }
  }

  /** Keeps the server as busy as it can be, first to warm up and then to watch it. */
  Window saturate(Duration warmUp, Duration time) throws InterruptedException {
    List<FutureTask<?>> running = new ArrayList<>();
    for (LoadLoop loop : loops) {
      FutureTask<?> task = new FutureTask<>(loop::closedLoop, null);
      Thread.ofPlatform().daemon().name("load").start(task);
      running.add(task);
    }
    Thread.sleep(warmUp);
    long cpu = server.cpuNanos();
    long answered = answered();
    long before = System.nanoTime();
    Thread.sleep(time);
    cpu = server.cpuNanos() - cpu;
    answered = answered() - answered;
    double nanos = System.nanoTime() - before;
    loops.forEach(LoadLoop::stop);
    for (FutureTask<?> task : running) {
      await(task);
    }
    if (answered == 0) {
      throw new IllegalStateException("the server has answered nothing in " + time);
    }
    return new Window((double) cpu / answered, 1e9 * answered / nanos);
  }

  private static void await(FutureTask<?> task) throws InterruptedException {
    try {
      task.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the load has failed", e);
    }
  }

  /** Sends at a rate, first to warm up; returns the latencies in nanoseconds. One thread only. */
  Histogram atRate(double perSecond, Duration warmUp, Duration time) {
    LoadLoop loop = loops.getFirst();
    if (loops.size() > 1) {
      throw new IllegalStateException("the open loop is for one thread");
    }
    loop.openLoop(perSecond, warmUp);
    return loop.openLoop(perSecond, time);
  }

  private long answered() {
    return loops.stream().mapToLong(LoadLoop::answered).sum();
  }
}
