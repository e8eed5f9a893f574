package dev.weft.bench.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The load does not begin with a burst, and counts only after its ramp. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HttpPeerLoadTest {
  private static final int CONNECTIONS = 10;

  /** When the last of ten first requests is due at the earliest: after nine tenths of 50 ms. */
  private static final long LAST_BEGIN_NANOS = 45_000_000;

  @Test
  void firstRequestsAreSpreadAndAnswersOfTheRampAreNotCounted() throws Exception {
    try (Answering server = new Answering()) {
      HttpPeerLoad load = new HttpPeerLoad(server.port(), "/", CONNECTIONS);
      long answeredBefore = server.answered.get();
      long start = System.nanoTime();
      AtomicLong clock = new AtomicLong();

      HttpPeerLoad.Result result = load.run(100, clock::incrementAndGet);

      assertThat(server.firstRequests)
          .filteredOn(time -> time - start >= 0)
          .hasSize(CONNECTIONS)
          .anyMatch(time -> time - start >= LAST_BEGIN_NANOS);
      assertThat(result.answers()).isPositive().isEqualTo(result.latencies().getTotalCount());
      assertThat(server.answered.get() - answeredBefore)
          .as("all answers: those of the ramp, those that count, and the last ones")
          .isGreaterThan(result.answers() + CONNECTIONS);
      assertThat(result.cpuNanos()).as("the clock is read at both marks").isEqualTo(1);
      assertThat(clock).hasValue(2);
    }
  }

  /** A server that answers at once and notes when each connection sent its first request. */
  private static final class Answering implements AutoCloseable {
    final List<Long> firstRequests = new CopyOnWriteArrayList<>();
    final AtomicLong answered = new AtomicLong();
    private final ServerSocket listener =
        new ServerSocket(0, CONNECTIONS + 1, InetAddress.getLoopbackAddress());

    Answering() throws IOException {
      Thread.startVirtualThread(this::accept);
    }

    int port() {
      return listener.getLocalPort();
    }

    private void accept() {
      try {
        while (true) {
          Socket socket = listener.accept();
          Thread.startVirtualThread(() -> serve(socket));
        }
      } catch (IOException e) {
        // the test has ended
      }
    }

    private void serve(Socket socket) {
      byte[] answer =
          "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n%s"
              .formatted(HttpWork.TEXT)
              .getBytes(StandardCharsets.ISO_8859_1);
      try (socket) {
        BufferedReader input =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
        boolean first = true;
        for (String line = input.readLine(); line != null; line = input.readLine()) {
          if (line.isEmpty()) {
            if (first) {
              firstRequests.add(System.nanoTime());
              first = false;
            }
            answered.incrementAndGet();
            socket.getOutputStream().write(answer);
          }
        }
      } catch (IOException e) {
        // the load has hung up
      }
    }

    @Override
    public void close() throws IOException {
      listener.close();
    }
  }
}
