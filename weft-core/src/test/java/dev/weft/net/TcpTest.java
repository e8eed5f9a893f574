package dev.weft.net;

import static dev.weft.net.Nets.bytes;
import static dev.weft.net.Nets.loopback;
import static dev.weft.net.Nets.rest;
import static dev.weft.net.Nets.text;
import static dev.weft.net.Nets.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams and listeners, on the poller of this run. */
@SuppressWarnings({"UnnecessaryAsync", "AddressSelection"}) // addresses are literal here
class TcpTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();

  @AfterEach
  void stop() {
    assertThat(scheduler.stop(Duration.ofSeconds(5))).as("all fibers have ended").isTrue();
  }

  private void echo(TcpListener listener) {
    scheduler.go(
        () -> {
          while (true) {
            TcpStream stream;
            try {
              stream = listener.accept();
            } catch (ClosedChannelException e) {
              return;
            }
            scheduler.go(
                () -> {
                  try (stream) {
                    byte[] buffer = new byte[4096];
                    for (int n = stream.read(buffer); n >= 0; n = stream.read(buffer)) {
                      stream.write(buffer, 0, n);
                    }
                  }
                });
          }
        });
  }

  private void assertEchoes(SocketAddress address) throws Exception {
    try (TcpListener listener = TcpListener.bind(address)) {
      echo(listener);
      SocketAddress bound = listener.localAddress();
      String answer =
          scheduler
              .go(
                  () -> {
                    try (TcpStream stream = TcpStream.connect(bound, Duration.ofSeconds(5))) {
                      stream.write(bytes("hello"));
                      String first = text(stream, 5);
                      stream.write(bytes("world"));
                      stream.shutdownOutput();
                      return first + " " + rest(stream);
                    }
                  })
              .join();
      assertThat(answer).isEqualTo("hello world");
    }
  }

  @Test
  @Feature({"N1", "I7"})
  void echoesOverIpv4Ipv6AndUnix(@TempDir Path folder) throws Exception {
    assertEchoes(new InetSocketAddress("127.0.0.1", 0));
    assertEchoes(UnixDomainSocketAddress.of(folder.resolve("socket")));
    assertEchoes(new InetSocketAddress("::1", 0));
  }

  @Test
  @Feature("N1")
  void theAnyAddressServesBothFamilies() throws Exception {
    try (TcpListener listener = TcpListener.bind(new InetSocketAddress(0))) {
      echo(listener);
      int port = ((InetSocketAddress) listener.localAddress()).getPort();
      for (String host : List.of("127.0.0.1", "::1")) {
        try (TcpStream stream = TcpStream.connect(new InetSocketAddress(host, port))) {
          stream.write(bytes("hi"));
          assertThat(text(stream, 2)).isEqualTo("hi");
          assertThat(((InetSocketAddress) stream.remoteAddress()).getPort()).isEqualTo(port);
        }
      }
    }
    assertThat(new InetSocketAddress("::1", 0).getAddress()).isInstanceOf(Inet6Address.class);
  }

  @Test
  @Feature({"N1", "I5"})
  void manyConnectionsOnOneThreadWhileNoThreadBlocks() throws Exception {
    try (TcpListener listener = TcpListener.bind(loopback())) {
      echo(listener);
      SocketAddress address = listener.localAddress();
      List<Fiber<Integer>> clients = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        int seed = i;
        clients.add(scheduler.go(() -> exchange(address, seed)));
      }
      for (Fiber<Integer> client : clients) {
        assertThat(client.join()).isEqualTo(20);
      }
    }
  }

  private static int exchange(SocketAddress address, int seed) throws IOException {
    Random random = new Random(seed);
    try (TcpStream stream = TcpStream.connect(address)) {
      for (int i = 0; i < 20; i++) {
        byte[] message = new byte[1 + random.nextInt(10_000)];
        random.nextBytes(message);
        stream.write(message);
        assertThat(stream.inputStream().readNBytes(message.length)).isEqualTo(message);
      }
      return 20;
    }
  }

  @Test
  @Feature({"N3", "I5"})
  void writeSendsEverythingAlthoughThePeerIsSlow() throws Exception {
    byte[] large = new byte[20_000_000];
    new Random(1).nextBytes(large);
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<Void> writer =
          scheduler.go(
              () -> {
                pair.client().write(ByteBuffer.wrap(large), ByteBuffer.wrap(bytes("end")));
                pair.client().shutdownOutput();
              });
      waits(writer);
      byte[] read = scheduler.go(() -> pair.server().inputStream().readAllBytes()).join();
      writer.join();
      assertThat(read).hasSize(large.length + 3).startsWith(large).endsWith(bytes("end"));
    }
  }

  @Test
  @Feature("N3")
  void eachWriteGoesOutInOnePiece() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      List<Fiber<Void>> writers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        byte[] block = new byte[3_000_000];
        java.util.Arrays.fill(block, (byte) i);
        writers.add(scheduler.go(() -> pair.client().write(block)));
      }
      byte[] all = scheduler.go(() -> pair.server().inputStream().readNBytes(12_000_000)).join();
      for (Fiber<Void> writer : writers) {
        writer.join();
      }
      for (int at = 0; at < all.length; at += 3_000_000) {
        for (int i = 1; i < 3_000_000; i++) {
          if (all[at + i] != all[at]) {
            throw new AssertionError("mixed at " + (at + i));
          }
        }
      }
    }
  }

  @Test
  @Feature("N3")
  void eitherSideCanBeEndedAlone() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      pair.client().shutdownOutput();
      assertThat(pair.server().read(new byte[1])).isEqualTo(-1);
      pair.server().write(bytes("still here"));
      assertThat(text(pair.client(), 10)).isEqualTo("still here");
      pair.client().shutdownInput();
      assertThat(pair.client().read(new byte[1])).isEqualTo(-1);
    }
  }

  @Test
  @Feature("N3")
  void dataSentBeforeTheEndIsReadFirst() throws Exception {
    for (int i = 0; i < 200; i++) {
      try (Nets.Pair pair = Nets.Pair.open()) {
        Fiber<String> reader = scheduler.go(() -> rest(pair.server()));
        pair.client().write(bytes("all"));
        pair.client().close();
        assertThat(reader.join()).isEqualTo("all");
      }
    }
  }

  @Test
  @Feature({"N3", "I6"})
  void closeFromElsewhereWakesTheWaiters() throws Exception {
    TcpListener listener = TcpListener.bind(loopback());
    try (Nets.Pair pair = Nets.Pair.open();
        Nets.Pair full = Nets.Pair.open()) {
      byte[] large = new byte[20_000_000];
      Fiber<?> reader = scheduler.go(() -> pair.client().read(new byte[1]));
      Fiber<?> second = scheduler.go(() -> pair.client().read(new byte[1]));
      Fiber<?> writer = scheduler.go(() -> full.server().write(large));
      Fiber<?> acceptor = scheduler.go(() -> listener.accept());
      List<Fiber<?>> all = List.of(reader, second, writer, acceptor);
      all.forEach(Nets::waits);
      pair.client().close();
      full.server().close();
      listener.close();
      for (Fiber<?> fiber : all) {
        assertThatExceptionOfType(CompletionException.class)
            .isThrownBy(fiber::join)
            .withCauseInstanceOf(AsynchronousCloseException.class);
      }
      assertThatExceptionOfType(ClosedChannelException.class)
          .isThrownBy(() -> pair.client().write(bytes("x")));
      assertThat(pair.client().isOpen()).isFalse();
    }
  }

  @Test
  @Feature("N2")
  void aReadThatTimesOutLeavesTheStreamUsable() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      scheduler
          .go(
              () -> {
                pair.client().readTimeout(Duration.ofMillis(30));
                long start = System.nanoTime();
                assertThatExceptionOfType(SocketTimeoutException.class)
                    .isThrownBy(() -> pair.client().read(new byte[1]))
                    .withMessageContaining("read from")
                    .withMessageContaining("PT0.03S")
                    .withMessageContaining(pair.client().remoteAddress().toString());
                assertThat(System.nanoTime() - start).isGreaterThan(29_000_000);
                pair.server().write(bytes("late"));
                assertThat(text(pair.client(), 4)).isEqualTo("late");
                pair.client().readTimeout(Duration.ZERO); // waits again
              })
          .join();
      Fiber<Integer> unlimited = scheduler.go(() -> pair.client().read(new byte[1]));
      waits(unlimited);
      pair.server().write(bytes("x"));
      assertThat(unlimited.join()).isEqualTo(1);
    }
  }

  @Test
  @Feature("N2")
  void acceptAndWriteTimeOutToo() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open();
        TcpListener listener = TcpListener.bind(loopback())) {
      listener.acceptTimeout(Duration.ofMillis(20));
      pair.client().writeTimeout(Duration.ofMillis(20));
      Fiber<TcpStream> accept = scheduler.go(() -> listener.accept());
      Fiber<Void> write = scheduler.go(() -> pair.client().write(new byte[20_000_000]));
      for (Fiber<?> fiber : List.of(accept, write)) {
        assertThatExceptionOfType(CompletionException.class)
            .isThrownBy(fiber::join)
            .withCauseInstanceOf(SocketTimeoutException.class);
      }
      try (TcpStream client = TcpStream.connect(listener.localAddress());
          TcpStream server = listener.accept()) {
        assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
      }
      assertThatExceptionOfType(IllegalArgumentException.class)
          .isThrownBy(() -> pair.client().readTimeout(Duration.ofMillis(-1)));
    }
  }

  @Test
  @Feature({"S15", "N3"})
  void aCancelledFiberEndsPromptlyAndTheStreamLives() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      List<String> out = new ArrayList<>();
      Fiber<Integer> reader =
          scheduler.go(
              () -> {
                try {
                  return pair.client().read(new byte[1]);
                } finally {
                  out.add("finally");
                }
              });
      waits(reader);
      assertThat(reader.cancel()).isTrue();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(reader::join).withNoCause();
      assertThat(out).containsExactly("finally");
      pair.server().write(bytes("x"));
      assertThat(scheduler.go(() -> text(pair.client(), 1)).join()).isEqualTo("x");
    }
  }

  @Test
  @Feature("S16")
  void withTimeoutEndsAWaitForASocket() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      scheduler
          .go(
              () -> {
                assertThatExceptionOfType(TimeoutException.class)
                    .isThrownBy(
                        () ->
                            Weft.withTimeout(
                                Duration.ofMillis(20), () -> pair.client().read(new byte[1])));
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
                pair.server().write(bytes("x"));
                assertThat(text(pair.client(), 1)).isEqualTo("x");
              })
          .join();
    }
  }

  @Test
  @Feature("N5")
  void optionsAreSetAndRead() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open();
        TcpListener listener =
            TcpListener.builder()
                .backlog(10)
                .option(StandardSocketOptions.SO_REUSEPORT, true)
                .bind(loopback())) {
      TcpStream stream = pair.client();
      for (var option :
          List.of(StandardSocketOptions.TCP_NODELAY, StandardSocketOptions.SO_KEEPALIVE)) {
        assertThat(stream.option(option)).isFalse();
        stream.option(option, true);
        assertThat(stream.option(option)).isTrue();
      }
      assertThat(stream.option(StandardSocketOptions.SO_LINGER)).isNegative();
      stream.option(StandardSocketOptions.SO_LINGER, 5);
      assertThat(stream.option(StandardSocketOptions.SO_LINGER)).isEqualTo(5);
      stream.option(StandardSocketOptions.SO_LINGER, -1);
      stream.option(StandardSocketOptions.SO_RCVBUF, 20_000);
      assertThat(stream.option(StandardSocketOptions.SO_RCVBUF)).isEqualTo(20_000);
      stream.option(StandardSocketOptions.SO_SNDBUF, 20_000);
      assertThat(stream.option(StandardSocketOptions.SO_SNDBUF)).isEqualTo(20_000);
      assertThat(listener.option(StandardSocketOptions.SO_REUSEPORT)).isTrue();
      assertThat(listener.option(StandardSocketOptions.SO_REUSEADDR)).isTrue();
      try (TcpListener other =
          TcpListener.builder()
              .option(StandardSocketOptions.SO_REUSEPORT, true)
              .bind(listener.localAddress())) {
        assertThat(other.localAddress()).isEqualTo(listener.localAddress());
      }
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> stream.option(StandardSocketOptions.IP_MULTICAST_TTL, 1));
    }
  }

  @Test
  @Feature("N7")
  void buffersOfAnyKindAreReadAndWritten() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      ByteBuffer direct = ByteBuffer.allocateDirect(10);
      direct.put(bytes("..direct")).flip().position(2);
      ByteBuffer readOnly = ByteBuffer.wrap(bytes("-heap-")).asReadOnlyBuffer();
      ByteBuffer empty = ByteBuffer.allocate(0);
      pair.client().write(direct, readOnly, empty, ByteBuffer.wrap(bytes("xslicex"), 1, 5).slice());
      assertThat(direct.hasRemaining()).isFalse();
      assertThat(readOnly.hasRemaining()).isFalse();
      ByteBuffer first = ByteBuffer.allocateDirect(4);
      ByteBuffer second = ByteBuffer.allocate(5);
      ByteBuffer third = ByteBuffer.allocate(100);
      assertThat(pair.server().read(first, second, third)).isEqualTo(17);
      first.flip();
      byte[] four = new byte[4];
      first.get(four);
      assertThat(new String(four, 0, 4, java.nio.charset.StandardCharsets.UTF_8)).isEqualTo("dire");
      assertThat(second.array()).isEqualTo(bytes("ct-he"));
      assertThat(third.position()).isEqualTo(8);
      pair.client().write(ByteBuffer.wrap(bytes("one")));
      ByteBuffer one = ByteBuffer.allocate(2);
      assertThat(pair.server().read(one)).isEqualTo(2);
      assertThat(pair.server().read(one)).isZero();
      assertThat(text(pair.server(), 1)).isEqualTo("e");
      pair.client().close();
      assertThat(pair.server().read(first.clear(), second.clear())).isEqualTo(-1);
    }
  }

  /** Short messages are copied through the worker's memory, long messages are not. */
  @Test
  @Feature({"N3", "N7"})
  void messagesOfAnyLengthArriveWhole() throws Exception {
    scheduler.go(TcpTest::exchangeAllLengths).join();
    exchangeAllLengths(); // on a plain thread
  }

  private static void exchangeAllLengths() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      TcpStream client = pair.client();
      TcpStream server = pair.server();
      byte[] room = new byte[70_003];
      for (int length : new int[] {1, 64, 8191, 8192, 8193, 64, 16_384, 70_000, 10}) {
        byte[] message = new byte[length + 7];
        new Random(length).nextBytes(message);
        byte[] expected = Arrays.copyOfRange(message, 3, 3 + length);

        client.write(message, 3, length);
        for (int got = 0; got < length; ) {
          got += server.read(room, 3 + got, room.length - 3 - got);
        }
        assertThat(Arrays.copyOfRange(room, 3, 3 + length)).isEqualTo(expected);

        client.write(ByteBuffer.wrap(message, 1, length + 2).slice().position(2));
        ByteBuffer target = ByteBuffer.wrap(room, 1, length + 2).slice().position(2);
        while (target.hasRemaining()) {
          server.read(target);
        }
        assertThat(Arrays.copyOfRange(room, 3, 3 + length)).isEqualTo(expected);
      }
    }
  }

  @Test
  @Feature("N7")
  void inputAndOutputStreamsReadAndWriteTheSocket() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      pair.client().outputStream().write(200);
      pair.client().outputStream().write(bytes("line\n"));
      assertThat(pair.server().inputStream().read()).isEqualTo(200);
      assertThat(text(pair.server(), 5)).isEqualTo("line\n");
      pair.client().outputStream().close();
      assertThat(pair.client().isOpen()).isFalse();
      assertThat(pair.server().inputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  @Feature("S7")
  void aFiberThatMovesStillGetsItsEvents() throws Exception {
    try (Scheduler first = Scheduler.builder().threads(2).build().start();
        Nets.Pair pair = Nets.Pair.open()) {
      Fiber<String> reader =
          first.go(
              FiberOptions.named("mover").onThread(0),
              () -> {
                StringBuilder read = new StringBuilder(text(pair.client(), 1)); // registers here
                Fiber.switchTo(1);
                read.append(text(pair.client(), 1));
                Fiber.switchTo(scheduler);
                return read.append(text(pair.client(), 1)).toString();
              });
      for (String letter : List.of("a", "b", "c")) {
        waits(reader);
        pair.server().write(bytes(letter));
        Nets.eventually("the letter was read", () -> unread(pair.server(), letter, reader));
      }
      assertThat(reader.join()).isEqualTo("abc");
    }
  }

  private static boolean unread(TcpStream server, String letter, Fiber<?> reader) {
    return server.isOpen() && (letter.equals("c") || reader.status() == Fiber.Status.WAITING);
  }

  @Test
  @Feature("I7")
  void aFiberTakenOverReturnsToTheWorkerThatPollsItsSocket() throws Exception {
    try (Scheduler two =
            Scheduler.builder().threads(2).blockedAfter(Duration.ofMillis(30)).build().start();
        Nets.Pair pair = Nets.Pair.open()) {
      AtomicBoolean takenOver = new AtomicBoolean();
      Fiber<Void> reader =
          two.go(
              () -> {
                text(pair.server(), 1);
                int polling = Fiber.threadIndex();
                two.go(
                    FiberOptions.named("holds its thread").onThread(polling),
                    () -> {
                      while (!takenOver.get()) {
                        Thread.onSpinWait();
                      }
                    });
                Fiber.yield();
                assertThat(Fiber.threadIndex()).isNotEqualTo(polling);
                takenOver.set(true);
                while (Fiber.threadIndex() != polling) {
                  text(pair.server(), 1); // more than once while its thread counts as stuck
                }
              });
      Nets.eventually(
          "it is back",
          () -> reader.status() == Fiber.Status.DONE || writeOne(pair.client(), reader));
      reader.join();
    }
  }

  /** Writes if the reader waits; returns false. */
  private static boolean writeOne(TcpStream stream, Fiber<?> reader) {
    try {
      if (reader.status() == Fiber.Status.WAITING) {
        stream.write(bytes("a"));
      }
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  @Feature("I7")
  void aSocketOutlivesTheSchedulerThatPolledForIt() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<String> waiting;
      try (Scheduler first = Scheduler.builder().threads(1).build().start()) {
        Fiber<String> registrar = first.go(() -> text(pair.client(), 1));
        waits(registrar);
        pair.server().write(bytes("a"));
        assertThat(registrar.join()).isEqualTo("a");
        waiting = scheduler.go(() -> text(pair.client(), 2));
        waits(waiting);
      }
      pair.server().write(bytes("bc"));
      assertThat(waiting.join()).isEqualTo("bc");
    }
  }

  @Test
  @Feature("N1")
  void plainThreadsAndOtherVirtualThreadsUseSocketsToo() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      List<String> out = java.util.Collections.synchronizedList(new ArrayList<>());
      for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
        Thread thread =
            kind.start(
                () -> {
                  try {
                    out.add(text(pair.client(), 2));
                  } catch (IOException e) {
                    out.add(e.toString());
                  }
                });
        Nets.eventually("the thread waits", () -> thread.getState() == Thread.State.WAITING);
        pair.server().write(bytes("ok"));
        thread.join();
      }
      assertThat(out).containsExactly("ok", "ok");
    }
  }

  @Test
  @Feature("S18")
  void aDumpSaysWhatAFiberWaitsFor() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<Integer> reader = scheduler.go(() -> pair.client().read(new byte[1]));
      waits(reader);
      assertThat(scheduler.dump().text())
          .contains("waits for something to read from " + pair.client().remoteAddress());
      pair.client().close();
      assertThatExceptionOfType(CompletionException.class).isThrownBy(reader::join);
    }
  }

  @Test
  @Feature("S1")
  void aPeerThatNeverPausesStarvesNoFiber() throws Exception {
    AtomicBoolean othersRan = new AtomicBoolean();
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<Void> busy =
          scheduler.go(
              () -> {
                byte[] one = new byte[1];
                while (!othersRan.get()) {
                  pair.client().write(one);
                  pair.server().read(one);
                }
              });
      scheduler.go(() -> othersRan.set(true)).join();
      busy.join();
    }
  }

  // ---- turns ----

  @Test
  @Feature("N3")
  void readersTakeTurns() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      int[] bytes = new int[3];
      List<Fiber<Void>> readers = new ArrayList<>();
      for (int i = 0; i < bytes.length; i++) {
        int me = i;
        readers.add(
            scheduler.go(
                () -> {
                  while (pair.client().read(new byte[1]) > 0) {
                    bytes[me]++;
                  }
                }));
      }
      readers.forEach(Nets::waits);
      pair.server().write(new byte[300]);
      pair.server().close();
      for (Fiber<Void> reader : readers) {
        reader.join();
      }
      for (int count : bytes) {
        assertThat(count).isBetween(90, 110);
      }
    }
  }

  @Test
  @Feature("S19")
  void aFiberQueuedBehindAPlainThreadIsNoDeadlock() throws Exception {
    standInLineWhileStopping(0);
  }

  /**
   * The worker takes the fiber's stack before it sleeps; the JDK may submit the fiber at that
   * moment.
   */
  @Test
  @Feature({"S8", "S19"})
  void aFiberWokenWhileItsWorkerLooksForADeadlockRuns() throws Exception {
    Random random = new Random(42);
    for (int i = 0; i < 100; i++) {
      standInLineWhileStopping(random.nextInt(1, 60_000));
    }
  }

  /** Makes the fiber ready this long after stop() was called; 0: once stop() waits. */
  private static void standInLineWhileStopping(int nanos) throws Exception {
    Scheduler failing = Scheduler.builder().threads(1).failOnDeadlock(true).build().start();
    try (Nets.Pair pair = Nets.Pair.open()) {
      Thread first = Thread.ofPlatform().start(() -> readOne(pair.client()));
      Nets.eventually("a thread reads", () -> first.getState() == Thread.State.WAITING);
      Fiber<Void> inLine = failing.go(() -> readOne(pair.client()));
      waits(inLine);
      FutureTask<Void> stop = new FutureTask<>(failing::stop, null);
      Thread stopper = Thread.ofPlatform().start(stop);
      if (nanos == 0) {
        Nets.eventually("stop() waits", () -> stopper.getState() == Thread.State.WAITING);
      }
      for (long start = System.nanoTime(); System.nanoTime() - start < nanos; ) {
        Thread.onSpinWait();
      }
      pair.server().write(new byte[2]);
      first.join();
      inLine.join();
      stop.get();
    }
  }

  private static void readOne(TcpStream stream) {
    try {
      stream.read(new byte[1]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  @Feature("S15")
  void aCancelledFiberDoesNotQueueForItsTurnAgain() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<?> reader = scheduler.go(() -> pair.client().read(new byte[1]));
      waits(reader);
      AtomicInteger refused = new AtomicInteger();
      Fiber<Void> inLine =
          scheduler.go(
              () -> {
                for (int i = 0; i < 3; i++) {
                  try {
                    pair.client().read(new byte[1]);
                  } catch (InterruptedIOException e) {
                    Thread.interrupted(); // a cancel is a level: the next wait fails too
                    refused.incrementAndGet();
                  }
                }
              });
      waits(inLine);
      inLine.cancel();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(inLine::join);
      assertThat(refused).hasValue(3);
      reader.cancel();
    }
  }

  // ---- buffers that are not as they should be ----

  @Test
  @Feature("N7")
  void readOnlyBuffersAreNotReadInto() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      pair.server().write(bytes("hello"));
      byte[] kept = new byte[5];
      ByteBuffer readOnly = ByteBuffer.wrap(kept).asReadOnlyBuffer();
      ByteBuffer room = ByteBuffer.allocate(5);
      assertThatIllegalArgumentException().isThrownBy(() -> pair.client().read(readOnly));
      assertThatIllegalArgumentException().isThrownBy(() -> pair.client().read(room, readOnly));
      assertThat(kept).containsOnly(0);
      assertThat(room.position()).isZero();
      assertThat(text(pair.client(), 5)).isEqualTo("hello");
    }
  }

  @Test
  @Feature("N7")
  void aBufferThatOccursTwiceIsWrittenOnce() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes("abc"));
      pair.client().write(buffer, buffer);
      pair.client().shutdownOutput();
      assertThat(rest(pair.server())).isEqualTo("abc");
    }
  }

  @Test
  @Feature("N7")
  void aReadIntoClosedMemoryLosesNoData() throws Exception {
    ByteBuffer gone;
    try (Arena arena = Arena.ofShared()) {
      gone = arena.allocate(16).asByteBuffer();
    }
    try (Nets.Pair pair = Nets.Pair.open()) {
      Fiber<Integer> reader = scheduler.go(() -> pair.client().read(new byte[2]));
      waits(reader);
      pair.server().write(bytes("abcdef"));
      assertThat(reader.join()).isEqualTo(2);
      scheduler
          .go(
              () -> {
                assertThatIllegalStateException().isThrownBy(() -> pair.client().read(gone));
                assertThat(text(pair.client(), 4)).isEqualTo("cdef");
              })
          .join(Duration.ofSeconds(10));
    }
  }

  @Test
  @Feature("N3")
  void afterShutdownInputNothingIsRead() throws Exception {
    try (Nets.Pair pair = Nets.Pair.open()) {
      pair.server().write(bytes("before"));
      assertThat(text(pair.client(), 1)).isEqualTo("b"); // so the rest has arrived
      pair.client().shutdownInput();
      assertThat(pair.client().read(new byte[10])).isEqualTo(-1);
      pair.server().write(bytes("after"));
      assertThat(pair.client().read(new byte[10])).isEqualTo(-1);
      pair.client().write(bytes("still"));
      assertThat(text(pair.server(), 5)).isEqualTo("still");
    }
  }

  @Test
  @Feature("S5")
  void aFiberThatItsSchedulerGaveUpOnCanStillUseSockets() throws Exception {
    AtomicBoolean givenUp = new AtomicBoolean();
    CompletableFuture<Object> seen = new CompletableFuture<>();
    try (Nets.Pair pair = Nets.Pair.open()) {
      Scheduler other = Scheduler.builder().threads(1).build().start();
      CountDownLatch begun = new CountDownLatch(1);
      other.go(
          () ->
              Weft.blocking(
                  () -> {
                    begun.countDown();
                    while (!givenUp.get()) {
                      Thread.onSpinWait(); // ignores the cancel
                    }
                    Thread.interrupted();
                    pair.client().readTimeout(Duration.ofMillis(20));
                    try {
                      return seen.complete(pair.client().read(new byte[1]));
                    } catch (Throwable e) {
                      return seen.complete(e);
                    }
                  }));
      begun.await();
      assertThat(other.stop(Duration.ofMillis(1))).isFalse();
      givenUp.set(true);
      assertThat(seen.get(20, TimeUnit.SECONDS)).isInstanceOf(SocketTimeoutException.class);
    }
  }
}
