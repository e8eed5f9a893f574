package dev.weft.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A web server on a scheduler that is stopped before the server is. */
class StoppedSchedulerTest {
  @Test
  @Feature({"A2", "S5"})
  void theServerEndsWithItsScheduler() throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(1).name("stopped").build().start();
    Fiber<HttpServer> starter =
        scheduler.go(
            () -> {
              var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
              HttpServer server = new WeftHttpServerProvider().createHttpServer(loopback, 0);
              server.start();
              return server;
            });
    InetSocketAddress address = starter.join().getAddress();

    boolean drained = scheduler.stop(Duration.ofMillis(1)); // the acceptor is cancelled

    assertThat(drained).isFalse();
    assertThatThrownBy(() -> new Socket(address.getAddress(), address.getPort()).close())
        .isInstanceOf(ConnectException.class);
  }
}
