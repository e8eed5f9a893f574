package dev.weft.bench.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Slow loris: clients that send the head of a request at one byte a second and never end it. A
 * client that the server cuts off connects again.
 */
final class SlowClients {
  private static final int ROUNDS_A_SECOND = 100;
  private static final long NANOS_PER_ROUND = 1_000_000_000 / ROUNDS_A_SECOND;
  private static final byte[] BEGIN = "GET / HTTP/1.1\r\nHost: a\r\nX: ".getBytes(ISO_8859_1);

  private final InetSocketAddress server;
  private final List<SocketChannel> clients = new ArrayList<>();

  private SlowClients(InetSocketAddress server) {
    this.server = server;
  }

  /** Connects so many to a server of this machine; they send until this process ends. */
  static void start(int port, int count) throws IOException {
    SlowClients slow =
        new SlowClients(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    for (int i = 0; i < count; i++) {
      slow.clients.add(slow.connect());
    }
    Thread.ofPlatform().daemon().name("slow clients").start(slow::send);
  }

  private SocketChannel connect() throws IOException {
    SocketChannel client = SocketChannel.open(server);
    client.write(ByteBuffer.wrap(BEGIN));
    client.configureBlocking(false);
    return client;
  }

  /** Sends a byte on a hundredth of the connections in each hundredth of a second. */
  private void send() {
    long next = System.nanoTime();
    for (int round = 0; ; round = (round + 1) % ROUNDS_A_SECOND) {
      for (int i = round; i < clients.size(); i += ROUNDS_A_SECOND) {
        sendByte(i);
      }
      next += NANOS_PER_ROUND;
      LockSupport.parkNanos(next - System.nanoTime());
    }
  }

  private void sendByte(int index) {
    try {
      clients.get(index).write(ByteBuffer.wrap(new byte[] {'x'}));
    } catch (IOException cutOff) {
      try {
        clients.get(index).close();
        clients.set(index, connect());
      } catch (IOException e) {
        // the server has ended
      }
    }
  }
}
