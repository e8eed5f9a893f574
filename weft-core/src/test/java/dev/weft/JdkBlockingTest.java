package dev.weft;

import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Blocking calls of the JDK block the fiber, not the thread: all tests run on one thread. */
@Feature("S20")
@SuppressWarnings({"WaitNotInLoop", "LockNotBeforeTry"})
class JdkBlockingTest {
  private static final int FIBERS = 8;
  private static final int ROUNDS = 20;

  private final Object monitor = new Object();
  private int inside;
  private int entered;

  private static Scheduler oneThread() {
    return Scheduler.builder().threads(1).build().start();
  }

  private static void joinAll(List<Fiber<Void>> fibers) throws InterruptedException {
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
  }

  private static List<Fiber<Void>> goAll(Scheduler scheduler, Body body) {
    return Stream.generate(() -> scheduler.go(body)).limit(FIBERS).toList();
  }

  /** Yields in the middle of a critical section. */
  private void criticalSection(int round) throws InterruptedException {
    assertThat(++inside).as("fibers inside").isEqualTo(1);
    switch (round % 4) {
      case 0 -> Fiber.yield();
      case 1 -> Fiber.sleep(Duration.ofNanos(1));
      case 2 -> Thread.sleep(Duration.ofNanos(1));
      default -> Scheduler.current().orElseThrow().go(() -> {}).join();
    }
    assertThat(inside--).as("fibers inside").isEqualTo(1);
    entered++;
  }

  @Test
  void synchronizedExcludesAcrossSuspensions() throws Exception {
    try (Scheduler scheduler = oneThread()) {
      joinAll(
          goAll(
              scheduler,
              () -> {
                for (int i = 0; i < ROUNDS; i++) {
                  synchronized (monitor) {
                    synchronized (monitor) { // reentrant
                      criticalSection(i);
                    }
                    assertThat(Thread.holdsLock(monitor)).isTrue();
                  }
                }
              }));
    }
    assertThat(entered).isEqualTo(FIBERS * ROUNDS);
  }

  @Test
  void synchronizedExcludesPlainThreadsAndOtherSchedulersToo() throws Exception {
    try (Scheduler scheduler = oneThread();
        Scheduler other = oneThread()) {
      Body body =
          () -> {
            for (int i = 0; i < ROUNDS; i++) {
              synchronized (monitor) {
                assertThat(++inside).isEqualTo(1);
                Thread.sleep(Duration.ofNanos(1));
                inside--;
                entered++;
              }
            }
          };
      List<Fiber<Void>> fibers = new ArrayList<>(goAll(scheduler, body));
      fibers.addAll(goAll(other, body));
      Thread plain =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      body.run();
                    } catch (Exception e) {
                      throw new AssertionError(e);
                    }
                  });
      joinAll(fibers);
      plain.join();
    }
    assertThat(entered).isEqualTo((2 * FIBERS + 1) * ROUNDS);
  }

  @Test
  void aMonitorHeldByASuspendedFiberDelaysNoOtherFiber() throws Exception {
    try (Scheduler scheduler = oneThread()) {
      Fiber<Void> holder =
          scheduler.go(
              () -> {
                synchronized (monitor) {
                  Fiber.suspend();
                }
              });
      waits(holder);
      List<Fiber<Void>> contenders =
          goAll(
              scheduler,
              () -> {
                synchronized (monitor) {
                  entered++;
                }
              });
      for (Fiber<Void> contender : contenders) {
        waits(contender);
      }
      assertThat(scheduler.go(() -> "the thread is free").join()).isEqualTo("the thread is free");
      assertThat(entered).isZero();
      scheduler.schedule(holder);
      joinAll(contenders);
      assertThat(entered).isEqualTo(FIBERS);
    }
  }

  @Test
  void waitAndNotify() throws Exception {
    try (Scheduler scheduler = oneThread()) {
      List<Integer> box = new ArrayList<>();
      List<Integer> received = Collections.synchronizedList(new ArrayList<>());
      List<Fiber<Void>> takers =
          goAll(
              scheduler,
              () -> {
                for (int i = 0; i < ROUNDS; i++) {
                  synchronized (monitor) {
                    while (box.isEmpty()) {
                      monitor.wait();
                    }
                    received.add(box.removeFirst());
                    monitor.notifyAll();
                  }
                }
              });
      Fiber<Void> giver =
          scheduler.go(
              () -> {
                for (int i = 0; i < FIBERS * ROUNDS; i++) {
                  synchronized (monitor) {
                    while (!box.isEmpty()) {
                      monitor.wait();
                    }
                    box.add(i);
                    monitor.notifyAll();
                  }
                }
              });
      giver.join();
      joinAll(takers);
      assertThat(received).isEqualTo(IntStream.range(0, FIBERS * ROUNDS).boxed().toList());
      scheduler
          .go(
              () -> {
                long start = System.nanoTime();
                synchronized (monitor) {
                  monitor.wait(20);
                }
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(19_000_000);
              })
          .join();
    }
  }

  @Test
  void reentrantLockAndCondition() throws Exception {
    ReentrantLock lock = new ReentrantLock();
    Condition full = lock.newCondition();
    Condition empty = lock.newCondition();
    int[] box = {-1};
    int[] sum = new int[1];
    try (Scheduler scheduler = oneThread()) {
      List<Fiber<Void>> takers =
          goAll(
              scheduler,
              () -> {
                for (int i = 0; i < ROUNDS; i++) {
                  lock.lock();
                  try {
                    while (box[0] < 0) {
                      full.await();
                    }
                    sum[0] += box[0];
                    Fiber.yield(); // while it holds the lock
                    box[0] = -1;
                    empty.signal();
                  } finally {
                    lock.unlock();
                  }
                }
              });
      scheduler
          .go(
              () -> {
                for (int i = 0; i < FIBERS * ROUNDS; i++) {
                  lock.lockInterruptibly();
                  try {
                    while (box[0] >= 0) {
                      empty.await();
                    }
                    box[0] = i;
                    full.signal();
                  } finally {
                    lock.unlock();
                  }
                }
              })
          .join();
      joinAll(takers);
      assertThat(sum[0]).isEqualTo(FIBERS * ROUNDS * (FIBERS * ROUNDS - 1) / 2);
      lock.lock();
      assertThat(scheduler.go(() -> lock.tryLock(10, TimeUnit.MILLISECONDS)).join()).isFalse();
      lock.unlock();
      assertThat(scheduler.go(() -> lock.tryLock(10, TimeUnit.SECONDS)).join()).isTrue();
    }
  }

  static Stream<BlockingQueue<Integer>> queues() {
    return Stream.of(
        new ArrayBlockingQueue<>(1), new SynchronousQueue<>(), new LinkedTransferQueue<>());
  }

  @ParameterizedTest
  @MethodSource("queues")
  void blockingQueues(BlockingQueue<Integer> queue) throws Exception {
    int n = 500;
    try (Scheduler scheduler = oneThread()) {
      assertThat(scheduler.go(() -> queue.poll(5, TimeUnit.MILLISECONDS) == null).join()).isTrue();
      Fiber<List<Integer>> taker =
          scheduler.go(
              () -> {
                List<Integer> taken = new ArrayList<>();
                for (int i = 0; i < n; i++) {
                  taken.add(queue.take());
                }
                return taken;
              });
      scheduler.go(
          () -> {
            for (int i = 0; i < n; i++) {
              queue.put(i);
            }
          });
      assertThat(taker.join()).isEqualTo(IntStream.range(0, n).boxed().toList());
    }
  }

  @Test
  void completableFutures() throws Exception {
    try (Scheduler scheduler = oneThread()) {
      CompletableFuture<Integer> first = new CompletableFuture<>();
      CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> 2, scheduler);
      Fiber<Integer> fiber =
          scheduler.go(() -> first.thenCombineAsync(second, Integer::sum, scheduler).join());
      waits(fiber);
      scheduler.go(
          () -> {
            first.complete(1);
          });
      assertThat(fiber.join()).isEqualTo(3);
      assertThat(fiber.toFuture().thenApply(i -> i + 1).get()).isEqualTo(4);
      assertThat(scheduler.go(() -> scheduler.go(() -> 5).toFuture().get()).join()).isEqualTo(5);
    }
  }

  @Test
  void meetingPoints() throws Exception {
    try (Scheduler scheduler = oneThread()) {
      CyclicBarrier barrier = new CyclicBarrier(FIBERS);
      Phaser phaser = new Phaser(FIBERS);
      CountDownLatch latch = new CountDownLatch(FIBERS);
      joinAll(
          goAll(
              scheduler,
              () -> {
                barrier.await();
                phaser.arriveAndAwaitAdvance();
                latch.countDown();
                latch.await();
                entered++;
              }));
      Exchanger<String> exchanger = new Exchanger<>();
      Fiber<String> left = scheduler.go(() -> exchanger.exchange("left"));
      Fiber<String> right = scheduler.go(() -> exchanger.exchange("right"));
      assertThat(left.join() + right.join()).isEqualTo("rightleft");
    }
    assertThat(entered).isEqualTo(FIBERS);
  }

  @Test
  void readWriteLocks() throws Exception {
    ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    int[] readers = new int[1];
    try (Scheduler scheduler = oneThread()) {
      List<Fiber<Void>> fibers = new ArrayList<>();
      for (int f = 0; f < FIBERS; f++) {
        boolean writes = f % 2 == 0;
        fibers.add(
            scheduler.go(
                () -> {
                  for (int i = 0; i < ROUNDS; i++) {
                    (writes ? lock.writeLock() : lock.readLock()).lock();
                    try {
                      readers[0] += writes ? 0 : 1;
                      if (writes) {
                        assertThat(readers[0]).isZero();
                        criticalSection(i);
                      } else {
                        Fiber.yield();
                        assertThat(inside).isZero();
                      }
                      readers[0] -= writes ? 0 : 1;
                    } finally {
                      (writes ? lock.writeLock() : lock.readLock()).unlock();
                    }
                  }
                }));
      }
      joinAll(fibers);
    }
    assertThat(entered).isEqualTo(FIBERS / 2 * ROUNDS);
  }
}
