package dev.weft.net;

import static dev.weft.net.Nets.bytes;
import static dev.weft.net.Nets.eventually;
import static dev.weft.net.Nets.loopback;
import static dev.weft.net.Nets.rest;
import static dev.weft.net.Nets.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.poller.Poller;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults of sockets affect no other socket, and come out as Java's exceptions. */
@SuppressWarnings({"UnnecessaryAsync", "AddressSelection"}) // addresses are literal here
class NetFaultsTest {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();

  @AfterEach
  void stop() throws Exception {
    scheduler.go(() -> {}).join(); // the thread still runs fibers
    assertThat(scheduler.stop(Duration.ofSeconds(5))).as("all fibers have ended").isTrue();
  }

  private static void reset(TcpStream stream) throws IOException {
    stream.option(StandardSocketOptions.SO_LINGER, 0);
    stream.close();
  }

  /** Fails if the threads of the scheduler use more than a tenth of a core for a while. */
  private void assertNoSpin() throws InterruptedException {
    List<Thread> threads =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith(scheduler.name() + "-"))
            .toList();
    assertThat(threads).isNotEmpty();
    long before = cpu(threads);
    Thread.sleep(200); // the measured time
    assertThat(cpu(threads) - before).isLessThan(20_000_000);
  }

  private static long cpu(List<Thread> threads) {
    return threads.stream().mapToLong(t -> THREADS.getThreadCpuTime(t.threadId())).sum();
  }

  @Test
  @Feature({"N3", "I4"})
  void aResetEndsARead() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<Integer> reader = scheduler.go(() -> pair.server().read(new byte[1]));
      waits(reader);
      reset(pair.client());
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(reader::join)
          .havingCause()
          .isInstanceOf(SocketException.class)
          .withMessageContaining("reset")
          .withMessageContaining("read from");
      assertNoSpin(); // although it is not closed here
    }
  }

  @Test
  @Feature({"N3", "I4"})
  void aResetEndsAWrite() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<Void> writer = scheduler.go(() -> pair.server().write(new byte[30_000_000]));
      waits(writer);
      reset(pair.client());
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(writer::join)
          .havingCause()
          .isInstanceOf(SocketException.class)
          .withMessageContaining("write to");
      assertThatExceptionOfType(SocketException.class)
          .isThrownBy(() -> pair.server().write(new byte[1]));
    }
  }

  @Test
  @Feature("N3")
  void anEndedPeerDoesNotMakeTheOtherSideSpin() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<Void> writer = scheduler.go(() -> pair.server().write(new byte[30_000_000]));
      waits(writer);
      pair.client().shutdownOutput(); // half-open: the peer can read the end, and cannot write
      assertNoSpin();
      assertThat(writer.status()).isEqualTo(Fiber.Status.WAITING);
      assertThat(pair.server().read(new byte[1])).isEqualTo(-1);
      writer.cancel();
    }
  }

  /** The poller reports connection, answer and end at once. */
  @Test
  @Feature("N3")
  void noDataIsLostIfThePeerEndsBeforeTheConnectIsNoticed() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofPlatform()
          .start(
              () -> {
                try (Socket socket = server.accept()) {
                  socket.getOutputStream().write(bytes("all"));
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                } finally {
                  ended.countDown();
                }
              });
      Fiber<String> client =
          scheduler.go(
              () -> {
                try (TcpStream stream = TcpStream.connect(server.getLocalSocketAddress())) {
                  return rest(stream);
                }
              });
      scheduler.go(
          () -> {
            while (ended.getCount() > 0) {
              Thread.onSpinWait(); // keeps the thread from polling
            }
          });
      assertThat(client.join(Duration.ofSeconds(15))).isEqualTo("all");
    }
  }

  @Test
  @Feature("N1")
  void connectIsRefusedWithTheAddress() throws Exception {
    SocketAddress free;
    try (TcpListener listener = TcpListener.bind(loopback())) {
      free = listener.localAddress();
    }
    // the NIO poller releases a listener at its next poll
    Nets.eventually("no server listens", () -> !accepts(free));
    scheduler
        .go(
            () ->
                assertThatExceptionOfType(ConnectException.class)
                    .isThrownBy(() -> TcpStream.connect(free, Duration.ofSeconds(5)))
                    .withMessageContaining("refused")
                    .withMessageContaining(free.toString()))
        .join();
  }

  private static boolean accepts(SocketAddress address) {
    try (Socket socket = new Socket()) {
      socket.connect(address);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  @Feature("N2")
  void connectToAFullBacklogTimesOut() throws Exception {
    try (TcpListener listener = TcpListener.builder().backlog(1).bind(loopback())) {
      List<TcpStream> inLine = new ArrayList<>();
      Fiber<Void> filler =
          scheduler.go(
              () -> {
                while (true) {
                  inLine.add(TcpStream.connect(listener.localAddress(), Duration.ofMillis(100)));
                }
              });
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(filler::join)
          .havingCause()
          .isInstanceOf(SocketTimeoutException.class)
          .withMessageContaining(listener.localAddress().toString())
          .withMessageContaining("PT0.1S");
      assertThat(inLine).hasSizeBetween(1, 5);
      inLine.forEach(TcpStream::close);
    }
  }

  @Test
  @Feature("N2")
  void connectWaitsForAFullBacklogOfAUnixSocket(@TempDir Path folder) throws Exception {
    assumeTrue(Poller.isEpoll(), "the JDK takes a full line for a connection");
    var address = UnixDomainSocketAddress.of(folder.resolve("s"));
    try (TcpListener listener = TcpListener.builder().backlog(1).bind(address)) {
      List<TcpStream> inLine = new ArrayList<>();
      Fiber<Void> filler =
          scheduler.go(
              () -> {
                while (true) {
                  inLine.add(TcpStream.connect(address, Duration.ofMillis(50)));
                }
              });
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(filler::join)
          .withCauseInstanceOf(SocketTimeoutException.class);
      Fiber<TcpStream> patient = scheduler.go(() -> TcpStream.connect(address));
      waits(patient);
      listener.accept().close();
      patient.join().close();
      inLine.forEach(TcpStream::close);
    }
  }

  @Test
  @Feature("N1")
  void badAddressesAreRefusedWithTheReason(@TempDir Path folder) throws Exception {
    InetSocketAddress unknown = InetSocketAddress.createUnresolved("no.such.host.invalid", 80);
    assertThatExceptionOfType(UnknownHostException.class)
        .isThrownBy(() -> TcpStream.connect(unknown))
        .withMessageContaining("no.such.host.invalid");
    assertThatExceptionOfType(UnknownHostException.class)
        .isThrownBy(() -> TcpListener.bind(unknown));
    assertThatExceptionOfType(BindException.class)
        .isThrownBy(() -> TcpListener.bind(new InetSocketAddress("192.0.2.1", 0)))
        .withMessageContaining("192.0.2.1");
    try (TcpListener listener = TcpListener.bind(loopback())) {
      assertThatExceptionOfType(BindException.class)
          .isThrownBy(() -> TcpListener.bind(listener.localAddress()))
          .withMessageContaining(listener.localAddress().toString());
    }
    assertThatExceptionOfType(SocketException.class)
        .isThrownBy(() -> TcpStream.connect(UnixDomainSocketAddress.of(folder.resolve("none"))))
        .withMessageContaining("none");
    assertThatExceptionOfType(SocketException.class)
        .isThrownBy(
            () -> TcpListener.bind(UnixDomainSocketAddress.of(folder.resolve("x".repeat(200)))));
    assertThatExceptionOfType(BindException.class)
        .isThrownBy(() -> TcpListener.bind(UnixDomainSocketAddress.of("")));
    assertThatExceptionOfType(SocketException.class)
        .isThrownBy(
            () -> TcpListener.bind(UnixDomainSocketAddress.of(folder.resolve("no").resolve("s"))))
        .withMessageContaining("No such file")
        .isNotInstanceOf(ConnectException.class);
    assertThatIllegalArgumentException().isThrownBy(() -> loopback(70_000));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TcpListener.builder().backlog(0))
        .withMessageContaining("1 or more");
  }

  @Test
  @Feature({"N3", "N7"})
  void aResetIsReportedAfterTheEarlierDataAndByEveryRead() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<Integer> reader = scheduler.go(() -> pair.server().read(new byte[1]));
      waits(reader);
      pair.client().write(new byte[6]);
      assertThat(reader.join()).isEqualTo(1);
      reset(pair.client());
      // Linux delivers the data from before the reset, then the reset
      ByteBuffer first = ByteBuffer.allocate(3);
      ByteBuffer second = ByteBuffer.allocate(100);
      assertThat(pair.server().read(first, second)).isEqualTo(5);
      for (int i = 0; i < 3; i++) {
        assertThatExceptionOfType(SocketException.class)
            .isThrownBy(() -> pair.server().read(new byte[1]))
            .withMessageContaining("reset");
      }
    }
  }

  /** The system waits until all is sent, or until the linger time: a helper waits, no worker. */
  @Test
  @Feature({"N1", "N5"})
  void closingALingeringSocketHoldsNoThread() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      TcpStream stream = pair.client();
      stream.option(StandardSocketOptions.SO_LINGER, 30);
      stream.writeTimeout(Duration.ofMillis(20));
      Fiber<Void> closing =
          scheduler.go(
              () -> {
                assertThatExceptionOfType(SocketTimeoutException.class)
                    .isThrownBy(() -> stream.write(new byte[30_000_000]));
                stream.close();
              });
      eventually("the stream is being closed", () -> !stream.isOpen());
      for (int i = 0; i < 100; i++) {
        scheduler.go(() -> {}).join(Duration.ofSeconds(10));
      }
      scheduler.go(() -> pair.server().inputStream().readAllBytes()).join();
      closing.join();
    }
  }
}
