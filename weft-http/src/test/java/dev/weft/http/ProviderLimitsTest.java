package dev.weft.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Limits that a program gives its own servers. */
@Feature("A2")
class ProviderLimitsTest {
  private static final String GET = "GET / HTTP/1.1\nHost: x\n\n";

  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch release = new CountDownLatch(1);
  private HttpServer server;

  private void start(WeftHttpServerProvider provider) throws Exception {
    server =
        provider.createHttpServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> exchange.sendResponseHeaders(200, -1));
    server.createContext(
        "/slow",
        exchange -> {
          entered.countDown();
          try {
            release.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          exchange.sendResponseHeaders(200, -1);
        });
    server.start();
  }

  @AfterEach
  void stop() {
    release.countDown();
    if (server != null) {
      server.stop(0);
    }
  }

  private RawClient client() throws Exception {
    return new RawClient(server.getAddress());
  }

  private int statusOf(String request) throws Exception {
    try (RawClient client = client()) {
      return client.send(request).receive().status();
    }
  }

  @Test
  void aHeadIsLimited() throws Exception {
    start(new WeftHttpServerProvider().withHeadBytes(1000));
    assertThat(statusOf(GET)).isEqualTo(200);
    assertThat(statusOf("GET / HTTP/1.1\nHost: x\nA: " + "a".repeat(1000))).isEqualTo(431);
  }

  @Test
  void theSmallerLimitOfAHeadHolds() throws Exception {
    System.setProperty("sun.net.httpserver.maxReqHeaderSize", "500");
    try {
      start(new WeftHttpServerProvider().withHeadBytes(100_000));
    } finally {
      System.clearProperty("sun.net.httpserver.maxReqHeaderSize");
    }
    assertThat(statusOf("GET / HTTP/1.1\nHost: x\nA: " + "a".repeat(500))).isEqualTo(431);
  }

  /** Connections that send nothing, or half a head, are closed for new ones; others stay. */
  @Test
  void idleConnectionsMakeRoom() throws Exception {
    start(new WeftHttpServerProvider().withConnections(10));
    try (RawClient busy = client()) {
      busy.send("GET /slow HTTP/1.1\nHost: x\n\n");
      entered.await();
      List<RawClient> idle = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        idle.add(client().send(i % 2 == 0 ? "" : "GET / HTTP/1.1\n"));
      }
      assertThat(statusOf(GET)).isEqualTo(200);
      release.countDown();
      assertThat(busy.receive().status()).isEqualTo(200);
      assertThat(idle.getFirst().hasEnded()).isTrue();
      for (RawClient client : idle) {
        client.close();
      }
    }
  }

  @Test
  void limitsArePositive() {
    WeftHttpServerProvider provider = new WeftHttpServerProvider();
    assertThatThrownBy(() -> provider.withHeadBytes(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the bytes of a head must be 1 or more, not 0");
    assertThatThrownBy(() -> provider.withConnections(-1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> WebSocket.handler(List.of(), 0, socket -> {}))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
