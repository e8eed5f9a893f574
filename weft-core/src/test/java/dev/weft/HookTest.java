package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JDK's blocking calls in fibers, all on one thread. */
@DisabledIfSystemProperty(named = "weft.poller", matches = "nio") // the NIO poller hooks no sockets
class HookTest {
  private Scheduler scheduler;

  @BeforeEach
  void start() {
    scheduler = Scheduler.builder().threads(1).build().start();
  }

  @AfterEach
  void stop() {
    for (Hook.Family family : Hook.Family.values()) {
      Hook.set(family, true);
    }
    scheduler.stop(Duration.ZERO);
  }

  private static ServerSocket listen() throws IOException {
    return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  /** Returns the descriptor that a fiber waits for, or else in words what it waits for. */
  private String waitsFor(Fiber<?> fiber) {
    waits(fiber);
    return descriptorIn(
        scheduler.dump().fibers().stream()
            .filter(entry -> entry.id() == fiber.id())
            .findFirst()
            .orElseThrow()
            .waitsFor());
  }

  private static String descriptorIn(String wait) {
    Matcher matcher = Pattern.compile("\\((descriptor \\d+)\\)$").matcher(wait);
    return matcher.find() ? matcher.group(1) : wait;
  }

  private int timers() {
    return scheduler.stats().threads().getFirst().timers();
  }

  // ---- where they wait ----

  @Test
  @Feature("H1")
  void theHookIsInstalledAsSoonAsASchedulerHasStarted() {
    assertThat(Hook.isInstalled()).isTrue();
    assertThat(Hook.isInstalled(Hook.Family.TIMERS)).isTrue();
    assertThat(Hook.isInstalled(Hook.Family.SOCKETS)).isTrue();
  }

  @Test
  @Feature("H2")
  void socketsWaitOnThePollerOfTheWorker() throws Exception {
    try (ServerSocket server = listen()) {
      Fiber<Socket> accepting = scheduler.go(server::accept);
      assertThat(waitsFor(accepting)).startsWith("descriptor ");
      try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
          Socket peer = accepting.join()) {
        Fiber<Integer> reading = scheduler.go(() -> peer.getInputStream().read());
        assertThat(waitsFor(reading)).startsWith("descriptor ");
        client.getOutputStream().write(42);
        assertThat(reading.join()).isEqualTo(42);

        Fiber<Void> writing =
            scheduler.go(() -> peer.getOutputStream().write(new byte[20_000_000]));
        assertThat(waitsFor(writing)).startsWith("descriptor ");
        // a reader and a writer on one descriptor
        Fiber<Integer> both = scheduler.go(() -> peer.getInputStream().read());
        assertThat(waitsFor(both)).startsWith("descriptor ");
        client.getOutputStream().write(43);
        assertThat(both.join()).isEqualTo(43);
        waits(writing);
        assertThat(client.getInputStream().readNBytes(20_000_000)).hasSize(20_000_000);
        writing.join();
      }
    }
  }

  /**
   * A repeated wait for the same socket makes no system call: another socket with the same number
   * has to be distinguished from it.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Feature("H2")
  void aSocketWithTheNumberOfAClosedSocketIsWatchedToo(boolean busy) throws Exception {
    int sockets = 20;
    AtomicBoolean done = new AtomicBoolean();
    if (busy) {
      scheduler.go(
          () -> {
            while (!done.get()) {
              Fiber.yield();
            }
          });
    }
    try (ServerSocket server = listen()) {
      Semaphore connected = new Semaphore(0);
      Fiber<Void> serving =
          scheduler.go(
              () -> {
                for (int i = 0; i < sockets; i++) {
                  connected.acquire(); // so that accept does not wait
                  try (Socket peer = server.accept()) {
                    for (int read = read(peer); read >= 0; read = read(peer)) {
                      peer.getOutputStream().write(read);
                    }
                  }
                }
              });
      Set<String> descriptors = new HashSet<>();
      for (int i = 0; i < sockets; i++) {
        try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
          connected.release();
          for (int j = 0; j < 3; j++) {
            eventually("the server reads", () -> waitsFor(serving).startsWith("descriptor "));
            descriptors.add(waitsFor(serving));
            client.getOutputStream().write(j);
            assertThat(read(client)).isEqualTo(j);
          }
        }
      }
      serving.join();
      assertThat(descriptors).as("some had the number of another").hasSizeLessThan(sockets);
    } finally {
      done.set(true);
    }
  }

  /** The last known operation on that descriptor number is a read that found no more data. */
  @Test
  @Feature("H2")
  void aListenerWithTheNumberOfAClosedSocketIsWatchedToo() throws Exception {
    int same = 0;
    for (int i = 0; i < 10; i++) {
      AtomicReference<ServerSocket> listener = new AtomicReference<>();
      try (ServerSocket server = listen();
          Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
        Socket peer = server.accept(); // the fiber closes it
        Fiber<Void> fiber =
            scheduler.go(
                () -> {
                  byte[] buffer = new byte[100];
                  assertThat(peer.getInputStream().read(buffer)).isEqualTo(1);
                  peer.close();
                  try (ServerSocket second = listen()) {
                    listener.set(second);
                    second.accept().close();
                  }
                });
        String readsFrom = waitsFor(fiber);
        client.getOutputStream().write(1);
        eventually("the server listens", () -> listener.get() != null);
        same += waitsFor(fiber).equals(readsFrom) ? 1 : 0;
        ServerSocket second = listener.get();
        new Socket(second.getInetAddress(), second.getLocalPort()).close();
        fiber.join();
      }
    }
    assertThat(same).as("listeners with the number of the socket").isPositive();
  }

  private static int read(Socket socket) throws IOException {
    return socket.getInputStream().read();
  }

  @Test
  @Feature("H2")
  void aFiberThatMovesGetsItsEventsWhereItWaits() throws Exception {
    try (Scheduler two = Scheduler.builder().threads(2).build().start();
        ServerSocket server = listen()) {
      Fiber<Void> serving =
          two.go(
              () -> {
                try (Socket peer = server.accept()) {
                  int read = read(peer);
                  for (int i = 0; read >= 0; i++) {
                    peer.getOutputStream().write(read);
                    Fiber.switchTo(i / 20 % 2); // moves after 20 messages: its edges are silenced
                    read = read(peer);
                  }
                }
              });
      try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
        for (int i = 0; i < 200; i++) {
          client.getOutputStream().write(i);
          assertThat(read(client)).isEqualTo(i);
        }
      }
      serving.join();
    }
  }

  /**
   * A read that returned fewer bytes than requested has emptied the socket, so the next read waits
   * without asking the kernel; unless the end came with the data.
   */
  @Test
  @Feature("H2")
  void theEndThatComesWithTheLastBytesIsSeen() throws Exception {
    assertThat(
            readInOneGo(
                client -> {
                  client.getOutputStream().write(new byte[] {1, 2, 3});
                  client.close();
                }))
        .containsExactly(1, 2, 3);
  }

  /** At urgent data a read stops, although more data follows. */
  @Test
  @Feature("H2")
  void dataAfterUrgentDataIsSeen() throws Exception {
    assertThat(
            readInOneGo(
                client -> {
                  client.getOutputStream().write(1);
                  client.sendUrgentData(99);
                  client.getOutputStream().write(2);
                  client.shutdownOutput();
                }))
        .containsExactly(1, 2);
  }

  /** Returns what a fiber reads that has waited before, when all this arrives at once. */
  private byte[] readInOneGo(ThrowingConsumer<Socket> writing) throws Exception {
    try (ServerSocket server = listen();
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket peer = server.accept()) {
      AtomicBoolean begun = new AtomicBoolean();
      ByteArrayOutputStream got = new ByteArrayOutputStream();
      Fiber<Void> reading =
          scheduler.go(
              () -> {
                byte[] buffer = new byte[100];
                assertThat(peer.getInputStream().read(buffer)).isEqualTo(1);
                begun.set(true);
                int read = peer.getInputStream().read(buffer);
                while (read >= 0) {
                  got.write(buffer, 0, read);
                  read = peer.getInputStream().read(buffer);
                }
              });
      assertThat(waitsFor(reading)).startsWith("descriptor ");
      client.getOutputStream().write(0);
      eventually("the fiber has read once", begun::get);
      assertThat(waitsFor(reading)).startsWith("descriptor ");
      AtomicBoolean written = new AtomicBoolean();
      CountDownLatch nobodyPolls = new CountDownLatch(1);
      scheduler.go(
          () -> {
            nobodyPolls.countDown();
            while (!written.get()) {
              Thread.onSpinWait();
            }
          });
      nobodyPolls.await();
      try {
        writing.accept(client);
      } finally {
        written.set(true);
      }
      reading.join();
      return got.toByteArray();
    }
  }

  @Test
  @Feature("H2")
  void channelsAndDatagramsWaitOnThePollerOfTheWorker() throws Exception {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(anyPort)) {
      Fiber<SocketChannel> accepting = scheduler.go(server::accept);
      assertThat(waitsFor(accepting)).startsWith("descriptor ");
      try (SocketChannel client = SocketChannel.open(server.getLocalAddress());
          SocketChannel peer = accepting.join()) {
        Fiber<Integer> reading = scheduler.go(() -> peer.read(ByteBuffer.allocate(8)));
        assertThat(waitsFor(reading)).startsWith("descriptor ");
        assertThat(peer.isBlocking()).isTrue();
        client.write(ByteBuffer.allocate(3));
        assertThat(reading.join()).isEqualTo(3);
      }
    }
    try (DatagramSocket socket = new DatagramSocket(anyPort);
        DatagramChannel channel = DatagramChannel.open().bind(anyPort)) {
      DatagramPacket packet = new DatagramPacket(new byte[8], 8);
      Fiber<Void> receiving = scheduler.go(() -> socket.receive(packet));
      assertThat(waitsFor(receiving)).startsWith("descriptor ");
      channel.send(ByteBuffer.allocate(2), socket.getLocalSocketAddress());
      receiving.join();
      assertThat(packet.getLength()).isEqualTo(2);
      Fiber<?> onChannel = scheduler.go(() -> channel.receive(ByteBuffer.allocate(8)));
      assertThat(waitsFor(onChannel)).startsWith("descriptor ");
      socket.send(new DatagramPacket(new byte[1], 1, channel.getLocalAddress()));
      assertThat(onChannel.join()).isEqualTo(socket.getLocalSocketAddress());
    }
    Pipe pipe = Pipe.open();
    try (Pipe.SourceChannel source = pipe.source();
        Pipe.SinkChannel sink = pipe.sink()) {
      Fiber<Integer> reading = scheduler.go(() -> source.read(ByteBuffer.allocate(8)));
      assertThat(waitsFor(reading)).startsWith("descriptor ");
      sink.write(ByteBuffer.allocate(5));
      assertThat(reading.join()).isEqualTo(5);
    }
  }

  @Test
  @Feature("H2")
  @SuppressWarnings({"WaitNotInLoop", "LockNotBeforeTry"})
  void timedWaitsAreTimersOfTheWorker() throws Exception {
    Object monitor = new Object();
    ReentrantLock lock = new ReentrantLock();
    List<Fiber<?>> fibers = new ArrayList<>();
    fibers.add(scheduler.go(() -> Thread.sleep(Duration.ofHours(1))));
    fibers.add(scheduler.go(() -> LockSupport.parkNanos(Long.MAX_VALUE / 2)));
    fibers.add(scheduler.go(() -> new LinkedBlockingQueue<String>().poll(1, TimeUnit.HOURS)));
    fibers.add(
        scheduler.go(
            () -> {
              synchronized (monitor) {
                monitor.wait(3_600_000);
              }
            }));
    lock.lock();
    fibers.add(scheduler.go(() -> lock.tryLock(1, TimeUnit.HOURS)));
    for (Fiber<?> fiber : fibers) {
      waits(fiber);
    }
    eventually("each has its timer", () -> timers() == 5);
    assertThat(scheduler.go(() -> "free").join()).isEqualTo("free");
    fibers.forEach(Fiber::cancel); // LockSupport.park obeys an interrupt too
    eventually("their timers are gone", () -> timers() == 0);
    lock.unlock();
  }

  @Test
  @Feature("H3")
  void twoSleepsOnOneThreadTakeAsLongAsTheLonger() throws Exception {
    sleepTwice();
  }

  private void sleepTwice() throws InterruptedException {
    long start = System.nanoTime();
    Fiber<Void> two = scheduler.go(() -> Thread.sleep(200));
    Fiber<Void> three = scheduler.go(() -> Thread.sleep(300));
    two.join();
    long first = System.nanoTime() - start;
    three.join();
    long both = System.nanoTime() - start;
    assertThat(first).isGreaterThanOrEqualTo(200_000_000);
    assertThat(both).isBetween(300_000_000L, 500_000_000L);
  }

  @Test
  @Feature("H2")
  void queuesThatSpinElsewhereDoNotSpinOnAWorker() throws Exception {
    Method known =
        Class.forName("java.util.concurrent.ForkJoinWorkerThread")
            .getDeclaredMethod("hasKnownQueuedWork");
    known.setAccessible(true);
    assertThat(scheduler.go(() -> known.invoke(null)).join()).isEqualTo(true);
    assertThat(known.invoke(null)).isEqualTo(false);
  }

  @Test
  @Feature("H2")
  void guestsAreHookedToo() throws Exception {
    try (ServerSocket server = listen()) {
      Thread[] guest = new Thread[1];
      Fiber<Void> host =
          scheduler.go(
              () -> {
                guest[0] =
                    Thread.startVirtualThread(
                        () -> {
                          try (Socket peer = server.accept()) {
                            Thread.sleep(5);
                            peer.getOutputStream().write(7);
                          } catch (IOException | InterruptedException e) {
                            throw new AssertionError(e);
                          }
                        });
                guest[0].join();
              });
      waits(host);
      eventually("the guest waits", () -> guest[0].getState() == Thread.State.WAITING);
      assertThat(descriptorIn(LockSupport.getBlocker(guest[0]).toString()))
          .startsWith("descriptor ");
      try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
        assertThat(client.getInputStream().read()).isEqualTo(7);
      }
      host.join();
    }
  }

  // ---- one fiber without it ----

  @Test
  @Feature("H5")
  void disabledASleepHoldsTheThread() throws Exception {
    AtomicBoolean ran = new AtomicBoolean();
    Fiber<Boolean> sleeper =
        scheduler.go(
            () -> {
              assertThat(Hook.isEnabled()).isTrue();
              Hook.disable();
              assertThat(Hook.isEnabled()).isFalse();
              scheduler.go(() -> ran.set(true));
              Thread.sleep(30);
              Fiber.sleep(Duration.ofMillis(30));
              boolean early = ran.get();
              Hook.enable();
              Thread.sleep(1);
              return early;
            });
    assertThat(sleeper.join()).isFalse();
    assertThat(ran).isTrue();
  }

  @Test
  @Feature("H5")
  void disabledASocketHoldsTheThread() throws Exception {
    try (ServerSocket server = listen()) {
      AtomicBoolean ran = new AtomicBoolean();
      AtomicBoolean disabled = new AtomicBoolean();
      Fiber<Boolean> accepting =
          scheduler.go(
              () -> {
                Hook.disable();
                scheduler.go(() -> ran.set(true));
                disabled.set(true);
                server.accept().close();
                return ran.get();
              });
      eventually("the hook is disabled", disabled::get);
      Thread.sleep(20); // time for the other fiber to run, if it could
      new Socket(server.getInetAddress(), server.getLocalPort()).close();
      assertThat(accepting.join()).isFalse();
    }
  }

  @Test
  @Feature("H5")
  void nestedCallsBalance() throws Exception {
    AtomicInteger others = new AtomicInteger();
    scheduler
        .go(
            () -> {
              Hook.disable();
              Hook.disable();
              scheduler.go(others::incrementAndGet);
              Hook.enable();
              assertThat(Hook.isEnabled()).isFalse();
              Thread.sleep(10);
              assertThat(others.get()).isZero();
              Hook.enable();
              assertThat(Hook.isEnabled()).isTrue();
              Thread.sleep(1);
              assertThat(others.get()).isEqualTo(1);
              assertThatThrownBy(Hook::enable)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("it is not disabled there");
            })
        .join();
  }

  @Test
  @Feature("H5")
  void aFiberThatEndsWithoutEnablingAffectsNoOther() throws Exception {
    scheduler
        .go(
            () -> {
              Hook.disable();
              Hook.disable();
            })
        .join();
    sleepTwice();
  }

  @Test
  @Feature("H5")
  void outsideFibersNothingChanges() {
    Hook.disable();
    assertThat(Hook.isEnabled()).isFalse();
    Hook.enable();
    Hook.enable();
    assertThat(Hook.isEnabled()).isFalse();
  }

  @Test
  @Feature("H5")
  void aDisabledFiberCannotSwitch() throws Exception {
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              Hook.disable();
              Fiber.switchTo(Scheduler.shared());
            });
    assertThatThrownBy(fiber::join)
        .hasRootCauseMessage(
            "cannot switch " + fiber + ": it is pinned to its thread by Hook.disable()");
  }

  // ---- by family ----

  @Test
  @Feature("H6")
  void familiesCanBeSwitchedAtRunTime() throws Exception {
    Hook.set(Hook.Family.TIMERS, false);
    Fiber<Void> sleeper = scheduler.go(() -> Thread.sleep(Duration.ofHours(1)));
    eventually("the fiber sleeps", () -> sleeper.thread().getState() == Thread.State.TIMED_WAITING);
    assertThat(timers()).isZero();
    Hook.set(Hook.Family.TIMERS, true);
    Fiber<Void> second = scheduler.go(() -> Thread.sleep(Duration.ofHours(1)));
    eventually("the fiber sleeps by its worker's timer", () -> timers() == 1);
    sleeper.cancel();
    second.cancel();

    try (ServerSocket server = listen()) {
      Hook.set(Hook.Family.SOCKETS, false);
      Fiber<Socket> accepting = scheduler.go(server::accept);
      assertThat(waitsFor(accepting)).doesNotContain("descriptor");
      Hook.set(Hook.Family.SOCKETS, true);
      try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
          Socket peer = accepting.join()) {
        Fiber<Integer> reading = scheduler.go(() -> peer.getInputStream().read());
        assertThat(waitsFor(reading)).startsWith("descriptor ");
        Hook.set(Hook.Family.SOCKETS, false); // calls that have started end as before
        client.getOutputStream().write(1);
        assertThat(reading.join()).isEqualTo(1);
      }
    }
  }

  // ---- pinned by something else ----

  static final CountDownLatch INITIALIZING = new CountDownLatch(1);
  static volatile ServerSocket serverOfInitializer;

  /** A class with an initializer that does I/O, which pins the fiber. */
  static final class Eager {
    static final int FIRST;

    static {
      INITIALIZING.countDown();
      try (Socket peer = serverOfInitializer.accept()) {
        Fiber.sleep(Duration.ofMillis(1));
        FIRST = peer.getInputStream().read();
      } catch (IOException | InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  @Feature("H4")
  void ioAndTimersInAnInitializerOnTheOnlyThread() throws Exception {
    try (ServerSocket server = listen()) {
      serverOfInitializer = server;
      Fiber<Integer> fiber = scheduler.go(() -> Eager.FIRST);
      INITIALIZING.await();
      try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
        Thread.sleep(5); // so that the fiber waits for the byte too
        client.getOutputStream().write(99);
        assertThat(fiber.join()).isEqualTo(99);
      }
    }
  }

  // ---- in coroutines ----

  @Test
  @Feature({"H5", "C15"})
  void aBlockingCallInACoroutineOfAPinnedFiberBlocksTheThread() throws Exception {
    AtomicBoolean ran = new AtomicBoolean();
    scheduler
        .go(
            () -> {
              Coroutine coroutine =
                  Coroutine.of(
                      () -> {
                        Hook.disable();
                        scheduler.go(() -> ran.set(true));
                        Thread.sleep(5);
                        Fiber.sleep(Duration.ofMillis(5));
                        Thread.yield();
                        assertThat(ran).isFalse();
                        assertThatThrownBy(Coroutine::yield)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("it is pinned (Hook.disable)");
                        Hook.enable();
                        Coroutine.yield();
                        Weft.blocking(
                            () -> {
                              Thread.sleep(5);
                              return null;
                            });
                      });
              coroutine.resume();
              coroutine.resume();
              assertThat(coroutine.state()).isEqualTo(Coroutine.State.TERMINATED);
            })
        .join();
    eventually("the fiber has run", ran::get);
  }

  @Test
  @Feature("H5")
  void aCoroutineThatEndsWithoutEnablingAffectsNoOther() throws Exception {
    scheduler
        .go(
            () -> {
              Coroutine.of(Hook::disable).resume();
              assertThat(Hook.isEnabled()).isFalse();
              Hook.enable();
              assertThat(Hook.isEnabled()).isTrue();
              Hook.disable();
              assertThatThrownBy(() -> Coroutine.of(Hook::enable).resume())
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("it was disabled outside");
              Hook.enable();
              Coroutine.of(Hook::disable).resume();
            })
        .join();
    sleepTwice();
  }

  // ---- limits ----

  @Test
  @Feature({"H2", "T8"})
  void anInfiniteLimitIsNoLimit() throws Exception {
    for (Body wait :
        List.<Body>of(
            () -> Thread.sleep(Long.MAX_VALUE),
            () -> LockSupport.parkNanos(Long.MAX_VALUE),
            () -> new CountDownLatch(1).await(Long.MAX_VALUE, TimeUnit.DAYS))) {
      AtomicBoolean returned = new AtomicBoolean();
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                wait.run();
                returned.set(true);
              });
      waits(fiber);
      long before = scheduler.stats().threads().getFirst().switches();
      scheduler.go(() -> {}).join(); // a wait that spins would switch again here
      scheduler.go(() -> {}).join();
      assertThat(scheduler.stats().threads().getFirst().switches() - before).isLessThanOrEqualTo(2);
      assertThat(returned).isFalse();
      fiber.cancel();
    }
  }
}
