package dev.weft.net;

import static dev.weft.net.Nets.bytes;
import static dev.weft.net.Nets.loopback;
import static dev.weft.net.Nets.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Datagrams. */
@Feature("N1")
@SuppressWarnings({"UnnecessaryAsync", "AddressSelection"}) // addresses are literal here
class UdpTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();

  @AfterEach
  void stop() {
    assertThat(scheduler.stop(Duration.ofSeconds(5))).as("all fibers have ended").isTrue();
  }

  private static String text(ByteBuffer buffer) {
    return StandardCharsets.UTF_8.decode(buffer.flip()).toString();
  }

  @Test
  void echoesOverBothFamilies() throws Exception {
    for (String host : List.of("127.0.0.1", "::1")) {
      try (UdpSocket server = UdpSocket.bind(new InetSocketAddress(host, 0));
          UdpSocket client = UdpSocket.open()) {
        Fiber<SocketAddress> echo =
            scheduler.go(
                () -> {
                  ByteBuffer buffer = ByteBuffer.allocateDirect(100);
                  SocketAddress sender = server.receive(buffer);
                  server.send(buffer.flip(), sender);
                  return sender;
                });
        waits(echo);
        client.send(ByteBuffer.wrap(bytes("ping " + host)), server.localAddress());
        ByteBuffer answer = ByteBuffer.allocate(100);
        assertThat(client.receive(answer)).isEqualTo(server.localAddress());
        assertThat(text(answer)).isEqualTo("ping " + host);
        assertThat(((InetSocketAddress) echo.join()).getAddress().getHostAddress())
            .isEqualTo(((InetSocketAddress) server.localAddress()).getAddress().getHostAddress());
      }
    }
  }

  @Test
  void datagramsKeepTheirBoundariesAndMayBeEmpty() throws Exception {
    try (UdpSocket server = UdpSocket.bind(loopback());
        UdpSocket client = UdpSocket.bind(loopback())) {
      for (String text : List.of("one", "", "three")) {
        client.send(ByteBuffer.wrap(bytes(text)), server.localAddress());
      }
      for (String text : List.of("one", "", "thr")) {
        ByteBuffer three = ByteBuffer.allocate(3);
        assertThat(server.receive(three)).isEqualTo(client.localAddress());
        assertThat(text(three)).isEqualTo(text);
      }
    }
  }

  @Test
  @Feature({"N2", "N3"})
  void aWaitTimesOutAndEndsWithClose() throws Exception {
    UdpSocket socket = UdpSocket.bind(loopback());
    socket.receiveTimeout(Duration.ofMillis(20));
    assertThatExceptionOfType(SocketTimeoutException.class)
        .isThrownBy(() -> socket.receive(ByteBuffer.allocate(1)))
        .withMessageContaining("PT0.02S");
    socket.receiveTimeout(Duration.ZERO);
    Fiber<SocketAddress> receiver = scheduler.go(() -> socket.receive(ByteBuffer.allocate(1)));
    waits(receiver);
    socket.close();
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(receiver::join)
        .withCauseInstanceOf(AsynchronousCloseException.class);
    assertThat(socket.isOpen()).isFalse();
  }

  @Test
  @Feature("N5")
  void optionsAndBadAddresses() throws Exception {
    try (UdpSocket socket = UdpSocket.bind(loopback())) {
      socket.option(StandardSocketOptions.SO_RCVBUF, 30_000);
      assertThat(socket.option(StandardSocketOptions.SO_RCVBUF)).isGreaterThanOrEqualTo(30_000);
      assertThatExceptionOfType(BindException.class)
          .isThrownBy(() -> UdpSocket.bind(socket.localAddress()))
          .withMessageContaining(socket.localAddress().toString());
      assertThatExceptionOfType(UnsupportedAddressTypeException.class)
          .isThrownBy(() -> UdpSocket.bind(UnixDomainSocketAddress.of("x")));
    }
  }
}
