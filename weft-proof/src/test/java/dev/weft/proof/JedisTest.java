package dev.weft.proof;

import static dev.weft.proof.OneThread.FIBERS;
import static dev.weft.proof.OneThread.join;
import static dev.weft.proof.OneThread.joinAll;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.testkit.Feature;
import dev.weft.testkit.TestServer;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/** Jedis and its pool, which is Apache's Commons Pool. */
@Feature("H8")
class JedisTest {
  private static TestServer server;

  @BeforeAll
  static void start() throws Exception {
    server = TestServer.start("redis");
  }

  @AfterAll
  static void stop() throws IOException {
    if (server != null) {
      server.close();
    }
  }

  @BeforeEach
  void forgetAll() {
    try (Jedis jedis = new Jedis(URI.create(server.url()))) {
      jedis.flushAll();
    }
  }

  private static RedisClient client(TestServer server, int connections) {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(connections);
    pool.setMaxIdle(connections);
    pool.setMaxWait(OneThread.LIMIT);
    URI url = URI.create(server.url());
    return RedisClient.builder().hostAndPort(url.getHost(), url.getPort()).poolConfig(pool).build();
  }

  private static int blockedClients(Jedis jedis) {
    return jedis
        .info("clients")
        .lines()
        .filter(line -> line.startsWith("blocked_clients:"))
        .mapToInt(line -> Integer.parseInt(line.substring(line.indexOf(':') + 1).strip()))
        .sum();
  }

  @Test
  void waitingForTheServerBlocksNoThread() throws Exception {
    try (OneThread one = new OneThread();
        RedisClient client = client(server, FIBERS);
        Jedis other = new Jedis(URI.create(server.url()))) {
      List<Fiber<String>> fibers =
          one.goAll(FIBERS, i -> client.blpop(0, "list-" + i).get(1)); // 0: no limit
      one.eventually("the server has all questions", () -> blockedClients(other) == FIBERS);
      one.hasFreeThread();
      for (int i = 0; i < FIBERS; i++) {
        other.rpush("list-" + i, "value-" + i);
      }
      assertThat(joinAll(fibers)).isEqualTo(range(0, FIBERS).mapToObj(i -> "value-" + i).toList());
    }
  }

  @Test
  void manyFibersShareAFewConnections() throws Exception {
    try (OneThread one = new OneThread();
        RedisClient client = client(server, 10)) {
      List<Fiber<Integer>> fibers =
          one.goAll(
              FIBERS,
              i -> {
                for (int round = 0; round < 10; round++) {
                  client.set("key-" + i, "value-" + round);
                  assertThat(client.get("key-" + i)).isEqualTo("value-" + round);
                  client.incr("counter");
                }
                return i;
              });
      joinAll(fibers);
      assertThat(client.get("counter")).isEqualTo(String.valueOf(10 * FIBERS));
      assertThat(client.getPool().getCreatedCount()).isLessThanOrEqualTo(10);
    }
  }

  @Test
  void aKilledServerFailsAllFibers() throws Exception {
    try (TestServer mortal = TestServer.start("redis");
        OneThread one = new OneThread();
        RedisClient client = client(mortal, FIBERS);
        Jedis other = new Jedis(URI.create(mortal.url()))) {
      List<Fiber<String>> fibers = one.goAll(FIBERS, i -> failure(client, "list-" + i));
      one.eventually("the server has all questions", () -> blockedClients(other) == FIBERS);
      mortal.kill();
      assertThat(joinAll(fibers)).containsOnly("JedisConnectionException");
      one.hasFreeThread();
      assertThat(join(one.go(() -> failure(client, "list")))).isEqualTo("JedisConnectionException");
    }
  }

  private static String failure(RedisClient client, String list) {
    try {
      return "answered " + client.blpop(0, list);
    } catch (JedisConnectionException e) {
      return "JedisConnectionException";
    }
  }

  @Test
  void aCancelledFiberLeavesItsRequestAtOnce() throws Exception {
    try (OneThread one = new OneThread();
        RedisClient client = client(server, 1);
        Jedis other = new Jedis(URI.create(server.url()))) {
      Fiber<List<String>> asking = one.go(() -> client.blpop(0, "list"));
      one.eventually("it asks", () -> blockedClients(other) == 1);
      Fiber<String> waiting = one.go(() -> client.get("key")); // waits for the only connection
      one.hasFreeThread();
      waiting.cancel();
      assertThatThrownBy(() -> join(waiting)).isInstanceOf(CancellationException.class);
      asking.cancel();
      assertThatThrownBy(() -> join(asking)).isInstanceOf(CancellationException.class);
      // over a new connection
      assertThat(join(one.go(() -> client.set("key", "value")))).isEqualTo("OK");
    }
  }

  @Test
  void anExhaustedPoolSaysSo() throws Exception {
    try (OneThread one = new OneThread();
        RedisClient client = client(server, 1);
        Jedis other = new Jedis(URI.create(server.url()))) {
      client.getPool().setMaxWait(Duration.ofMillis(100));
      Fiber<List<String>> holder = one.go(() -> client.blpop(0, "list"));
      one.eventually("it has the connection", () -> blockedClients(other) == 1);
      List<Fiber<String>> fibers =
          one.goAll(
              FIBERS,
              i -> {
                try {
                  return client.get("key-" + i);
                } catch (JedisException e) {
                  return e.getCause().getMessage();
                }
              });
      assertThat(joinAll(fibers))
          .allMatch(message -> message.startsWith("Timeout waiting for idle"));
      other.rpush("list", "value");
      assertThat(join(holder)).containsExactly("list", "value");
    }
  }
}
