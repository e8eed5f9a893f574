package dev.weft.bench.suite;

import dev.weft.Body;
import dev.weft.Scheduler;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.HookFlag;
import dev.weft.bench.run.WindowProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.RedisClient;

/** A hundred clients of a Redis server in one process, by a driver without a call of Weft. */
public final class HookRedisBenchmark {
  private static final Metric THROUGHPUT =
      new Metric("throughput", "1,000 requests/s", Metric.Better.MORE);
  private static final Metric CPU =
      new Metric("the clients' CPU time per request", "µs", Metric.Better.LESS);
  private static final String VIRTUAL_THREADS = "virtual threads";
  private static final int CLIENTS = 100;
  private static final int PAIRS = 100;

  private HookRedisBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "hook-redis", "What 100 fibers on one thread get from Redis by SET and GET of Jedis.")
        .metrics(THROUGHPUT, CPU)
        .contestant("Weft", probe(OfWeft.class))
        .contestant("Weft, hook off", probe(OfWeft.class, HookFlag.offAnd()))
        .contestant(VIRTUAL_THREADS, probe(OfVirtualThreads.class))
        .bar(Bar.atLeast(THROUGHPUT, 1.1, VIRTUAL_THREADS))
        .build();
  }

  private static ForkedWindows probe(Class<? extends WindowProbe> probe, String... flags) {
    List<String> all = new ArrayList<>(List.of(flags));
    all.addAll(List.of(Carriers.of(1)));
    all.add(RedisServer.whereToFindIt());
    return new ForkedWindows(probe, all);
  }

  /** With fibers. */
  public static final class OfWeft extends Clients {
    public OfWeft() {
      super(Crew.fibersOf(Scheduler.builder().threads(1).build().start()));
      HookFlag.check();
    }
  }

  /** With virtual threads. */
  public static final class OfVirtualThreads extends Clients {
    public OfVirtualThreads() {
      super(Crew.virtualThreads());
    }
  }

  /** Clients that share a pool with a connection for each. */
  abstract static class Clients implements WindowProbe {
    private final Crew crew;

    Clients(Crew crew) {
      this.crew = crew;
    }

    @Override
    public final Windows prepare(String parameter, boolean quick) throws Exception {
      RedisServer server = RedisServer.start(); // ends with this process, and its clients with it
      ConnectionPoolConfig pool = new ConnectionPoolConfig();
      pool.setMaxTotal(CLIENTS);
      pool.setMaxIdle(CLIENTS);
      RedisClient redis =
          RedisClient.builder()
              .hostAndPort(server.url().getHost(), server.url().getPort())
              .poolConfig(pool)
              .build();
      List<Body> clients =
          IntStream.range(0, CLIENTS).<Body>mapToObj(i -> () -> use(redis, "key-" + i)).toList();
      Timed.of(quick ? 5 : 15, () -> crew.run(clients));
      return () -> measure(clients);
    }

    private Map<String, Double> measure(List<Body> clients) throws Exception {
      Timed timed = Timed.of(1, () -> crew.run(clients));
      double requests = 2.0 * PAIRS * CLIENTS;
      return Map.of(
          THROUGHPUT.name(), requests * 1e3 / timed.wall(), CPU.name(), timed.cpu() / requests);
    }

    private static void use(RedisClient redis, String key) {
      for (int i = 0; i < PAIRS; i++) {
        String value = "value-" + i;
        redis.set(key, value);
        String got = redis.get(key);
        if (!value.equals(got)) {
          throw new IllegalStateException(key + " was set to " + value + ", but it is " + got);
        }
      }
    }
  }
}
