package dev.weft.bench.echo;

import static dev.weft.bench.echo.EchoBenchmark.ALLOCATED;
import static dev.weft.bench.echo.EchoBenchmark.CPU;
import static dev.weft.bench.echo.EchoBenchmark.LATENCY;
import static dev.weft.bench.echo.EchoBenchmark.LATENCY_OF_SLICE;
import static dev.weft.bench.echo.EchoBenchmark.THROUGHPUT;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.HookFlag;

/** What the hook saves an unmodified server of blocking sockets: one program, run three ways. */
public final class HookEchoBenchmark {
  private static final String VIRTUAL_THREADS = "virtual threads";

  private HookEchoBenchmark() {}

  /** One thread against one carrier. */
  public static Comparison comparison() {
    return contestants(
            Comparison.named(
                    "hook-echo", "What an unmodified java.net.Socket server of one thread takes.")
                .metrics(CPU, THROUGHPUT, LATENCY, LATENCY_OF_SLICE, ALLOCATED),
            1,
            Carriers.of(1))
        .bar(Bar.atMost(CPU, 0.95, VIRTUAL_THREADS))
        .bar(Bar.atMost(LATENCY, 0.8, VIRTUAL_THREADS))
        .bar(Bar.atMost(LATENCY_OF_SLICE, 0.8, VIRTUAL_THREADS))
        .build();
  }

  /** Two threads against what the JDK does by itself where there are two cores. */
  public static Comparison threads() {
    return contestants(
            Comparison.named("hook-echo-threads", "Likewise, of two threads.")
                .metrics(CPU, THROUGHPUT, ALLOCATED),
            2,
            "-XX:ActiveProcessorCount=2")
        .bar(Bar.atMost(CPU, 0.85, VIRTUAL_THREADS))
        .build();
  }

  /** All get the flags, so that their JVMs differ in nothing else. */
  private static Comparison.Builder contestants(
      Comparison.Builder echo, int threads, String... flags) {
    return echo.parameter("connections", 100, 1_000)
        .contestant(
            "Weft",
            EchoSetup.probe(EchoProbe.class, EchoServer.Kind.GUESTS_OF_WEFT, threads, flags))
        .contestant(
            "Weft, hook off",
            EchoSetup.probe(
                EchoProbe.class, EchoServer.Kind.GUESTS_OF_WEFT, threads, HookFlag.offAnd(flags)))
        .contestant(
            VIRTUAL_THREADS,
            EchoSetup.probe(EchoProbe.class, EchoServer.Kind.VIRTUAL_THREADS, threads, flags));
  }
}
