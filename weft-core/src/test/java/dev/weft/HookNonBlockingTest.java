package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The hook knows when a socket that a fiber has waited for is empty, and then does not ask the
 * kernel. Only a call that parks on an empty socket may get that answer: a call that returns
 * instead has to see the data that has arrived.
 *
 * <p>Each test lets a fiber wait first, so that its worker registers the socket, and then makes the
 * socket ready without a scheduling point before the call: the worker has not polled in between.
 */
@Feature("H4")
@DisabledIfSystemProperty(named = "weft.poller", matches = "nio") // the NIO poller hooks no sockets
class HookNonBlockingTest {
  private static final long LIMIT_NANOS = 10_000_000_000L;

  private Scheduler scheduler;
  private @TempDir Path folder;

  @BeforeEach
  void start() {
    scheduler = Scheduler.builder().threads(1).build().start();
  }

  @AfterEach
  void stop() {
    scheduler.stop(Duration.ZERO);
  }

  /** Two connected stream channels. */
  private record Ends(SocketChannel here, SocketChannel there) implements AutoCloseable {
    static Ends open(SocketAddress address, StandardProtocolFamily family) throws IOException {
      try (ServerSocketChannel server = ServerSocketChannel.open(family).bind(address)) {
        SocketChannel here = SocketChannel.open(server.getLocalAddress());
        return new Ends(here, server.accept());
      }
    }

    @Override
    public void close() throws IOException {
      here.close();
      there.close();
    }
  }

  private static SocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private static Ends inet() throws IOException {
    return Ends.open(anyPort(), StandardProtocolFamily.INET);
  }

  private Ends unix() throws IOException {
    return Ends.open(
        UnixDomainSocketAddress.of(folder.resolve("socket")), StandardProtocolFamily.UNIX);
  }

  private static ByteBuffer one() {
    return ByteBuffer.wrap(new byte[] {1});
  }

  /** Waits without a scheduling point. */
  private static void spinUntil(String what, Callable<Boolean> condition) throws Exception {
    long start = System.nanoTime();
    while (!condition.call()) {
      assertThat(System.nanoTime() - start).as(what).isLessThan(LIMIT_NANOS);
      Thread.onSpinWait();
    }
  }

  /**
   * Runs the body in a fiber that waits in its first call, and runs the action during that wait.
   */
  private <T> T whileItWaits(AutoCloseable whenItWaits, Callable<T> body) throws Exception {
    Fiber<T> fiber = scheduler.go(body);
    waits(fiber);
    whenItWaits.close();
    return fiber.join();
  }

  // ---- reading ----

  /** The ways to read a channel. */
  enum Read {
    HEAP {
      @Override
      long from(SocketChannel channel) throws IOException {
        return channel.read(ByteBuffer.allocate(10));
      }
    },
    DIRECT {
      @Override
      long from(SocketChannel channel) throws IOException {
        return channel.read(ByteBuffer.allocateDirect(10));
      }
    },
    SCATTERED {
      @Override
      long from(SocketChannel channel) throws IOException {
        return channel.read(new ByteBuffer[] {ByteBuffer.allocate(1), ByteBuffer.allocate(9)});
      }
    };

    abstract long from(SocketChannel channel) throws IOException;
  }

  private static long switchAndRead(Ends ends, Read read, Arrival arrival) throws Exception {
    Read.DIRECT.from(ends.here);
    ends.here.configureBlocking(false);
    assertThat(read.from(ends.here)).isZero();
    ends.there.write(one());
    arrival.await();
    return read.from(ends.here);
  }

  private interface Arrival {
    void await() throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void aNonBlockingReadSeesWhatHasArrived(Read read) throws Exception {
    try (Ends ends = inet()) {
      InputStream stream = ends.here.socket().getInputStream();
      Arrival arrival = () -> spinUntil("a byte arrives", () -> stream.available() > 0);
      long got =
          whileItWaits(() -> ends.there.write(one()), () -> switchAndRead(ends, read, arrival));
      assertThat(got).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aNonBlockingReadOfAUnixSocketSeesWhatHasArrived(Read read) throws Exception {
    try (Ends ends = unix()) { // written data arrives at once
      long got =
          whileItWaits(() -> ends.there.write(one()), () -> switchAndRead(ends, read, () -> {}));
      assertThat(got).isEqualTo(1);
    }
  }

  @Test
  void aNonBlockingReadSeesTheEndAsSoonAsItHasArrived() throws Exception {
    try (Ends ends = unix()) {
      int got =
          whileItWaits(
              () -> ends.there.write(one()),
              () -> {
                Read.DIRECT.from(ends.here);
                ends.here.configureBlocking(false);
                ends.there.close();
                return ends.here.read(ByteBuffer.allocate(10));
              });
      assertThat(got).isEqualTo(-1);
    }
  }

  @Test
  void aChannelThatASelectorFoundReadableIsReadable() throws Exception {
    try (Ends ends = inet();
        Selector selector = Selector.open()) {
      long got =
          whileItWaits(
              () -> ends.there.write(one()),
              () -> {
                Read.DIRECT.from(ends.here);
                ends.here.configureBlocking(false);
                ends.here.register(selector, SelectionKey.OP_READ);
                ends.there.write(one());
                spinUntil("it is selected", () -> selector.selectNow() > 0);
                return Read.DIRECT.from(ends.here);
              });
      assertThat(got).isEqualTo(1);
    }
  }

  @Test
  void betweenTheModesNoByteAndNoWakeUpIsLost() throws Exception {
    try (Ends ends = unix()) {
      int rounds = 100;
      AtomicInteger begun = new AtomicInteger();
      Fiber<Void> reading =
          scheduler.go(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  ends.here.configureBlocking(true);
                  begun.incrementAndGet();
                  assertThat(Read.DIRECT.from(ends.here)).isEqualTo(1); // waits
                  ends.here.configureBlocking(false);
                  assertThat(Read.DIRECT.from(ends.here)).isZero();
                  ends.there.write(one());
                  assertThat(Read.DIRECT.from(ends.here)).isEqualTo(1);
                }
                return null;
              });
      for (int i = 1; i <= rounds; i++) {
        int round = i;
        eventually(
            "the reader waits in round " + i,
            () -> begun.get() == round && reading.status() == Fiber.Status.WAITING);
        ends.there.write(one());
      }
      reading.join();
    }
  }

  /** A user's channel that reads another channel, which is non-blocking, as if it might block. */
  private static final class Wrapper extends AbstractInterruptibleChannel {
    private final SocketChannel inner;

    Wrapper(SocketChannel inner) {
      this.inner = inner;
    }

    int read(ByteBuffer buffer) throws IOException {
      boolean completed = false;
      try {
        begin();
        int got = inner.read(buffer);
        completed = true;
        return got;
      } finally {
        end(completed);
      }
    }

    @Override
    protected void implCloseChannel() throws IOException {
      inner.close();
    }
  }

  @Test
  void aNonBlockingReadInsideAnotherChannelsBlockingReadSeesWhatHasArrived() throws Exception {
    try (Ends ends = unix()) {
      Wrapper wrapper = new Wrapper(ends.here);
      int got =
          whileItWaits(
              () -> ends.there.write(one()),
              () -> {
                wrapper.read(ByteBuffer.allocate(10));
                ends.here.configureBlocking(false);
                ends.there.write(one());
                return wrapper.read(ByteBuffer.allocate(10));
              });
      assertThat(got).isEqualTo(1);
    }
  }

  // ---- blocking calls that need not park ----

  @Test
  void anInterruptedFiberReadsFromASocketWhatHasArrived() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Socket here = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket there = server.accept()) {
      InputStream stream = here.getInputStream();
      boolean interrupted =
          whileItWaits(
              () -> there.getOutputStream().write(1),
              () -> {
                stream.read(new byte[10]);
                there.getOutputStream().write(2);
                spinUntil("a byte arrives", () -> stream.available() > 0);
                Thread.currentThread().interrupt();
                assertThat(stream.read()).isEqualTo(2);
                return Thread.interrupted();
              });
      assertThat(interrupted).isTrue();
      assertThat(here.isClosed()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aReadWithALimitGetsTheArrivedDataWheneverItArrived(boolean ofChannel) throws Exception {
    try (Ends ends = inet();
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket accepted = server.accept()) {
      Socket here = ofChannel ? ends.here.socket() : client;
      Socket there = ofChannel ? ends.there.socket() : accepted;
      InputStream stream = here.getInputStream();
      whileItWaits(
          () -> there.getOutputStream().write(1),
          () -> {
            here.setSoTimeout(10_000);
            assertThat(stream.read(new byte[10])).isEqualTo(1);
            here.setSoTimeout(1);
            assertThatThrownBy(stream::read).isInstanceOf(SocketTimeoutException.class);
            there.getOutputStream().write(2);
            spinUntil("a byte arrives", () -> stream.available() > 0);
            here.setSoTimeout(10_000);
            assertThat(stream.read()).isEqualTo(2);
            return null;
          });
    }
  }

  // ---- the other kinds ----

  @Test
  void aNonBlockingReceiveSeesWhatHasArrived() throws Exception {
    try (DatagramChannel here = DatagramChannel.open().bind(anyPort());
        DatagramChannel there = DatagramChannel.open();
        Selector selector = Selector.open()) {
      SocketAddress address = here.getLocalAddress();
      SocketAddress sender =
          whileItWaits(
              () -> there.send(one(), address),
              () -> {
                here.receive(ByteBuffer.allocate(10));
                here.configureBlocking(false);
                assertThat(here.receive(ByteBuffer.allocate(10))).isNull();
                here.register(selector, SelectionKey.OP_READ);
                there.send(one(), address);
                spinUntil("it has arrived", () -> selector.selectNow() > 0);
                return here.receive(ByteBuffer.allocate(10));
              });
      assertThat(sender).isNotNull();
    }
  }

  @Test
  void aNonBlockingReadOfAConnectedDatagramChannelSeesWhatHasArrived() throws Exception {
    try (DatagramChannel here = DatagramChannel.open().bind(anyPort());
        DatagramChannel there = DatagramChannel.open().bind(anyPort());
        Selector selector = Selector.open()) {
      here.connect(there.getLocalAddress());
      there.connect(here.getLocalAddress());
      int got =
          whileItWaits(
              () -> there.write(one()),
              () -> {
                here.read(ByteBuffer.allocate(10));
                here.configureBlocking(false);
                assertThat(here.read(ByteBuffer.allocate(10))).isZero();
                here.register(selector, SelectionKey.OP_READ);
                there.write(one());
                spinUntil("it has arrived", () -> selector.selectNow() > 0);
                return here.read(ByteBuffer.allocate(10));
              });
      assertThat(got).isEqualTo(1);
    }
  }

  @Test
  void aNonBlockingAcceptSeesTheWaitingConnection() throws Exception {
    try (ServerSocketChannel server =
        ServerSocketChannel.open(StandardProtocolFamily.UNIX)
            .bind(UnixDomainSocketAddress.of(folder.resolve("server")))) {
      SocketAddress address = server.getLocalAddress();
      boolean accepted =
          whileItWaits(
              () -> SocketChannel.open(address).close(),
              () -> {
                server.accept().close();
                server.configureBlocking(false);
                assertThat(server.accept()).isNull();
                try (SocketChannel client = SocketChannel.open(address);
                    SocketChannel peer = server.accept()) {
                  return client.isConnected() && peer != null;
                }
              });
      assertThat(accepted).isTrue();
    }
  }

  @Test
  void aNonBlockingPipeSeesWhatHasArrivedAndWhatHasRoom() throws Exception {
    Pipe pipe = Pipe.open();
    try (Pipe.SourceChannel source = pipe.source();
        Pipe.SinkChannel sink = pipe.sink()) {
      whileItWaits(
          () -> sink.write(one()),
          () -> {
            source.read(ByteBuffer.allocate(10));
            source.configureBlocking(false);
            assertThat(source.read(ByteBuffer.allocate(10))).isZero();
            sink.write(one());
            assertThat(source.read(ByteBuffer.allocate(10))).isEqualTo(1);
            return null;
          });
      checkThatRoomIsSeen(sink, sink::configureBlocking, source);
    }
  }

  // ---- writing ----

  @Test
  void aNonBlockingWriteSeesThatThereIsRoom() throws Exception {
    try (Ends ends = unix()) {
      ends.here.setOption(StandardSocketOptions.SO_SNDBUF, 10_000);
      ends.there.configureBlocking(false);
      checkThatRoomIsSeen(ends.here, ends.here::configureBlocking, ends.there);
    }
  }

  private interface Mode {
    Object set(boolean blocking) throws IOException;
  }

  /** The reader does not wait. */
  private void checkThatRoomIsSeen(
      WritableByteChannel writer, Mode mode, ReadableByteChannel reader) throws Exception {
    int wrote =
        whileItWaits(
            () -> drain(reader),
            () -> {
              mode.set(true);
              ByteBuffer much = ByteBuffer.allocate(400_000);
              writer.write(much); // fills the pipe
              writer.write(ByteBuffer.allocate(100)); // waits, in this line or in the line before
              mode.set(false);
              while (writer.write(ByteBuffer.allocate(1_000)) > 0) {}
              drain(reader);
              return writer.write(ByteBuffer.allocate(1_000));
            });
    assertThat(wrote).isEqualTo(1_000);
  }

  private static void drain(ReadableByteChannel reader) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(100_000);
    while (reader.read(buffer.clear()) > 0) {}
  }
}
