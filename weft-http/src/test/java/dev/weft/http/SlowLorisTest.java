package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Slow loris: many clients send the head of a request byte by byte, and never its end. What they
 * cost other clients in time is the benchmark {@code http-slow-clients}.
 */
@Feature("A2")
class SlowLorisTest {
  private static final int SLOW_CLIENTS = 2_000;

  /** Heap for a slow client, both ends and a fiber: the server's part is 4 KB. */
  private static final long MOST_BYTES_EACH = 12 * 1024;

  private static final int LIMIT_SECONDS = 4;
  private static final int REQUESTS = 500;

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void othersAreServedMemoryIsBoundedAndSlowHeadsAreCutOff() throws Exception {
    System.setProperty("weft.http.maxHeadTime", "" + LIMIT_SECONDS);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), SLOW_CLIENTS);
    System.clearProperty("weft.http.maxHeadTime");
    server.createContext("/", exchange -> exchange.sendResponseHeaders(204, -1));
    server.start();
    List<SocketChannel> slow = new ArrayList<>();
    try (RawClient other = new RawClient(server.getAddress())) {
      ask(other, 1);
      long before = usedHeap();
      for (int i = 0; i < SLOW_CLIENTS; i++) {
        SocketChannel client = SocketChannel.open(server.getAddress());
        slow.add(client);
        client.write(ByteBuffer.wrap("GET / HTTP/1.1\r\nHost: a\r\nX: ".getBytes(ISO_8859_1)));
        client.configureBlocking(false);
      }
      ask(other, REQUESTS); // each answered, or the client's patience ends
      try (RawClient fresh = new RawClient(server.getAddress())) {
        ask(fresh, 1);
      }
      assertThat((usedHeap() - before) / SLOW_CLIENTS).isLessThan(MOST_BYTES_EACH);

      // a byte now and then does not make the time longer
      while (slow.stream().anyMatch(client -> sendsAByte(client))) {
        ask(other, 1);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      }
    } finally {
      for (SocketChannel client : slow) {
        client.close();
      }
      server.stop(0);
    }
  }

  private static void ask(RawClient client, int times) throws IOException {
    for (int i = 0; i < times; i++) {
      client.send("GET / HTTP/1.1\nHost: a\n\n");
      assertThat(client.receive().status()).isEqualTo(204);
    }
  }

  /** Returns whether the server still has the connection. */
  private static boolean sendsAByte(SocketChannel client) {
    try {
      client.write(ByteBuffer.wrap(new byte[] {'x'}));
      return client.read(ByteBuffer.allocate(1)) == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static long usedHeap() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
