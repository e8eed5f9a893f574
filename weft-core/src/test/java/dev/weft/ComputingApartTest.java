package dev.weft;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.channel.Channel;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import dev.weft.sync.Mutex;
import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fibers that compute are set apart, do there what fibers do, and come back. */
@Feature("S28")
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry")
class ComputingApartTest {
  private static final int MOST_SLICES = 200;
  private static final Duration COME_BACK_LIMIT = Duration.ofSeconds(20);

  /** Computes for so long without a call into Weft. */
  private static void compute(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  private static boolean isApart() {
    return Fiber.threadIndex() == -1;
  }

  /** Has long slices until the fiber is set apart. */
  private static void becomeApart() {
    for (int i = 0; i < MOST_SLICES && !isApart(); i++) {
      compute(Duration.ofMillis(25));
      Fiber.yield();
    }
    assertThat(isApart()).as("set apart after %d long slices", MOST_SLICES).isTrue();
  }

  /**
   * Has short slices until the fiber is back on a worker. With sleeps between them: on a busy
   * machine a thread that only yields loses its core for 10 ms again and again, inside a slice.
   */
  private static void comeBack() throws InterruptedException {
    long began = System.nanoTime();
    while (isApart() && System.nanoTime() - began < COME_BACK_LIMIT.toNanos()) {
      Fiber.sleep(Duration.ofMillis(1));
    }
    assertThat(isApart()).as("still apart after short slices for %s", COME_BACK_LIMIT).isFalse();
  }

  private static Scheduler two() {
    return Scheduler.builder().threads(2).build().start();
  }

  @Test
  void aFiberWithLongSlicesIsSetApartAndComesBackWhenTheyAreShort() throws Exception {
    ThreadLocal<String> local = new ThreadLocal<>();
    try (Scheduler scheduler = two()) {
      Fiber<?> fiber =
          scheduler.go(
              FiberOptions.named("computes"),
              () -> {
                Thread thread = Thread.currentThread();
                local.set("mine");
                becomeApart();
                assertThat(Thread.currentThread()).isSameAs(thread);
                assertThat(local.get()).isEqualTo("mine");
                assertThat(scheduler.stats().apart()).isEqualTo(1);
                assertThat(scheduler.stats().running()).isEqualTo(1);
                assertThat(scheduler.dump().text())
                    .containsPattern("computes.*on weft-computing-\\d+");
                comeBack();
                assertThat(scheduler.stats().apart()).isZero();
              });
      fiber.join();
    }
  }

  @Test
  void aFiberWithShortSlicesBetweenItsLongSlicesStaysApart() throws Exception {
    int bursts = 20;
    try (Scheduler scheduler = two()) {
      int onWorkers =
          scheduler
              .go(
                  () -> {
                    becomeApart();
                    int count = 0;
                    for (int i = 0; i < bursts; i++) {
                      for (int k = 0; k < 10; k++) { // the short waits of a request
                        Fiber.yield();
                      }
                      count += isApart() ? 0 : 1;
                      compute(Duration.ofMillis(25));
                      Fiber.yield();
                    }
                    return count;
                  })
              .join();
      assertThat(onWorkers)
          .as("bursts of %d that held a worker; a busy machine may cause some", bursts)
          .isLessThan(bursts / 4);
    }
  }

  @Test
  @Feature("S17")
  void anEndlessSliceOnAComputingThreadIsReportedOnceWithItsStack() throws Exception {
    try (LogCapture log = new LogCapture();
        Scheduler scheduler =
            Scheduler.builder().threads(2).blockedAfter(Duration.ofMillis(40)).build().start();
        Endless endless = new Endless()) {
      List<Fiber<?>> all = new ArrayList<>();
      for (String name : List.of("endless", "second")) { // the second report takes several looks
        all.add(
            scheduler.go(
                FiberOptions.named(name),
                () -> {
                  becomeApart();
                  endless.hold();
                }));
        eventually(
            name + " is reported",
            () -> !log.entries(name, "has held", "weft-computing-").isEmpty());
      }
      assertThat(log.entries("endless", "has held", "weft-computing-"))
          .singleElement()
          .satisfies(
              entry -> {
                assertThat(entry.level()).isEqualTo("WARNING");
                assertThat(entry.text()).contains("at dev.weft.ComputingApartTest$Endless.hold(");
              });
      endless.end();
      for (Fiber<?> fiber : all) {
        fiber.join();
      }
    }
  }

  /** Slices that end when it is closed, before the scheduler waits for them in its own close. */
  private static final class Endless implements AutoCloseable {
    private volatile boolean over;

    void hold() {
      while (!over) {
        Thread.onSpinWait();
      }
    }

    void end() {
      over = true;
    }

    @Override
    public void close() {
      end();
    }
  }

  @Test
  void endlessSlicesOnAllComputingThreadsDoNotHoldBackOtherFibersThatAreApart() throws Exception {
    int cores = Runtime.getRuntime().availableProcessors();
    try (LogCapture _ = new LogCapture();
        Scheduler scheduler =
            Scheduler.builder().threads(2).blockedAfter(Duration.ofMillis(50)).build().start();
        Endless endless = new Endless()) {
      Channel<String> wake = Channel.rendezvous();
      List<Fiber<?>> others = new ArrayList<>();
      CountDownLatch apart = new CountDownLatch(2);
      for (int i = 0; i < 2; i++) {
        others.add(
            scheduler.go(
                () -> {
                  becomeApart();
                  apart.countDown();
                  assertThat(wake.receive()).isEqualTo("go on");
                  goOnAtAWorker(endless);
                }));
      }
      apart.await();
      List<Fiber<?>> holders = new ArrayList<>();
      for (int i = 0; i < cores; i++) {
        CountDownLatch holds = new CountDownLatch(1);
        holders.add(
            scheduler.go(
                () -> {
                  becomeApart();
                  holds.countDown();
                  endless.hold();
                }));
        holds.await();
      }
      for (int i = 0; i < others.size(); i++) {
        wake.send("go on");
      }
      for (Fiber<?> other : others) {
        other.join(Duration.ofSeconds(20));
      }
      assertThat(holders).noneMatch(Fiber::isDone);
    }
  }

  /** The fiber is apart, but no computing thread can run it. */
  private static void goOnAtAWorker(Endless endless) throws Exception {
    assertThat(isApart()).isFalse();
    for (int i = 0; i < 20; i++) {
      Fiber.yield();
    }
    assertThat(endless.over).isFalse();
    assertThat(Weft.blocking(() -> "helped")).isEqualTo("helped");
  }

  @Test
  void aFiberThatIsApartDoesWhatFibersDo() throws Exception {
    try (Scheduler scheduler = two();
        TcpListener listener =
            TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Channel<Integer> channel = Channel.rendezvous();
      Mutex mutex = new Mutex();
      scheduler.go(
          () -> {
            for (int i = 0; i < 3; i++) {
              channel.send(i);
            }
          });
      scheduler.go(
          () -> {
            try (TcpStream peer = listener.accept()) {
              peer.outputStream().write(7);
            }
          });
      scheduler.go(
          () -> {
            try (Socket peer = server.accept()) {
              peer.getOutputStream().write(8);
            }
          });
      Fiber<?> fiber =
          scheduler.go(
              () -> {
                becomeApart();
                for (int i = 0; i < 3; i++) {
                  assertThat(channel.receive()).isEqualTo(i);
                }
                becomeApart();
                Fiber.sleep(Duration.ofMillis(2));
                becomeApart();
                Thread.sleep(2);
                becomeApart();
                mutex.lock();
                mutex.unlock();
                Fiber<Boolean> child = Weft.go(() -> !isApart());
                assertThat(child.join()).as("a new fiber begins on a worker").isTrue();
                assertThatExceptionOfType(TimeoutException.class)
                    .isThrownBy(
                        () ->
                            Weft.withTimeout(
                                Duration.ofMillis(5), () -> Fiber.sleep(Duration.ofSeconds(30))));
                becomeApart();
                try (TcpStream stream = TcpStream.connect(listener.localAddress())) {
                  assertThat(stream.inputStream().read()).isEqualTo(7);
                }
                becomeApart();
                try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                  assertThat(socket.getInputStream().read()).isEqualTo(8);
                }
              });
      fiber.join();
    }
  }

  @Test
  void aBlockingCallAndAMoveLeaveTheComputingThread() throws Exception {
    try (Scheduler scheduler = two();
        Scheduler other = two()) {
      scheduler
          .go(
              () -> {
                becomeApart();
                String at =
                    Weft.blocking(
                        () ->
                            scheduler.dump().text().contains("blocking call on weft-blocking")
                                ? "helper"
                                : "elsewhere");
                assertThat(at).isEqualTo("helper");
                assertThat(isApart()).isFalse();
                becomeApart();
                Fiber.switchTo(1);
                assertThat(Fiber.threadIndex()).isEqualTo(1);
                for (int i = 0; i < 5; i++) {
                  compute(Duration.ofMillis(25));
                  Fiber.yield();
                  assertThat(Fiber.threadIndex()).as("a bound fiber stays").isEqualTo(1);
                }
                Fiber.switchTo(other);
                becomeApart();
                assertThat(other.stats().apart()).isEqualTo(1);
                assertThat(scheduler.stats().apart()).isZero();
              })
          .join();
    }
  }

  @Test
  void atMostOneThreadForEachCoreComputes() throws Exception {
    int cores = Runtime.getRuntime().availableProcessors();
    int fibers = 2 * cores + 1;
    CountDownLatch apart = new CountDownLatch(fibers);
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger mostThreads = new AtomicInteger();
    try (Scheduler scheduler = Scheduler.builder().threads(Math.max(2, cores)).build().start()) {
      List<Fiber<?>> all = new ArrayList<>();
      for (int i = 0; i < fibers; i++) {
        all.add(
            scheduler.go(
                () -> {
                  becomeApart();
                  apart.countDown();
                  while (apart.getCount() > 0) { // until all are apart at once
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    compute(Duration.ofMillis(15));
                    running.decrementAndGet();
                    Fiber.yield();
                  }
                  mostThreads.accumulateAndGet(computingThreads(), Math::max);
                }));
      }
      for (Fiber<?> fiber : all) {
        fiber.join();
      }
    }
    assertThat(most).as("fibers that computed at once").hasValueLessThanOrEqualTo(cores);
    assertThat(mostThreads.get()).as("computing threads").isBetween(1, cores);
  }

  private static int computingThreads() {
    return (int)
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("weft-computing-"))
            .count();
  }

  @Test
  void neverOnOneThreadNorWhenItIsSwitchedOff() throws Exception {
    try (Scheduler control = two()) { // also awaits the first two seconds, when no fiber is
      control.go(ComputingApartTest::becomeApart).join();
    }
    for (Scheduler.Builder builder :
        new Scheduler.Builder[] {
          Scheduler.builder().threads(1), Scheduler.builder().threads(2).separateComputing(false)
        }) {
      try (Scheduler scheduler = builder.build().start()) {
        scheduler
            .go(
                () -> {
                  for (int i = 0; i < 6; i++) {
                    compute(Duration.ofMillis(25));
                    Fiber.yield();
                    assertThat(isApart()).isFalse();
                  }
                })
            .join();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aPropertySwitchesItOff(boolean separate) throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            ForkedJvm.weftArgs(),
            "-Dweft.separateComputing=" + separate,
            "-cp",
            ForkedJvm.classPathOf(
                Weft.class,
                Computes.class,
                MpscUnboundedVarHandleArrayQueue.class,
                MpscUnboundedArrayQueue.class),
            Computes.class.getName());
    assertThat(result.output().strip()).isEqualTo(separate ? "set apart" : "never set apart");
    assertThat(result.exitStatus()).isZero();
  }

  /** Has long slices, and prints whether its fiber was set apart. */
  static final class Computes {
    private static final Duration TIME = Duration.ofSeconds(5);

    private Computes() {}

    public static void main(String[] args) throws Exception {
      try (Scheduler scheduler = two()) {
        boolean apart =
            scheduler
                .go(
                    () -> {
                      long began = System.nanoTime();
                      while (!isApart() && System.nanoTime() - began < TIME.toNanos()) {
                        compute(Duration.ofMillis(25));
                        Fiber.yield();
                      }
                      return isApart();
                    })
                .join();
        System.out.println(apart ? "set apart" : "never set apart");
      }
    }
  }

  @Test
  void stopWaitsForAFiberThatIsApartAndCancelsIt() throws Exception {
    AtomicBoolean unwound = new AtomicBoolean();
    CountDownLatch apart = new CountDownLatch(1);
    Scheduler scheduler = two();
    Fiber<?> fiber =
        scheduler.go(
            () -> {
              try {
                becomeApart();
                apart.countDown();
                while (true) {
                  compute(Duration.ofMillis(5));
                  Fiber.yield();
                }
              } finally {
                unwound.set(true);
              }
            });
    apart.await();
    scheduler.stop(Duration.ofMillis(50));
    assertThat(unwound).isTrue();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join);

    Scheduler drained = two();
    Fiber<String> ends =
        drained.go(
            () -> {
              becomeApart();
              return "apart";
            });
    drained.stop();
    assertThat(ends.join()).isEqualTo("apart");
    assertThat(drained.stats().ended()).isEqualTo(1);
  }
}
