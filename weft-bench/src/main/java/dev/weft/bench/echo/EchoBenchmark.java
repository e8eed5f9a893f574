package dev.weft.bench.echo;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.WindowProbe;
import java.util.List;

/** What an echo costs the server that gives it, and how long its client waits for it. */
public final class EchoBenchmark {
  static final Metric CPU =
      new Metric("the server's CPU time per request", "µs", Metric.Better.LESS);
  static final Metric THROUGHPUT = new Metric("throughput", "1,000 requests/s", Metric.Better.MORE);
  static final Metric LATENCY =
      new Metric("99 % latency at half of saturation", "µs", Metric.Better.LESS);
  static final Metric LATENCY_OF_SLICE =
      new Metric("the same in a slice of 20 ms", "µs", Metric.Better.LESS);
  static final Metric ALLOCATED =
      new Metric("heap allocated per request", "bytes", Metric.Better.LESS);
  static final Metric LOST =
      new Metric("throughput lost by idle connections", "%", Metric.Better.LESS);
  static final Metric IDLE_HEAP =
      new Metric("heap per idle connection", "bytes", Metric.Better.LESS);

  static final Metric IDLE_MEMORY =
      new Metric("memory of the process per idle connection", "bytes", Metric.Better.LESS);

  static final Metric CPU_OF_CONNECTION =
      new Metric("the server's CPU time per connection", "µs", Metric.Better.LESS);
  static final Metric CONNECTIONS =
      new Metric("connections", "1,000 connections/s", Metric.Better.MORE);

  private static final String WEFT = "Weft";
  private static final String WEFT_LISTENERS = "Weft, a listener of each thread";
  private static final String WEFT_ON_NIO = "Weft on NIO";
  private static final String BARE_EPOLL = "bare epoll";
  private static final String BARE_CONTINUATIONS = "bare continuations";
  private static final String NIO = "NIO";
  private static final String VIRTUAL_THREADS = "virtual threads";
  private static final String GO = "Go";
  private static final String NETTY = "Netty epoll";

  private EchoBenchmark() {}

  /** The comparison with the bars: small messages, one thread. */
  public static Comparison comparison() {
    Comparison.Builder echo =
        Comparison.named("echo", "What a server of one thread takes to echo 64 bytes.")
            .parameter("connections", 100, 1_000)
            .metrics(CPU, ALLOCATED, THROUGHPUT, LATENCY, LATENCY_OF_SLICE);
    contestants(echo, EchoProbe.class, 1);
    return echo.bar(Bar.atMost(CPU, 1.08, BARE_EPOLL))
        .bar(Bar.atMost(CPU, 0.95, NIO))
        .bar(Bar.atMost(CPU, 0.8, VIRTUAL_THREADS))
        .bar(Bar.atMost(CPU, 1, NETTY))
        .bar(Bar.atMost(LATENCY, 1, NIO))
        .bar(Bar.atMost(LATENCY, 1, VIRTUAL_THREADS))
        .bar(Bar.atMost(LATENCY, 1, NETTY))
        .bar(Bar.atMost(LATENCY_OF_SLICE, 1, NIO))
        .bar(Bar.atMost(LATENCY_OF_SLICE, 1, VIRTUAL_THREADS))
        .bar(Bar.atMost(LATENCY_OF_SLICE, 1, NETTY))
        .build();
  }

  /** From one connection to 10,000, and also large messages. */
  public static Comparison sizes() {
    Comparison.Builder echo =
        Comparison.named("echo-sizes", "Likewise, few and many connections, short and long.")
            .parameter(
                "connections × size",
                "1 × 64 B",
                "100 × 64 B",
                "1,000 × 64 B",
                "10,000 × 64 B",
                "1 × 16 KB",
                "100 × 16 KB",
                "1,000 × 16 KB",
                "10,000 × 16 KB")
            .metrics(CPU, THROUGHPUT);
    contestants(echo, EchoProbe.class, 1);
    return echo.build();
  }

  /** As many threads as cores; the load has as many too. */
  public static Comparison threads() {
    int cores = Runtime.getRuntime().availableProcessors();
    Comparison.Builder echo =
        Comparison.named("echo-threads", "What a server of " + cores + " threads takes for it.")
            .parameter("connections", 100, 1_000)
            .metrics(CPU, THROUGHPUT);
    contestants(echo, EchoProbe.class, cores);
    return echo.build();
  }

  /** 10,000 connections that do nothing. */
  public static Comparison idle() {
    Comparison.Builder echo =
        Comparison.named("echo-idle", "What idle connections take from 100 busy ones.")
            .parameter("idle", 10_000)
            .metrics(THROUGHPUT, LOST, IDLE_HEAP, IDLE_MEMORY);
    contestants(echo, IdleConnectionsProbe.class, 1);
    return echo.contestant(GO, new GoServerWindows(IdleConnectionsProbe.class, 1, List.of()))
        .bar(Bar.within(LOST, 5, WEFT))
        .bar(Bar.within(IDLE_HEAP, 4096, WEFT))
        .bar(Bar.atMost(IDLE_HEAP, 1, GO))
        .bar(Bar.atMost(IDLE_MEMORY, 1, GO))
        .build();
  }

  /** Several threads: one listener that deals connections out, or a listener of each thread. */
  public static Comparison accept() {
    int cores = Runtime.getRuntime().availableProcessors();
    return Comparison.named(
            "echo-accept",
            "What connections take that come and go, and 100 that stay, on " + cores + " threads.")
        .metrics(CPU_OF_CONNECTION, CONNECTIONS, CPU, THROUGHPUT)
        .contestant(WEFT, EchoSetup.probe(AcceptProbe.class, EchoServer.Kind.WEFT, cores))
        .contestant(
            WEFT_LISTENERS,
            EchoSetup.probe(AcceptProbe.class, EchoServer.Kind.WEFT_LISTENERS, cores))
        .contestant(NETTY, EchoSetup.probe(AcceptProbe.class, EchoServer.Kind.NETTY, cores))
        .contestant(
            VIRTUAL_THREADS,
            EchoSetup.probe(
                AcceptProbe.class, EchoServer.Kind.VIRTUAL_THREADS, cores, Carriers.of(cores)))
        .build();
  }

  private static void contestants(
      Comparison.Builder echo, Class<? extends WindowProbe> probe, int threads) {
    echo.contestant(WEFT, EchoSetup.probe(probe, EchoServer.Kind.WEFT, threads))
        .contestant(
            WEFT_ON_NIO, EchoSetup.probe(probe, EchoServer.Kind.WEFT, threads, "-Dweft.poller=nio"))
        .contestant(BARE_EPOLL, EchoSetup.probe(probe, EchoServer.Kind.BARE_EPOLL, threads))
        .contestant(
            BARE_CONTINUATIONS, EchoSetup.probe(probe, EchoServer.Kind.BARE_CONTINUATIONS, threads))
        .contestant(NIO, EchoSetup.probe(probe, EchoServer.Kind.NIO, threads))
        .contestant(
            VIRTUAL_THREADS,
            EchoSetup.probe(probe, EchoServer.Kind.VIRTUAL_THREADS, threads, Carriers.of(threads)))
        .contestant(NETTY, EchoSetup.probe(probe, EchoServer.Kind.NETTY, threads));
  }
}
