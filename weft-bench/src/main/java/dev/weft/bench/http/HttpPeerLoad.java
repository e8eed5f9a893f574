package dev.weft.bench.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * A closed loop of requests: each connection asks again when it has its answer. One thread and a
 * selector, the same for all servers. Answers have one length for each server, which the first one
 * tells.
 */
public final class HttpPeerLoad {
  private static final double P99 = 99;
  private static final long PATIENCE_MILLIS = 10_000;

  /** What came of a while of it; latencies in nanoseconds. */
  public record Result(long answers, long nanos, Histogram latencies) {}

  /** A connection, and what is missing of its answer. */
  private static final class Client {
    private final SocketChannel channel;
    private int missing;
    private long sent;

    Client(SocketChannel channel) {
      this.channel = channel;
    }
  }

  private final Selector selector = Selector.open();
  private final List<Client> clients = new ArrayList<>();
  private final ByteBuffer request;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(16 * 1024);
  private final int answerLength;

  /** Connects to a server of this machine, to ask for a path. */
  public HttpPeerLoad(int port, String path, int connections) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    byte[] get =
        """
        GET %s HTTP/1.1\r
        Host: localhost\r
        User-Agent: weft-bench\r
        Accept: text/plain, */*\r
        Accept-Encoding: identity\r
        \r
        """
            .formatted(path)
            .getBytes(ISO_8859_1);
    request = ByteBuffer.allocateDirect(get.length).put(get);
    answerLength = answerLength(address, get);
    for (int i = 0; i < connections; i++) {
      SocketChannel channel = SocketChannel.open(address);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      Client client = new Client(channel);
      channel.register(selector, SelectionKey.OP_READ, client);
      clients.add(client);
    }
  }

  private static int answerLength(InetSocketAddress address, byte[] get) throws IOException {
    try (SocketChannel channel = SocketChannel.open(address)) {
      channel.write(ByteBuffer.wrap(get));
      ByteBuffer answer = ByteBuffer.allocate(4096);
      String text = "";
      while (!text.endsWith("\r\n\r\n" + HttpWork.TEXT)) {
        if (channel.read(answer) < 0 || !answer.hasRemaining()) {
          throw new EOFException("this is no answer: " + text);
        }
        text = new String(answer.array(), 0, answer.position(), ISO_8859_1);
      }
      if (!text.startsWith("HTTP/1.1 200 ")) { // some servers leave out the reason
        throw new IOException("this is no answer: " + text);
      }
      return text.length();
    }
  }

  /** Keeps all connections busy for so long, and then waits for what is under way. */
  public Result run(long millis) throws IOException {
    Histogram latencies = new Histogram(3);
    long start = System.nanoTime();
    long end = start + 1_000_000 * millis;
    for (Client client : clients) {
      send(client);
    }
    int underWay = clients.size();
    long inTime = 0;
    while (underWay > 0) {
      if (selector.select(PATIENCE_MILLIS) == 0) {
        throw new IOException("nothing has come for " + PATIENCE_MILLIS + " ms");
      }
      for (SelectionKey key : selector.selectedKeys()) {
        Client client = (Client) key.attachment();
        if (!receive(client)) {
          continue;
        }
        long now = System.nanoTime();
        if (now < end) {
          latencies.recordValue(now - client.sent);
          inTime++;
          send(client);
        } else {
          underWay--;
        }
      }
      selector.selectedKeys().clear();
    }
    return new Result(inTime, end - start, latencies);
  }

  /**
   * Keeps all connections busy for so long; returns a number for each metric of {@link
   * HttpPeersBenchmark}.
   *
   * @param cpuNanos the CPU time that the server has taken
   */
  public Map<String, Double> measure(long millis, LongSupplier cpuNanos) throws IOException {
    long cpu = cpuNanos.getAsLong();
    Result result = run(millis);
    cpu = cpuNanos.getAsLong() - cpu;
    if (result.answers() == 0) {
      throw new IOException("the server has answered nothing in " + millis + " ms");
    }
    return Map.of(
        HttpPeersBenchmark.CPU.name(),
        cpu / 1e3 / result.answers(),
        HttpPeersBenchmark.THROUGHPUT.name(),
        1e6 * result.answers() / result.nanos(),
        HttpPeersBenchmark.LATENCY.name(),
        result.latencies().getValueAtPercentile(P99) / 1e3);
  }

  private void send(Client client) throws IOException {
    client.missing = answerLength;
    client.sent = System.nanoTime();
    request.rewind();
    client.channel.write(request); // it is shorter than any socket's buffer
    if (request.hasRemaining()) {
      throw new IOException("a request was not sent at once");
    }
  }

  /** Returns whether all of an answer has come. */
  private boolean receive(Client client) throws IOException {
    buffer.clear();
    int count = client.channel.read(buffer);
    if (count < 0 || count > client.missing) {
      throw new IOException("a connection was closed, or an answer is longer than the first");
    }
    client.missing -= count;
    return client.missing == 0;
  }
}
