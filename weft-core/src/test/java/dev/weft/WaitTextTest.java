package dev.weft;

import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** A dump says in plain words what a fiber waits for, also in methods of the JDK. */
@Feature({"S18", "O2"})
@Timeout(30)
@SuppressWarnings("LockNotBeforeTry") // the locks are of no use after a failure
class WaitTextTest {
  private static final String ID = " [0-9a-f]+";

  private final List<Fiber<?>> waiting = new ArrayList<>();
  private Scheduler scheduler;

  @BeforeEach
  void start() {
    scheduler = Scheduler.builder().threads(1).build().start();
  }

  @AfterEach
  void stop() {
    waiting.forEach(fiber -> fiber.cancel());
    scheduler.stop(Duration.ofSeconds(5));
  }

  /** Runs the body in a fiber until it waits; returns what the dump says of it. */
  private FiberDump.Entry dumped(Body body) {
    Fiber<Void> fiber = scheduler.go(body);
    waiting.add(fiber);
    waits(fiber);
    return scheduler.dump().fibers().stream()
        .filter(entry -> entry.id() == fiber.id())
        .findFirst()
        .orElseThrow();
  }

  private String waitsFor(Body body) {
    return dumped(body).waitsFor();
  }

  @Test
  void threadSleepIsASleep() {
    FiberDump.Entry entry = dumped(() -> Thread.sleep(Duration.ofHours(1)));
    assertThat(entry.summary()).matches("fiber .* WAITING on thread 0, sleeping for [\\d,]+ ms");
    dumped(() -> TimeUnit.HOURS.sleep(1));
    assertThat(scheduler.stats().sleeping()).isEqualTo(2);
    assertThat(scheduler.stats().waiting()).isZero();
    assertThat(scheduler.groupedDump().text())
        .startsWith("scheduler " + scheduler.name() + ": 2 fibers on 1 thread: 0 ready, 0 running,")
        .contains(" 2 sleeping, 0 waiting,", ", sleeping for ");
  }

  @Test
  @SuppressWarnings("WaitNotInLoop") // no thread ever notifies it
  void aTimedWaitIsNoSleep() {
    Object monitor = new Object();
    assertThat(
            waitsFor(
                () -> {
                  synchronized (monitor) {
                    monitor.wait(3_600_000);
                  }
                }))
        .isEqualTo("notify() after Object.wait()");
    BlockingQueue<String> empty = new ArrayBlockingQueue<>(1);
    assertThat(waitsFor(() -> empty.poll(1, TimeUnit.HOURS)))
        .matches("an element of ArrayBlockingQueue" + ID);
    assertThat(scheduler.stats().sleeping()).isZero();
    assertThat(scheduler.stats().waiting()).isEqualTo(2);
  }

  @Test
  void aParkWithoutABlockerWaitsForAnUnpark() {
    assertThat(waitsFor(() -> LockSupport.park())).isEqualTo("unpark() after LockSupport.park()");
  }

  @Test
  void waitsInJavaUtilConcurrentHaveWords() throws Exception {
    ReentrantLock lock = new ReentrantLock();
    ReentrantReadWriteLock shared = new ReentrantReadWriteLock();
    lock.lock(); // by this thread
    shared.writeLock().lock();
    FiberDump.Entry locking = dumped(() -> lock.lockInterruptibly());
    assertThat(locking.waitsFor()).matches("the lock of ReentrantLock" + ID);
    assertThat(locking.summary()).contains(", held by ");
    assertThat(waitsFor(() -> shared.readLock().lockInterruptibly()))
        .matches("the read lock of ReentrantReadWriteLock" + ID);
    assertThat(waitsFor(() -> new CountDownLatch(1).await()))
        .matches("the count of CountDownLatch" + ID);
    assertThat(waitsFor(() -> new Semaphore(0).acquire())).matches("a permit of Semaphore" + ID);
    assertThat(waitsFor(() -> new LinkedBlockingQueue<String>().take()))
        .matches("an element of LinkedBlockingQueue" + ID);
    BlockingQueue<String> full = new ArrayBlockingQueue<>(1);
    full.add("");
    assertThat(waitsFor(() -> full.put(""))).matches("room in ArrayBlockingQueue" + ID);
    assertThat(waitsFor(() -> new CompletableFuture<String>().get()))
        .matches("the result of CompletableFuture" + ID);
    assertThat(waitsFor(() -> new CyclicBarrier(2).await()))
        .matches("the other parties of CyclicBarrier" + ID);
    shared.writeLock().unlock();
    lock.unlock();
  }

  @Test
  void theHolderOfALockOfTheJdkIsNamedInWords() {
    ReentrantLock lock = new ReentrantLock();
    lock.lock();
    dumped(() -> lock.lockInterruptibly());
    dumped(() -> lock.lockInterruptibly());
    assertThat(scheduler.groupedDump().holders())
        .singleElement()
        .extracting(GroupedDump.Holder::what)
        .asString()
        .matches("the lock of ReentrantLock" + ID);
    lock.unlock();
  }

  @Test
  @Feature("O1")
  @DisabledIfSystemProperty(named = "weft.poller", matches = "nio") // it hooks no sockets
  void aSocketIsNamedByItsAddress() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket accepted = server.accept()) {
      String at = "127.0.0.1:" + server.getLocalPort();
      assertThat(waitsFor(() -> client.getInputStream().read()))
          .matches("data from " + at + " \\(descriptor \\d+\\)");
      assertThat(waitsFor(() -> server.accept()))
          .matches("the socket at " + at + " \\(descriptor \\d+\\)");
      assertThat(waitsFor(() -> accepted.getOutputStream().write(new byte[50_000_000])))
          .matches("room to send to 127.0.0.1:" + client.getLocalPort() + " \\(descriptor \\d+\\)");
    }
  }

  @Test
  void aNameCannotForgeALineNorCommandTheTerminal() {
    Fiber<Void> fiber =
        scheduler.go(FiberOptions.named("a\nheld thread: \u001b[2J\u009b"), () -> Fiber.suspend());
    waiting.add(fiber);
    waits(fiber);
    for (String text : List.of(scheduler.dump().text(), scheduler.groupedDump().text())) {
      assertThat(text).contains("(a held thread:  [2J )").doesNotContain("\u001b", "\u009b");
      assertThat(text.lines()).noneMatch(line -> line.startsWith("held"));
    }
    assertThat(scheduler.dump().json()).contains("a\\nheld thread: \\u001b[2J\\u009b");
  }
}
