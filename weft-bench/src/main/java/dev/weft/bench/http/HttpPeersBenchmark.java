package dev.weft.bench.http;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.ForkedWindows;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What a request costs Weft's web server and those that people use. */
public final class HttpPeersBenchmark {
  /** What a request costs the server. */
  public static final Metric CPU =
      new Metric("the server's CPU time per request", "µs", Metric.Better.LESS);

  /** How many requests it answers. */
  public static final Metric THROUGHPUT =
      new Metric("throughput", "1,000 requests/s", Metric.Better.MORE);

  /** How long a client waits for an answer. */
  public static final Metric LATENCY =
      new Metric("99 % latency under load", "µs", Metric.Better.LESS);

  private static final String NETTY = "Netty";
  private static final String HELIDON = "Helidon";
  private static final String JETTY = "Jetty";
  private static final Map<String, HttpPeer> PEERS =
      Map.of(
          "JDK's, virtual threads",
          HttpPeer.JDK,
          NETTY,
          HttpPeer.NETTY,
          "Undertow",
          HttpPeer.UNDERTOW,
          HELIDON,
          HttpPeer.HELIDON,
          JETTY,
          HttpPeer.JETTY,
          "Vert.x",
          HttpPeer.VERTX);

  private HttpPeersBenchmark() {}

  /** A short text at once, on one thread. */
  public static Comparison plain() {
    return comparison(
        "http-plain",
        "What web servers take for a short answer, on one thread.",
        1,
        HttpWork.PLAIN);
  }

  /** A short text at once, on two threads. */
  public static Comparison plainOnTwo() {
    return comparison(
        "http-plain-2",
        "What web servers take for a short answer, on two threads.",
        2,
        HttpWork.PLAIN);
  }

  /** A handler that sleeps. */
  public static Comparison sleep() {
    return comparison(
        "http-sleep", "The same with handlers that sleep for 5 ms.", 1, HttpWork.SLEEP);
  }

  /** A handler that asks another server. */
  public static Comparison roundTrip() {
    return comparison(
        "http-round-trip",
        "The same with handlers that ask another server and wait for it.",
        1,
        HttpWork.ROUND_TRIP);
  }

  private static Comparison comparison(String name, String shows, int threads, HttpWork work) {
    Comparison.Builder all =
        Comparison.named(name, shows)
            .parameter("connections", 64, 512)
            .metrics(CPU, THROUGHPUT, LATENCY)
            .contestant("Weft", probe(HttpPeer.WEFT, threads, work));
    PEERS.entrySet().stream()
        .sorted(Map.Entry.comparingByValue())
        .forEach(peer -> all.contestant(peer.getKey(), probe(peer.getValue(), threads, work)));
    if (work == HttpWork.PLAIN) {
      all.bar(Bar.atMost(CPU, 1, NETTY)).bar(Bar.atLeast(THROUGHPUT, 1, NETTY));
    }
    for (String peer : List.of(HELIDON, JETTY)) {
      all.bar(Bar.atMost(CPU, 0.7, peer)).bar(Bar.atLeast(THROUGHPUT, 1, peer));
    }
    PEERS.keySet().stream().sorted().forEach(peer -> all.bar(Bar.atMost(LATENCY, 1, peer)));
    return all.build();
  }

  private static ForkedWindows probe(HttpPeer peer, int threads, HttpWork work) {
    List<String> flags = new ArrayList<>();
    if (peer != HttpPeer.WEFT) {
      flags.addAll(List.of(Carriers.of(threads)));
    }
    flags.add("-D" + HttpPeerProbe.PEER + "=" + peer);
    flags.add("-D" + HttpPeerProbe.THREADS + "=" + threads);
    flags.add("-D" + HttpPeerProbe.WORK + "=" + work);
    return new ForkedWindows(HttpPeerProbe.class, flags);
  }
}
