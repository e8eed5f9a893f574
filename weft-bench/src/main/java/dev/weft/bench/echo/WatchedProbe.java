package dev.weft.bench.echo;

import dev.weft.bench.run.Probe;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * Loads an echo server by half, and compares the CPU time of windows in which the console is open
 * and top runs with that of the windows before and after.
 *
 * <pre>
 *   alone  alone  alone  …   console starts   [watched  alone]  [watched  alone]  …
 *   └── there is no console: before ──┘        cost: watched − the alone beside it
 *                                              left: the windows alone − before
 * </pre>
 *
 * <p>What is left when nobody looks any more is judged twice. The threads of the console and of the
 * answers to top must have taken no CPU time at all: the kernel counts that to the nanosecond. And
 * the whole process must not take more than before by more than chance explains: twice the standard
 * error of the difference of the two medians, from the spread of the windows of this very run. That
 * noise is a metric with a bar of its own: a run on a noisy machine proves nothing, and says so.
 */
public final class WatchedProbe implements Probe {
  private static final int CONNECTIONS = 100;
  private static final int SIZE = 64;
  private static final int BEFORE = 12;
  private static final int PAIRS = 12;
  private static final Duration SETTLE = Duration.ofSeconds(1);
  private static final Duration WINDOW = Duration.ofSeconds(2);

  /** What the standard error of a median of normal readings is, in terms of that of their mean. */
  private static final double MEDIAN_TO_MEAN = 1.2533;

  /** What the standard deviation of normal readings is, in terms of their median deviation. */
  private static final double DEVIATION = 1.4826;

  /** Creates one. */
  public WatchedProbe() {}

  @Override
  public Map<String, Double> measure(String parameter, boolean quick) throws Exception {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new Impossible("needs Linux");
    }
    Path file = Files.createTempFile("weft-bench-console", "");
    try (ServerProcess server = start(file)) {
      EchoLoad.warmUp(server, 1, SIZE, quick);
      EchoLoad load = new EchoLoad(server, 1, CONNECTIONS, SIZE);
      double half = load.saturate(SETTLE, WINDOW).requestsPerSecond() / 2;
      List<Double> before = new ArrayList<>();
      for (int i = 0; i < (quick ? 3 : BEFORE); i++) {
        before.add(share(server, load, half, WINDOW));
      }
      URI console = URI.create(WatchedServerMain.startConsole(file));
      List<Double> after = new ArrayList<>();
      List<Double> costs = new ArrayList<>();
      long idleNanos = 0;
      double alone = before.getLast();
      for (int i = 0; i < (quick ? 3 : PAIRS); i++) {
        double watched;
        try (Watchers watchers = new Watchers(server.pid(), console)) {
          watched = share(server, load, half, WINDOW);
          check(watchers);
        }
        load.atRate(half, Duration.ZERO, SETTLE, 1); // half a second until the socket is gone
        long spent = watchersNanos(server.pid());
        double next = share(server, load, half, WINDOW);
        idleNanos += watchersNanos(server.pid()) - spent;
        costs.add(watched - (alone + next) / 2);
        after.add(next);
        alone = next;
      }
      double own = median(before);
      double noise = 2 * Math.hypot(errorOfMedian(before), errorOfMedian(after));
      return Map.of(
          WatchedBenchmark.COST.name(),
          median(costs),
          WatchedBenchmark.COST_OF_SERVER.name(),
          100 * median(costs) / own,
          WatchedBenchmark.IDLE.name(),
          100.0 * idleNanos / (after.size() * SETTLE.plus(WINDOW).toNanos()),
          WatchedBenchmark.LEFT.name(),
          Math.max(0, median(after) - own - noise),
          WatchedBenchmark.NOISE.name(),
          noise,
          WatchedBenchmark.SERVER.name(),
          own);
    } finally {
      Files.delete(file);
    }
  }

  private static ServerProcess start(Path file) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> !flag.startsWith("-Dweft.bench"))
        .forEach(command::add);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(WatchedServerMain.class.getName(), file.toString()));
    command.addAll(List.of(EchoServer.Kind.WEFT.name(), "1", "" + EchoSetup.buffer(SIZE)));
    return ServerProcess.start(false, command, Map.of());
  }

  /** The CPU time that the server takes in a window, in per cent of it, after a while of load. */
  private static double share(ServerProcess server, EchoLoad load, double rate, Duration window) {
    load.atRate(rate, Duration.ZERO, SETTLE, 1);
    long cpu = server.cpuNanos();
    long begin = System.nanoTime();
    load.atRate(rate, Duration.ZERO, window, 1);
    return 100.0 * (server.cpuNanos() - cpu) / (System.nanoTime() - begin);
  }

  /** The CPU time of the threads that serve the console and top, so far, in nanoseconds. */
  static long watchersNanos(long pid) throws IOException {
    long sum = 0;
    try (DirectoryStream<Path> tasks =
        Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
      for (Path task : tasks) {
        try {
          String name = Files.readString(task.resolve("comm"));
          if (name.startsWith("weft-console") || name.startsWith("weft-attach")) {
            sum += Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ", 2)[0]);
          }
        } catch (NoSuchFileException e) {
          // the thread has ended
        }
      }
    }
    return sum;
  }

  private static void check(Watchers watchers) {
    if (watchers.looks() < WINDOW.toSeconds()) {
      throw new IllegalStateException("only " + watchers.looks() + " looks in a window");
    }
  }

  private static double median(List<Double> numbers) {
    double[] sorted = sorted(numbers.stream().mapToDouble(each -> each));
    return sorted[sorted.length / 2];
  }

  /** The standard error of a median, from the spread around it; outliers count little. */
  static double errorOfMedian(List<Double> numbers) {
    double middle = median(numbers);
    double[] away = sorted(numbers.stream().mapToDouble(each -> Math.abs(each - middle)));
    return MEDIAN_TO_MEAN * DEVIATION * away[away.length / 2] / Math.sqrt(numbers.size());
  }

  private static double[] sorted(DoubleStream numbers) {
    return numbers.sorted().toArray();
  }
}
