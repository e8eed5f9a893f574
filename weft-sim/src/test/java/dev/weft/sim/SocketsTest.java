package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.math.BigInteger;
import java.net.BindException;
import java.net.ConnectException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code java.net} sockets inside behave as those of the machine do. */
@Feature("V6")
@SuppressWarnings("AddressSelection") // a simulated host has one address
class SocketsTest {
  static final SimulationOptions OPTIONS = SimulationOptions.seeds(20);

  /** Sends back what each client sends, until that ends. */
  static void echo(int port) throws IOException {
    try (ServerSocket server = new ServerSocket(port)) {
      while (true) {
        Socket client = server.accept();
        Thread.startVirtualThread(
            () -> {
              try (client) {
                client.getInputStream().transferTo(client.getOutputStream());
              } catch (IOException e) {
                // this client is gone
              }
            });
      }
    }
  }

  /** Runs a program with a client of an echo server. */
  private static void withEcho(SimulationBody client) {
    Simulation.explore(
            OPTIONS,
            sim -> {
              sim.host("server", () -> echo(80));
              Thread.sleep(1);
              client.run(sim);
            })
        .check();
  }

  @Test
  void bytesGoThereAndBack() {
    withEcho(
        sim -> {
          try (Socket socket = new Socket("server", 80)) {
            socket.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
            assertThat(socket.getInputStream().readNBytes(5)).asString().isEqualTo("hello");
            assertThat(socket.getInetAddress().getHostName()).isEqualTo("server");
            assertThat(socket.getPort()).isEqualTo(80);
            assertThat(socket.getLocalPort()).isGreaterThanOrEqualTo(32_768);
            assertThat(socket.getLocalAddress()).isEqualTo(InetAddress.getLocalHost());
            assertThat(sim.now()).isLessThan(Duration.ofMillis(10));
          }
        });
  }

  @Test
  void aHalfCloseEndsOneDirection() {
    withEcho(
        sim -> {
          try (Socket socket = new Socket("server", 80)) {
            socket.getOutputStream().write(1);
            socket.shutdownOutput();
            assertThat(socket.getInputStream().readAllBytes()).containsExactly(1);
            assertThatThrownBy(() -> socket.getOutputStream().write(1))
                .isInstanceOf(SocketException.class);
          }
        });
  }

  @Test
  void readsTimeOut() {
    withEcho(
        sim -> {
          try (Socket socket = new Socket("server", 80)) {
            socket.setSoTimeout(500);
            Duration before = sim.now();
            assertThatThrownBy(() -> socket.getInputStream().read())
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessage("Read timed out");
            assertThat(sim.now().minus(before)).isEqualTo(Duration.ofMillis(500));
            socket.getOutputStream().write(3);
            assertThat(socket.getInputStream().read()).isEqualTo(3);
          }
        });
  }

  @Test
  void connectsTimeOutOrAreRefused() {
    withEcho(
        sim -> {
          assertThatThrownBy(() -> new Socket("server", 81))
              .isInstanceOf(ConnectException.class)
              .hasMessage("Connection refused");
          assertThatThrownBy(() -> new Socket("nowhere", 80))
              .isInstanceOf(UnknownHostException.class);
          sim.network().partition("main", "server");
          try (Socket socket = new Socket()) {
            assertThatThrownBy(() -> socket.connect(new InetSocketAddress("server", 80), 2_000))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessage("Connect timed out");
          }
          assertThatThrownBy(() -> new Socket("192.0.2.1", 80))
              .hasMessage("Network is unreachable");
        });
  }

  @Test
  void aTimeoutOfAConnectIsVirtualTime() {
    ProxySelector before = ProxySelector.getDefault();
    ProxySelector.setDefault(new SlowSelector()); // Socket.connect asks it inside its timeout
    try {
      withEcho(
          sim -> {
            sim.network().partition("main", "server");
            Duration begin = sim.now();
            try (Socket socket = new Socket()) {
              assertThatThrownBy(() -> socket.connect(new InetSocketAddress("server", 80), 2_000))
                  .isInstanceOf(SocketTimeoutException.class);
            }
            assertThat(sim.now().minus(begin)).isEqualTo(Duration.ofSeconds(2));
          });
    } finally {
      ProxySelector.setDefault(before);
    }
  }

  /**
   * Takes some milliseconds of real time, no virtual time, and no steps of the simulation: a loop
   * here would be one of many steps, because the strategies may stop this class at each access.
   */
  private static final class SlowSelector extends ProxySelector {
    @Override
    public List<Proxy> select(URI target) {
      int bits = BigInteger.valueOf(3).pow(500_000).bitCount();
      return bits == 0 ? List.of() : List.of(Proxy.NO_PROXY);
    }

    @Override
    public void connectFailed(URI target, SocketAddress proxy, IOException cause) {}
  }

  @Test
  void acceptTimesOutAndPortsAreTaken() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              try (ServerSocket server = new ServerSocket(0)) {
                int port = server.getLocalPort();
                assertThat(port).isPositive();
                server.setSoTimeout(100);
                assertThatThrownBy(server::accept)
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessage("Accept timed out");
                assertThatThrownBy(() -> new ServerSocket(port))
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining("Address already in use");
                try (Socket client = new Socket("localhost", port);
                    Socket accepted = server.accept()) {
                  assertThat(accepted.getPort()).isEqualTo(client.getLocalPort());
                  assertThat(client.getInetAddress().isLoopbackAddress()).isTrue();
                }
              }
              assertThatThrownBy(() -> new ServerSocket(80, 1, InetAddress.getByName("10.9.9.9")))
                  .hasMessageContaining("Cannot assign requested address");
            })
        .check();
  }

  @Test
  void aCloseWakesTheReader() {
    withEcho(
        sim -> {
          Socket socket = new Socket("server", 80);
          sim.at(Duration.ofSeconds(1), socket::close);
          assertThatThrownBy(() -> socket.getInputStream().read())
              .isInstanceOf(SocketException.class)
              .hasMessage("Socket closed");
          assertThat(sim.now()).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1_010));
          ServerSocket server = new ServerSocket(81);
          sim.at(Duration.ofSeconds(1), server::close);
          assertThatThrownBy(server::accept).hasMessage("Socket closed");
        });
  }

  @Test
  void anInterruptClosesTheSocketOfAVirtualThread() {
    withEcho(
        sim -> {
          List<Throwable> seen = new ArrayList<>();
          Socket socket = new Socket("server", 80);
          Thread reader =
              Thread.startVirtualThread(
                  () -> {
                    try {
                      socket.getInputStream().read();
                    } catch (IOException e) {
                      seen.add(e);
                    }
                  });
          Thread.sleep(100);
          reader.interrupt();
          reader.join();
          // the JDK: "Closed by interrupt", and the socket is closed
          assertThat(seen).hasSize(1);
          assertThat(seen.getFirst())
              .isInstanceOfAny(SocketException.class, InterruptedIOException.class);
          assertThat(socket.isClosed()).isTrue();
        });
  }

  @Test
  void aWriterWaitsForAReader() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              int total = 300_000;
              int[] written = new int[1];
              sim.host(
                  "writer",
                  () -> {
                    try (ServerSocket server = new ServerSocket(80);
                        Socket client = server.accept()) {
                      for (int i = 0; i < total; i += 1_000) {
                        client.getOutputStream().write(new byte[1_000]);
                        written[0] += 1_000;
                      }
                    }
                  });
              Thread.sleep(1);
              try (Socket socket = new Socket("writer", 80)) {
                Thread.sleep(10_000);
                assertThat(written[0]).isBetween(50_000, 70_000); // the buffers are full
                InputStream in = socket.getInputStream();
                assertThat(in.available()).isPositive();
                assertThat(in.readAllBytes()).hasSize(total);
              }
            })
        .check();
  }

  @Test
  void aWriteToAClosedConnectionFails() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              sim.host(
                  "server",
                  () -> {
                    try (ServerSocket server = new ServerSocket(80)) {
                      server.accept().close();
                      Thread.sleep(10_000);
                    }
                  });
              Thread.sleep(1);
              try (Socket socket = new Socket("server", 80)) {
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
                socket.getOutputStream().write(1); // the answer to this is a reset
                Thread.sleep(100);
                assertThatThrownBy(() -> socket.getOutputStream().write(1))
                    .isInstanceOf(SocketException.class);
                assertThatThrownBy(() -> socket.getOutputStream().write(1))
                    .hasMessage("Broken pipe");
              }
            })
        .check();
  }

  @Test
  void optionsAreKept() {
    withEcho(
        sim -> {
          try (Socket socket = new Socket("server", 80)) {
            socket.setTcpNoDelay(true);
            socket.setKeepAlive(true);
            socket.setReceiveBufferSize(10_000);
            assertThat(socket.getTcpNoDelay()).isTrue();
            assertThat(socket.getKeepAlive()).isTrue();
            assertThat(socket.getReceiveBufferSize()).isEqualTo(10_000);
            assertThat(socket.getSoLinger()).isEqualTo(-1);
            socket.setOption(jdk.net.ExtendedSocketOptions.TCP_KEEPIDLE, 7);
            assertThat(socket.getOption(jdk.net.ExtendedSocketOptions.TCP_KEEPIDLE)).isEqualTo(7);
          }
        });
  }

  @Test
  void datagramsGoThereAndBack() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              sim.host(
                  "server",
                  () -> {
                    try (DatagramSocket socket = new DatagramSocket(53)) {
                      DatagramPacket packet = new DatagramPacket(new byte[100], 100);
                      while (true) {
                        socket.receive(packet);
                        socket.send(packet);
                      }
                    }
                  });
              Thread.sleep(1);
              InetAddress server = InetAddress.getByName("server");
              try (DatagramSocket socket = new DatagramSocket()) {
                socket.setSoTimeout(100);
                socket.send(new DatagramPacket(new byte[] {1, 2, 3}, 3, server, 53));
                DatagramPacket packet = new DatagramPacket(new byte[100], 100);
                socket.receive(packet);
                assertThat(packet.getLength()).isEqualTo(3);
                assertThat(packet.getSocketAddress())
                    .isEqualTo(new InetSocketAddress("server", 53));
                assertThatThrownBy(() -> socket.receive(packet))
                    .isInstanceOf(SocketTimeoutException.class);
                socket.connect(server, 53);
                socket.send(new DatagramPacket(new byte[] {4}, 1));
                socket.receive(packet);
                assertThat(packet.getData()[0]).isEqualTo((byte) 4);
                assertThatThrownBy(() -> new DatagramSocket(socket.getLocalPort()))
                    .isInstanceOf(BindException.class);
              }
            })
        .check();
  }
}
