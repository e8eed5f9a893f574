package dev.weft.bench.echo;

import static dev.weft.bench.echo.EchoBenchmark.ALLOCATED;
import static dev.weft.bench.echo.EchoBenchmark.CPU;
import static dev.weft.bench.echo.EchoBenchmark.THROUGHPUT;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.run.Carriers;

/**
 * What a request costs the same program on Weft's HTTP server and on the JDK's. Not how long it
 * takes at half of saturation, as for echoes: half of its saturation is a load several times as
 * high for Weft.
 */
public final class HttpBenchmark {
  private static final String JDK = "JDK's server";
  private static final String VIRTUAL_THREADS = "JDK's, virtual threads";

  private HttpBenchmark() {}

  /** A short text, on connections that stay open. */
  public static Comparison comparison() {
    return Comparison.named(
            "http", "What the JDK's HTTP server API takes for a short answer, on one thread.")
        .parameter("connections", 100, 1_000)
        .metrics(CPU, THROUGHPUT, ALLOCATED)
        .contestant("Weft", EchoSetup.probe(EchoProbe.class, EchoServer.Kind.HTTP_WEFT, 1))
        .contestant(JDK, EchoSetup.probe(EchoProbe.class, EchoServer.Kind.HTTP_JDK, 1))
        .contestant(
            VIRTUAL_THREADS,
            EchoSetup.probe(EchoProbe.class, EchoServer.Kind.HTTP_JDK_VIRTUAL, 1, Carriers.of(1)))
        .bar(Bar.atMost(CPU, 0.8, JDK))
        .bar(Bar.atMost(CPU, 0.5, VIRTUAL_THREADS))
        .build();
  }
}
