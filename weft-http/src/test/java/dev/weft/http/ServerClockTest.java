package dev.weft.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server without connections does not wake its thread. */
@Feature("S9")
@Timeout(30)
class ServerClockTest {
  @Test
  void theClockTicksOnlyWhileThereAreConnections() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      HttpServer server = started(scheduler);
      try {
        assertThat(scheduler.timers().pending()).isZero();
        for (int i = 0; i < 2; i++) {
          try (Socket socket =
              new Socket(server.getAddress().getAddress(), server.getAddress().getPort())) {
            await(() -> scheduler.timers().pending() > 0);
            assertThat(socket.isConnected()).isTrue();
          }
          await(() -> scheduler.timers().pending() == 0);
        }
      } finally {
        server.stop(0);
      }
      assertThat(scheduler.timers().pending()).isZero();
    }
  }

  private static HttpServer started(Scheduler scheduler) throws Exception {
    CompletableFuture<HttpServer> started = new CompletableFuture<>();
    scheduler.go(
        () -> {
          HttpServer server =
              new WeftHttpServerProvider()
                  .createHttpServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
          server.start();
          started.complete(server);
        });
    return started.get();
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      Thread.sleep(5);
    }
  }
}
