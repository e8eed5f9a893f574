package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import dev.weft.net.UdpSocket;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** {@code dev.weft.net} inside a simulation, also against {@code java.net}. */
@Feature("V6")
@SuppressWarnings("AddressSelection") // a simulated host has one address
class WeftSocketsTest {
  private static void echo(int port) throws IOException {
    try (TcpListener listener = TcpListener.bind(new InetSocketAddress(port))) {
      while (true) {
        TcpStream client = listener.accept();
        Thread.startVirtualThread(
            () -> {
              try (client) {
                client.inputStream().transferTo(client.outputStream());
              } catch (IOException e) {
                // this client is gone
              }
            });
      }
    }
  }

  private static SimulationResult withEcho(SimulationBody client) {
    SimulationResult result =
        Simulation.explore(
            SocketsTest.OPTIONS,
            sim -> {
              sim.host("server", () -> echo(80));
              Thread.sleep(1);
              client.run(sim);
            });
    result.check();
    return result;
  }

  private static TcpStream connect() throws IOException {
    return TcpStream.connect(new InetSocketAddress("server", 80));
  }

  @Test
  void streamsCarryBytesAndEnds() {
    withEcho(
        sim -> {
          try (TcpStream stream = connect()) {
            stream.write(ByteBuffer.wrap(new byte[] {1, 2}), ByteBuffer.wrap(new byte[] {3}));
            assertThat(stream.inputStream().readNBytes(3)).containsExactly(1, 2, 3);
            assertThat(stream.remoteAddress()).isEqualTo(new InetSocketAddress("server", 80));
            stream.option(StandardSocketOptions.TCP_NODELAY, true);
            assertThat(stream.option(StandardSocketOptions.TCP_NODELAY)).isTrue();
            stream.readTimeout(Duration.ofMillis(500));
            assertThatThrownBy(() -> stream.read(new byte[1]))
                .isInstanceOf(SocketTimeoutException.class);
            stream.shutdownOutput();
            assertThat(stream.read(new byte[1])).isEqualTo(-1);
          }
        });
  }

  @Test
  void javaNetTalksToWeft() {
    withEcho(
        sim -> {
          try (Socket socket = new Socket("server", 80)) {
            socket.getOutputStream().write(new byte[100_000]);
            socket.shutdownOutput();
            assertThat(socket.getInputStream().readAllBytes()).hasSize(100_000);
          }
        });
  }

  @Test
  void errorsSayWhatWasAsked() {
    withEcho(
        sim -> {
          assertThatThrownBy(() -> TcpStream.connect(new InetSocketAddress("server", 81)))
              .isInstanceOf(ConnectException.class)
              .hasMessage("cannot connect to server/10.0.0.2:81: Connection refused");
          try (TcpListener taken = TcpListener.bind(new InetSocketAddress(0))) {
            assertThatThrownBy(() -> TcpListener.bind(taken.localAddress()))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("Address already in use");
            taken.acceptTimeout(Duration.ofSeconds(1));
            assertThatThrownBy(taken::accept).isInstanceOf(SocketTimeoutException.class);
          }
          sim.network().partition("main", "server");
          assertThatThrownBy(
                  () ->
                      TcpStream.connect(new InetSocketAddress("server", 80), Duration.ofSeconds(2)))
              .isInstanceOf(SocketTimeoutException.class);
        });
  }

  @Test
  void closeAndInterruptWakeTheReader() {
    withEcho(
        sim -> {
          TcpStream stream = connect();
          sim.at(Duration.ofSeconds(1), stream::close);
          assertThatThrownBy(() -> stream.read(new byte[1]))
              .isInstanceOf(AsynchronousCloseException.class);
          try (TcpStream other = connect()) {
            Thread reader = Thread.currentThread();
            sim.at(Duration.ofSeconds(1), reader::interrupt);
            assertThatThrownBy(() -> other.read(new byte[1]))
                .isInstanceOf(InterruptedIOException.class);
            assertThat(Thread.interrupted()).isTrue();
            other.write(new byte[] {1}); // the connection stays as it is
            assertThat(other.read(new byte[1])).isEqualTo(1);
          }
        });
  }

  @Test
  void resetsReachWeft() {
    SimulationResult result =
        withEcho(
            sim -> {
              sim.network().resets(1);
              try (TcpStream stream = connect()) {
                stream.write(new byte[] {1});
                assertThatThrownBy(() -> stream.inputStream().readAllBytes())
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("Connection reset");
              }
            });
    assertThat(result.faults().get(Fault.RESET)).isGreaterThanOrEqualTo(result.runs());
  }

  @Test
  void datagramsGoThereAndBack() {
    Simulation.explore(
            SocketsTest.OPTIONS,
            sim -> {
              sim.host(
                  "server",
                  () -> {
                    try (UdpSocket socket = UdpSocket.bind(new InetSocketAddress(53))) {
                      while (true) {
                        ByteBuffer buffer = ByteBuffer.allocate(100);
                        var sender = socket.receive(buffer);
                        socket.send(buffer.flip(), sender);
                      }
                    }
                  });
              Thread.sleep(1);
              try (UdpSocket socket = UdpSocket.open()) {
                socket.receiveTimeout(Duration.ofMillis(100));
                socket.send(ByteBuffer.wrap(new byte[] {1}), new InetSocketAddress("server", 53));
                ByteBuffer buffer = ByteBuffer.allocate(100);
                assertThat(socket.receive(buffer)).isEqualTo(new InetSocketAddress("server", 53));
                assertThat(buffer.flip().get()).isEqualTo((byte) 1);
                assertThatThrownBy(() -> socket.receive(buffer))
                    .isInstanceOf(SocketTimeoutException.class);
              }
            })
        .check();
  }

  @Test
  void unixDomainSocketsAreRefused() {
    assertThatThrownBy(
            () ->
                Simulation.explore(
                    SocketsTest.OPTIONS,
                    sim -> TcpListener.bind(UnixDomainSocketAddress.of("/tmp/none"))))
        .isInstanceOf(SimulationFailure.Unsupported.class)
        .hasMessageMatching(
            "cannot simulate a Unix-domain socket, used at WeftSocketsTest.java:\\d+");
  }
}
