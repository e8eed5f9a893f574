package dev.weft.bench.echo;

import dev.weft.bench.run.Probe;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Loads an echo server by half, and compares the CPU time of windows in which the console is open
 * and top runs with that of the windows before and after.
 *
 * <pre>
 *   alone  alone  alone   [watched  alone]  [watched  alone]  …
 *   └── before anything has looked ──┘          after: LEFT
 * </pre>
 */
public final class WatchedProbe implements Probe {
  private static final int CONNECTIONS = 100;
  private static final int SIZE = 64;
  private static final int BEFORE = 5;
  private static final Duration SETTLE = Duration.ofSeconds(1);
  private static final Duration WINDOW = Duration.ofSeconds(2);

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
      for (int i = 0; i < BEFORE; i++) {
        before.add(share(server, load, half));
      }
      URI console = URI.create(Files.readString(file));
      List<Double> after = new ArrayList<>();
      List<Double> costs = new ArrayList<>();
      double alone = before.getLast();
      for (int i = 0; i < (quick ? 3 : 12); i++) {
        double watched;
        try (Watchers watchers = new Watchers(server.pid(), console)) {
          watched = share(server, load, half);
          check(watchers);
        }
        double next = share(server, load, half);
        costs.add(watched - (alone + next) / 2);
        after.add(next);
        alone = next;
      }
      return Map.of(
          WatchedBenchmark.COST.name(), median(costs),
          WatchedBenchmark.LEFT.name(), Math.max(0, median(after) - median(before)),
          WatchedBenchmark.SERVER.name(), median(before));
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
  private static double share(ServerProcess server, EchoLoad load, double rate) {
    load.atRate(rate, Duration.ZERO, SETTLE, 1);
    long cpu = server.cpuNanos();
    long begin = System.nanoTime();
    load.atRate(rate, Duration.ZERO, WINDOW, 1);
    return 100.0 * (server.cpuNanos() - cpu) / (System.nanoTime() - begin);
  }

  private static void check(Watchers watchers) {
    if (watchers.looks() < WINDOW.toSeconds()) {
      throw new IllegalStateException("only " + watchers.looks() + " looks in a window");
    }
  }

  private static double median(List<Double> numbers) {
    List<Double> sorted = new ArrayList<>(numbers);
    Collections.sort(sorted);
    return sorted.get(sorted.size() / 2);
  }
}
