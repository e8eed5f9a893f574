package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sync.Mutex;
import dev.weft.sync.SharedMutex;
import dev.weft.testkit.Feature;
import example.Diner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Cycles: fibers that wait for each other while other fibers run. */
@Feature("S25")
@SuppressWarnings("LockNotBeforeTry") // some of these never release their locks
class DeadlockCyclesTest {
  private final Scheduler scheduler = Scheduler.builder().threads(2).name("round").build().start();
  private final AtomicBoolean lives = new AtomicBoolean(true);
  private final LogCapture log = new LogCapture();

  /** Keeps the scheduler busy, so that it is no deadlock of all fibers. */
  @BeforeEach
  void keepAFiberAlive() {
    scheduler.go(
        () -> {
          while (lives.get()) {
            Fiber.sleep(Duration.ofMillis(1));
          }
        });
  }

  @AfterEach
  void stop() {
    lives.set(false);
    scheduler.stop(Duration.ofMillis(1));
    log.close();
  }

  private static Stream<Arguments> locks() {
    SharedMutex left = new SharedMutex();
    SharedMutex right = new SharedMutex();
    return Stream.of(
        Arguments.of("Mutex", new Mutex(), new Mutex()),
        Arguments.of("ReentrantLock", new ReentrantLock(), new ReentrantLock()),
        Arguments.of("SharedMutex", new SharedMutex().writeLock(), new SharedMutex().writeLock()),
        Arguments.of("writer and readers", new Mutex(), new Shared(new SharedMutex())),
        Arguments.of("readers only", new Shared(left), new Shared(right)));
  }

  /** A shared mutex that a diner takes to read as the first fork, to write as the second. */
  private record Shared(SharedMutex mutex) {}

  private static Lock lock(Object fork, boolean first) {
    return fork instanceof Shared shared
        ? first ? shared.mutex.readLock() : shared.mutex.writeLock()
        : (Lock) fork;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("locks")
  void aCycleOfLocksIsFoundWithinASecondWithEachFiberLockAndLine(
      String type, Object first, Object second) throws Exception {
    Duration limit = Duration.ofSeconds(1);
    List<Duration> took = new ArrayList<>();
    do { // the best of a few, because the machine may be busy
      took.add(findCycle(first, second));
    } while (took.getLast().compareTo(limit) > 0 && took.size() < 4);
    assertThat(took.getLast()).as("the last of %s", took).isLessThan(limit);
  }

  /** Makes and ends a cycle; returns how long the report took. */
  private Duration findCycle(Object first, Object second) throws Exception {
    int before = log.entries("fibers wait for each other").size();
    CountDownLatch both = new CountDownLatch(2);
    Fiber<Void> ann =
        scheduler.go(
            FiberOptions.named("ann"),
            () -> Diner.dine(lock(first, true), lock(second, false), both));
    Fiber<Void> bob =
        scheduler.go(
            FiberOptions.named("bob"),
            () -> Diner.dine(lock(second, true), lock(first, false), both));
    both.await();
    waits(ann);
    waits(bob);
    long start = System.nanoTime();
    eventually(
        "the cycle is reported", () -> log.entries("fibers wait for each other").size() > before);
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    String report = log.entries("fibers wait for each other").getLast().text();
    assertThat(report)
        .containsPattern("\\(ann\\) WAITING.*" + Pattern.quote(bob.toString()))
        .containsPattern("\\(bob\\) WAITING.*" + Pattern.quote(ann.toString()))
        .containsPattern("at .*Diner.dine\\(Diner.java:\\d+\\)");
    ann.cancel();
    bob.cancel();
    eventually("they give up", () -> ann.isDone() && bob.isDone());
    return took;
  }

  /** Of the many readers that a writer waits for, one waits for the writer. */
  @Test
  void aCycleThroughOneOfManyReadersIsFound() throws Exception {
    SharedMutex shared = new SharedMutex();
    Mutex mutex = new Mutex();
    CountDownLatch locked = new CountDownLatch(11);
    for (int i = 0; i < 9; i++) {
      scheduler.go(
          () -> {
            shared.readLock().lock();
            locked.countDown();
            Fiber.sleep(Duration.ofHours(1));
          });
    }
    scheduler.go(FiberOptions.named("reader"), () -> Diner.dine(shared.readLock(), mutex, locked));
    scheduler.go(FiberOptions.named("writer"), () -> Diner.dine(mutex, shared.writeLock(), locked));
    eventually(
        "it is reported",
        () -> !log.entries("fibers wait for each other", "(reader)", "(writer)").isEmpty());
  }

  /** The reader waits behind the writer, which waits for the reader. */
  @Test
  void aReaderThatReadsAgainBehindAWriterIsFound() throws Exception {
    SharedMutex shared = new SharedMutex();
    CountDownLatch writerWaits = new CountDownLatch(1);
    CountDownLatch reads = new CountDownLatch(1);
    scheduler.go(
        FiberOptions.named("reader"),
        () -> {
          shared.readLock().lockInterruptibly();
          reads.countDown();
          writerWaits.await();
          shared.readLock().lockInterruptibly();
        });
    reads.await();
    Fiber<Void> writer =
        scheduler.go(FiberOptions.named("writer"), () -> shared.writeLock().lockInterruptibly());
    waits(writer);
    writerWaits.countDown();
    eventually(
        "it is reported",
        () -> !log.entries("fibers wait for each other", "(reader)", "(writer)").isEmpty());
  }

  @Test
  void aReaderThatWantsToWriteWaitsForItself() throws Exception {
    SharedMutex shared = new SharedMutex();
    scheduler.go(
        FiberOptions.named("upgrader"),
        () -> {
          shared.readLock().lockInterruptibly();
          shared.writeLock().lockInterruptibly();
        });
    eventually(
        "it is reported", () -> !log.entries("a fiber waits for itself", "(upgrader)").isEmpty());
  }

  /** A writer with a time limit lets the readers behind it in when the limit passes. */
  @Test
  void aReaderBehindAWriterThatGivesUpIsNoDeadlock() throws Exception {
    SharedMutex shared = new SharedMutex();
    CountDownLatch reads = new CountDownLatch(1);
    CountDownLatch writerWaits = new CountDownLatch(1);
    Fiber<Void> reader =
        scheduler.go(
            () -> {
              shared.readLock().lock();
              reads.countDown();
              writerWaits.await();
              shared.readLock().lock();
              shared.readLock().unlock();
              shared.readLock().unlock();
            });
    reads.await();
    Fiber<Void> writer =
        scheduler.go(
            () -> {
              assertThat(shared.writeLock().tryLock(1_500, TimeUnit.MILLISECONDS)).isFalse();
            });
    waits(writer);
    writerWaits.countDown();
    reader.join();
    writer.join();
    assertThat(log.entries("deadlock")).isEmpty();
  }

  @Test
  void aCycleOfMonitorsIsFound() throws Exception {
    Object first = new Object();
    Object second = new Object();
    CountDownLatch both = new CountDownLatch(2);
    scheduler.go(FiberOptions.named("ann"), () -> inOrder(first, second, both));
    scheduler.go(FiberOptions.named("bob"), () -> inOrder(second, first, both));
    eventually(
        "it is reported",
        () -> !log.entries("fibers wait for each other", "(ann)", "(bob)").isEmpty());
  }

  private static void inOrder(Object first, Object second, CountDownLatch both) throws Exception {
    synchronized (first) {
      both.countDown();
      both.await();
      synchronized (second) {
        assertThat(Thread.holdsLock(first)).isTrue();
      }
    }
  }

  @Test
  void aCycleOfThreeByJoinAndLockAcrossSchedulersIsFoundAndReportedOnce() throws Exception {
    try (Scheduler other = Scheduler.builder().threads(1).name("other").build().start()) {
      Mutex mutex = new Mutex();
      CountDownLatch locked = new CountDownLatch(1);
      CountDownLatch begun = new CountDownLatch(1);
      Fiber<?>[] third = new Fiber<?>[1];
      Fiber<Void> first =
          scheduler.go(
              FiberOptions.named("first"),
              () -> {
                mutex.lock();
                locked.countDown();
                begun.await();
                third[0].join();
              });
      Fiber<Void> second =
          other.go(
              FiberOptions.named("second"),
              () -> {
                locked.await();
                mutex.lockInterruptibly();
              });
      third[0] = scheduler.go(FiberOptions.named("third"), () -> second.join());
      begun.countDown();
      eventually(
          "it is reported",
          () -> !log.entries("wait for each other", "first", "second", "third").isEmpty());
      TimeUnit.MILLISECONDS.sleep(700); // two more checks of the watchdog
      assertThat(log.entries("wait for each other")).hasSize(1);
      first.cancel();
      second.cancel();
    }
  }

  @Test
  void waitsThatEndByThemselvesAreNoDeadlock() throws Exception {
    Mutex first = new Mutex();
    Mutex second = new Mutex();
    CountDownLatch both = new CountDownLatch(2);
    Fiber<Void> limited =
        scheduler.go(
            () -> {
              first.lock();
              both.countDown();
              both.await();
              assertThat(second.tryLock(1_500, TimeUnit.MILLISECONDS)).isFalse();
              first.unlock();
            });
    Fiber<Void> other =
        scheduler.go(
            () -> {
              second.lock();
              both.countDown();
              both.await();
              first.lock();
              second.unlock();
            });
    limited.join();
    other.join();
    assertThat(log.entries("deadlock")).isEmpty();
  }
}
