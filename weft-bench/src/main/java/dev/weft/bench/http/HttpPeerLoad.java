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
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  /**
   * Over how long the first requests of the connections are spread, before anything counts. Sent at
   * once, they would be a burst that returns each time a handler's sleep ends, and the 99 % latency
   * would be that of the burst.
   */
  private static final long RAMP_NANOS = 50_000_000;

  /** What came of a window; times in nanoseconds, the CPU time is the server's. */
  public record Result(long answers, long nanos, long cpuNanos, Histogram latencies) {}

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

  /**
   * Keeps all connections busy for so long, after the ramp, and then waits for what is under way.
   *
   * @param cpuNanos the CPU time that the server has taken
   */
  public Result run(long millis, LongSupplier cpuNanos) throws IOException {
    Window window = new Window(millis, cpuNanos);
    long heard = System.nanoTime();
    while (!window.isOver()) {
      window.advance(System.nanoTime());
      if (selector.select(window.millisToNextMark()) > 0) {
        heard = System.nanoTime();
      } else if (System.nanoTime() - heard > PATIENCE_NANOS) {
        throw new IOException("nothing has come for " + PATIENCE_NANOS / 1_000_000 + " ms");
      }
      for (SelectionKey key : selector.selectedKeys()) {
        Client client = (Client) key.attachment();
        if (receive(client)) {
          window.answered(client);
        }
      }
      selector.selectedKeys().clear();
    }
    return window.result();
  }

  /**
   * One run: the ramp, the time that counts, and the rest.
   *
   * <pre>
   *   start            from                                    end
   *     │ ramp: a first  │ answers, latencies and the server's   │ no more requests; the last
   *     │ request each   │ CPU time count                        │ answers come
   * </pre>
   */
  private final class Window {
    private final long start = System.nanoTime();
    private final long from = start + RAMP_NANOS;
    private final long end;
    private final LongSupplier cpuNanos;
    private final Histogram latencies = new Histogram(3);
    private boolean counts;
    private boolean ended;
    private long cpuBefore;
    private long cpuAfter;
    private long answers;

    // how many connections have sent their first request, and how many wait for an answer
    private int begun;
    private int underWay;

    Window(long millis, LongSupplier cpuNanos) {
      this.end = from + 1_000_000 * millis;
      this.cpuNanos = cpuNanos;
    }

    boolean isOver() {
      return ended && underWay == 0;
    }

    /** Sends the first requests that are due, and reads the server's clock at both marks. */
    void advance(long now) throws IOException {
      while (begun < clients.size() && now - beginOf(begun) >= 0) {
        send(clients.get(begun++));
        underWay++;
      }
      if (!counts && now - from >= 0) {
        counts = true;
        cpuBefore = cpuNanos.getAsLong();
      }
      if (!ended && now - end >= 0) {
        ended = true;
        cpuAfter = cpuNanos.getAsLong();
      }
    }

    private long beginOf(int client) {
      return start + RAMP_NANOS * client / clients.size();
    }

    /** Returns how long to wait for answers at most: at least 1, since 0 is without end. */
    long millisToNextMark() {
      long next = begun < clients.size() ? beginOf(begun) : counts ? end : from;
      long nanos = ended ? PATIENCE_NANOS : next - System.nanoTime();
      return Math.max(1, nanos / 1_000_000);
    }

    void answered(Client client) throws IOException {
      long now = System.nanoTime();
      advance(now);
      if (ended) {
        underWay--;
        return;
      }
      if (counts) {
        latencies.recordValue(now - client.sent);
        answers++;
      }
      send(client);
    }

    Result result() {
      return new Result(answers, end - from, cpuAfter - cpuBefore, latencies);
    }
  }

  /**
   * Keeps all connections busy for so long; returns a number for each metric of {@link
   * HttpPeersBenchmark}.
   *
   * @param cpuNanos the CPU time that the server has taken
   */
  public Map<String, Double> measure(long millis, LongSupplier cpuNanos) throws IOException {
    Result result = run(millis, cpuNanos);
    if (result.answers() == 0) {
      throw new IOException("the server has answered nothing in " + millis + " ms");
    }
    return Map.of(
        HttpPeersBenchmark.CPU.name(),
        result.cpuNanos() / 1e3 / result.answers(),
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
