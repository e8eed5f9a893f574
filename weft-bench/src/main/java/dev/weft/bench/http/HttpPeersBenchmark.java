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

  /** How much of Helidon's and Jetty's CPU time a request may take. */
  private static final double MOST_CPU = 0.7;

  private static final int SLOW_CLIENTS = 2_000;

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

  /** A handler that sleeps, on two threads. */
  public static Comparison sleepOnTwo() {
    return comparison(
        "http-sleep-2",
        "The same with handlers that sleep for 5 ms, on two threads.",
        2,
        HttpWork.SLEEP);
  }

  /** A handler that asks another server. */
  public static Comparison roundTrip() {
    return comparison(
        "http-round-trip",
        "The same with handlers that ask another server and wait for it.",
        1,
        HttpWork.ROUND_TRIP);
  }

  /** A handler that asks another server, on two threads. */
  public static Comparison roundTripOnTwo() {
    return comparison(
        "http-round-trip-2",
        "The same with handlers that ask another server and wait for it, on two threads.",
        2,
        HttpWork.ROUND_TRIP);
  }

  /** Clients that never end their request, beside the load. */
  public static Comparison slowClients() {
    String alone = "without slow clients";
    return Comparison.named(
            "http-slow-clients",
            "The same beside %,d clients that send a byte a second of a head."
                .formatted(SLOW_CLIENTS))
        .parameter("connections", 64)
        .metrics(CPU, THROUGHPUT, LATENCY)
        .contestant(
            "Weft",
            probe(
                HttpPeer.WEFT, 1, HttpWork.PLAIN, HttpPeerProbe.SLOW_CLIENTS + "=" + SLOW_CLIENTS))
        .contestant(alone, probe(HttpPeer.WEFT, 1, HttpWork.PLAIN))
        .bar(Bar.atMost(LATENCY, 2, alone))
        .build();
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
      all.bar(Bar.atMost(CPU, MOST_CPU, peer))
          .bar(Bar.atLeast(THROUGHPUT, leastThroughput(threads, work), peer));
    }
    PEERS.keySet().stream().sorted().forEach(peer -> all.bar(Bar.atMost(LATENCY, 1, peer)));
    return all.build();
  }

  /**
   * Returns how much more than Helidon and Jetty Weft has to answer. A server that needs 0.7 × the
   * CPU time can answer 1 ÷ 0.7 × as much where its own thread is the limit. It is not where
   * handlers sleep, since a closed loop of n connections asks at most n times in 5 ms, nor where
   * two threads share two cores with the load.
   */
  private static double leastThroughput(int threads, HttpWork work) {
    return threads == 1 && work != HttpWork.SLEEP ? 1 / MOST_CPU : 1;
  }

  private static ForkedWindows probe(
      HttpPeer peer, int threads, HttpWork work, String... properties) {
    List<String> flags = new ArrayList<>();
    if (peer != HttpPeer.WEFT) {
      flags.addAll(List.of(Carriers.of(threads)));
    }
    flags.add("-D" + HttpPeerProbe.PEER + "=" + peer);
    flags.add("-D" + HttpPeerProbe.THREADS + "=" + threads);
    flags.add("-D" + HttpPeerProbe.WORK + "=" + work);
    for (String property : properties) {
      flags.add("-D" + property);
    }
    return new ForkedWindows(HttpPeerProbe.class, flags);
  }
}
