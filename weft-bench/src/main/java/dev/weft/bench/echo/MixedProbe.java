package dev.weft.bench.echo;

import dev.weft.bench.run.WindowProbe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Sends messages to a server at a rate, on 1,000 connections, while fibers of that server compute,
 * as many as the parameter says; they compute during a window only, since other servers have their
 * windows in between.
 */
public final class MixedProbe implements WindowProbe {
  static final int CONNECTIONS = 1_000;
  static final int SIZE = 64;

  /** Requests a second; the default is about a third of saturation where it was first measured. */
  private static final String RATE = "weft.bench.echo.rate";

  private static final int USUAL_RATE = 20_000;

  /** What a client does not wait for any longer. */
  private static final long TOO_LATE_NANOS = 1_000_000_000;

  private static final Duration SETTLE = Duration.ofMillis(200);
  private static final Duration WATCH = Duration.ofSeconds(2);

  /** How long a server may take for what is under way at the end, while its fibers compute on. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Returns the JVM flag for a rate. */
  static String rate(double perSecond) {
    return "-D" + RATE + "=" + Math.round(perSecond);
  }

  /** Creates one. */
  public MixedProbe() {}

  @Override
  public Windows prepare(String parameter, boolean quick) throws Exception {
    int computing = Integer.parseInt(parameter);
    ServerProcess server = EchoSetup.start(CONNECTIONS, SIZE);
    EchoLoad.warmUp(server, 1, SIZE, quick);
    LoadLoop load = new LoadLoop(server.port(), server.talk(SIZE));
    load.open(CONNECTIONS);
    return () -> measure(server, load, computing);
  }

  private static Map<String, Double> measure(ServerProcess server, LoadLoop load, int computing)
      throws IOException, InterruptedException {
    server.startComputing(computing);
    Thread.sleep(SETTLE);
    long computed = server.computedMicros();
    long start = System.nanoTime();
    LoadLoop.Answers answers =
        load.openLoop(
            Integer.getInteger(RATE, USUAL_RATE),
            WATCH,
            PATIENCE,
            () -> {
              try {
                server.stopComputing();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    double seconds = (System.nanoTime() - start) / 1e9;
    Map<String, Double> numbers = new HashMap<>();
    numbers.put(MixedBenchmark.MEDIAN.name(), answers.percentile(50) / 1e6);
    numbers.put(MixedBenchmark.P99.name(), answers.percentile(99) / 1e6);
    numbers.put(MixedBenchmark.UNANSWERED.name(), (double) answers.countAbove(TOO_LATE_NANOS));
    numbers.put(MixedBenchmark.ANSWERED.name(), answers.inTime() / 1e3 / WATCH.toSeconds());
    if (computing > 0) {
      double millis = (server.computedMicros() - computed) / 1e3;
      numbers.put(MixedBenchmark.COMPUTED.name(), millis / seconds);
    }
    server.stopComputing();
    return numbers;
  }
}
