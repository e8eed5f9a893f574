package dev.weft.bench.frameworks;

import dev.weft.bench.http.HttpPeersBenchmark;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.run.ForkedWindows;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What requests cost unmodified programs under {@code ./weft run} and under {@code java}. */
public final class FrameworksBenchmark {
  private static final String JAVA = "java -jar";
  private static final double MOST_CPU = 0.95;
  private static final double MOST_LATENCY = 1.05;

  /** Comparison to program. */
  private static final Map<String, String> PROGRAMS =
      new TreeMap<>(
          Map.of(
              "helidon", "Helidon",
              "javalin", "Javalin6",
              "jetty", "Jetty",
              "spring-boot", "SpringBoot",
              "tomcat", "Tomcat",
              "undertow", "Undertow"));

  private FrameworksBenchmark() {}

  /** Returns two comparisons of each framework: on one thread, and on two. */
  public static List<Comparison> comparisons() {
    return PROGRAMS.entrySet().stream()
        .flatMap(
            each ->
                Stream.of(
                    comparison(each.getKey(), each.getValue(), 1),
                    comparison(each.getKey() + "-2", each.getValue(), 2)))
        .toList();
  }

  private static Comparison comparison(String name, String program, int threads) {
    return Comparison.named(
            name,
            "What requests cost examples/frameworks/%s.java, with virtual threads on %s."
                .formatted(program, threads == 1 ? "one thread" : "two threads"))
        .parameter("handler", "hello", "sleep", "sleep20", "jdbc", "call")
        .metrics(HttpPeersBenchmark.CPU, HttpPeersBenchmark.THROUGHPUT, HttpPeersBenchmark.LATENCY)
        .contestant("./weft run", probe(program, threads, true))
        .contestant(JAVA, probe(program, threads, false))
        .bar(Bar.atMost(HttpPeersBenchmark.CPU, MOST_CPU, JAVA))
        .bar(Bar.atLeast(HttpPeersBenchmark.THROUGHPUT, 1, JAVA))
        .bar(Bar.atMost(HttpPeersBenchmark.LATENCY, MOST_LATENCY, JAVA))
        .build();
  }

  private static ForkedWindows probe(String program, int threads, boolean onWeft) {
    return ForkedWindows.of(
        FrameworkProbe.class,
        "-D" + FrameworkProbe.PROGRAM + "=" + program,
        "-D" + FrameworkProbe.THREADS + "=" + threads,
        "-D" + FrameworkProbe.ON_WEFT + "=" + onWeft);
  }
}
