package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** NIO channels inside: blocking, with selectors, and the HTTP client and server on them. */
@Feature("V6")
@SuppressWarnings("AddressSelection") // a simulated host has one address
class ChannelSocketsTest {
  private static void echo(int port) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(port));
      while (true) {
        SocketChannel client = server.accept();
        Thread.startVirtualThread(() -> echo(client));
      }
    }
  }

  private static void echo(SocketChannel client) {
    try (client) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(1_000);
      while (client.read(buffer.clear()) >= 0) {
        buffer.flip();
        while (buffer.hasRemaining()) {
          client.write(buffer);
        }
      }
    } catch (IOException e) {
      // this client is gone
    }
  }

  private static void withEcho(SimulationBody client) {
    Simulation.explore(
            SocketsTest.OPTIONS,
            sim -> {
              sim.host("server", () -> echo(80));
              Thread.sleep(1);
              client.run(sim);
            })
        .check();
  }

  private static SocketChannel connect() throws IOException {
    return SocketChannel.open(new InetSocketAddress("server", 80));
  }

  @Test
  void blockingChannels() {
    withEcho(
        sim -> {
          try (SocketChannel channel = connect()) {
            channel.write(
                new ByteBuffer[] {
                  ByteBuffer.wrap(new byte[] {1, 2}), ByteBuffer.wrap(new byte[] {3, 4, 5})
                });
            ByteBuffer first = ByteBuffer.allocate(2);
            ByteBuffer rest = ByteBuffer.allocate(3);
            while (rest.hasRemaining()) {
              channel.read(new ByteBuffer[] {first, rest});
            }
            assertThat(first.array()).containsExactly(1, 2);
            assertThat(rest.array()).containsExactly(3, 4, 5);
            assertThat(channel.getRemoteAddress()).isEqualTo(new InetSocketAddress("server", 80));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            channel.shutdownOutput();
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
          }
        });
  }

  @Test
  void adaptorsOfChannels() {
    withEcho(
        sim -> {
          try (SocketChannel channel = connect()) {
            Socket socket = channel.socket();
            socket.setSoTimeout(200);
            assertThatThrownBy(() -> socket.getInputStream().read())
                .isInstanceOf(SocketTimeoutException.class);
            socket.getOutputStream().write(9);
            assertThat(socket.getInputStream().read()).isEqualTo(9);
            assertThat(socket.getPort()).isEqualTo(80);
          }
          try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.socket().bind(new InetSocketAddress(0));
            server.socket().setSoTimeout(200);
            assertThatThrownBy(() -> server.socket().accept())
                .isInstanceOf(SocketTimeoutException.class);
          }
        });
  }

  @Test
  void closeAndInterruptWakeTheReader() {
    withEcho(
        sim -> {
          SocketChannel channel = connect();
          sim.at(Duration.ofSeconds(1), channel::close);
          assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(1)))
              .isInstanceOf(AsynchronousCloseException.class);
          SocketChannel other = connect();
          Thread reader = Thread.currentThread();
          sim.at(Duration.ofSeconds(1), reader::interrupt);
          assertThatThrownBy(() -> other.read(ByteBuffer.allocate(1)))
              .isInstanceOf(ClosedByInterruptException.class);
          assertThat(Thread.interrupted()).isTrue();
          assertThat(other.isOpen()).isFalse();
        });
  }

  @Test
  void datagramChannels() {
    Simulation.explore(
            SocketsTest.OPTIONS,
            sim -> {
              sim.host(
                  "server",
                  () -> {
                    try (DatagramChannel channel = DatagramChannel.open()) {
                      channel.bind(new InetSocketAddress(53));
                      while (true) {
                        ByteBuffer buffer = ByteBuffer.allocate(100);
                        var sender = channel.receive(buffer);
                        channel.send(buffer.flip(), sender);
                      }
                    }
                  });
              Thread.sleep(1);
              try (DatagramChannel channel = DatagramChannel.open()) {
                channel.connect(new InetSocketAddress("server", 53));
                channel.write(ByteBuffer.wrap(new byte[] {5}));
                ByteBuffer buffer = ByteBuffer.allocate(10);
                assertThat(channel.read(buffer)).isEqualTo(1);
                channel.socket().setSoTimeout(100);
                assertThatThrownBy(
                        () -> channel.socket().receive(new DatagramPacket(new byte[1], 1)))
                    .isInstanceOf(SocketTimeoutException.class);
                channel.disconnect();
                channel.send(ByteBuffer.wrap(new byte[] {6}), new InetSocketAddress("server", 53));
                buffer.clear();
                assertThat(channel.receive(buffer)).isEqualTo(new InetSocketAddress("server", 53));
              }
            })
        .check();
  }

  /** Serves all clients in one fiber. */
  private static void echoBySelector(int port) throws IOException {
    try (Selector selector = Selector.open();
        ServerSocketChannel server = ServerSocketChannel.open()) {
      server.configureBlocking(false);
      server.bind(new InetSocketAddress(port));
      server.register(selector, SelectionKey.OP_ACCEPT);
      while (true) {
        selector.select();
        for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext(); ) {
          SelectionKey key = keys.next();
          keys.remove();
          if (key.isAcceptable()) {
            SocketChannel client = server.accept();
            client.configureBlocking(false);
            client.register(selector, SelectionKey.OP_READ);
          } else {
            SocketChannel client = (SocketChannel) key.channel();
            ByteBuffer buffer = ByteBuffer.allocate(100);
            if (client.read(buffer) < 0) {
              client.close();
            } else {
              client.write(buffer.flip());
            }
          }
        }
      }
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void selectors() {
    Simulation.explore(
            SocketsTest.OPTIONS,
            sim -> {
              sim.host("server", () -> echoBySelector(80));
              Thread.sleep(1);
              List<Thread> clients = new ArrayList<>();
              for (int i = 0; i < 4; i++) {
                clients.add(new Thread(ChannelSocketsTest::askFiveTimes));
              }
              clients.forEach(Thread::start);
              for (Thread client : clients) {
                client.join();
              }
              try (Selector selector = Selector.open()) {
                Duration before = sim.now();
                assertThat(selector.select(1_000)).isZero();
                assertThat(sim.now().minus(before)).isEqualTo(Duration.ofSeconds(1));
                sim.at(Duration.ofSeconds(1), selector::wakeup);
                assertThat(selector.select()).isZero();
              }
            })
        .check();
  }

  private static void askFiveTimes() {
    try (SocketChannel channel = connect()) {
      for (byte i = 0; i < 5; i++) {
        channel.write(ByteBuffer.wrap(new byte[] {i}));
        ByteBuffer answer = ByteBuffer.allocate(1);
        channel.read(answer);
        assertThat(answer.get(0)).isEqualTo(i);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void theHttpClientAndServerOfTheJdk() {
    Simulation.explore(
            SimulationOptions.seeds(5),
            sim -> {
              sim.host(
                  "web",
                  () -> {
                    HttpServer server = HttpServer.create(new InetSocketAddress(80), 0);
                    server.createContext(
                        "/",
                        exchange -> {
                          if (exchange.getRequestURI().getPath().equals("/slow")) {
                            sleep(60_000);
                          }
                          exchange.sendResponseHeaders(200, 2);
                          exchange.getResponseBody().write(new byte[] {'o', 'k'});
                          exchange.close();
                        });
                    server.setExecutor(task -> Thread.startVirtualThread(task));
                    server.start();
                  });
              Thread.sleep(1);
              try (HttpClient client = HttpClient.newHttpClient()) {
                assertThat(get(client, "http://web/")).isEqualTo("ok");
                assertThatThrownBy(() -> get(client, "http://web/slow"))
                    .isInstanceOf(HttpTimeoutException.class);
                assertThat(sim.now()).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(6));
                client.shutdownNow();
              }
            })
        .check();
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String get(HttpClient client, String uri) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(uri)).timeout(Duration.ofSeconds(5)).build();
    return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }
}
