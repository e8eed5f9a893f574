package dev.weft.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.FiberCore;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The wait queue of all locks, channels and scopes. */
@Feature("Y7")
class WaitQueueTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final SpinLock lock = new SpinLock();
  private final WaitQueue queue = new WaitQueue(lock, "wait for", "the test");

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  private Waiter join() {
    Waiter waiter = new Waiter(FiberCore.currentOrNull());
    join(waiter, queue);
    return waiter;
  }

  private void join(WaitNode place, WaitQueue joined) {
    lock.lock();
    try {
      joined.add(place);
    } finally {
      lock.unlock();
    }
  }

  private WaitNode poll(Object item) {
    lock.lock();
    try {
      return queue.poll(item);
    } finally {
      lock.unlock();
    }
  }

  private int size() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }

  private void waits(int count) {
    long start = System.nanoTime();
    while (size() < count) {
      assertThat(System.nanoTime() - start).as("no hand-over came").isLessThan(15_000_000_000L);
      LockSupport.parkNanos(100_000);
    }
  }

  private Fiber<Object> waitingFiber(String name) {
    int before = size();
    Fiber<Object> fiber =
        scheduler.go(
            FiberOptions.named(name),
            () -> {
              Waiter waiter = join();
              waiter.await(queue);
              return waiter.chosen().item;
            });
    waits(before + 1);
    return fiber;
  }

  @Test
  void waitersAreServedInFifoOrderWithTheItem() throws Exception {
    List<Fiber<Object>> fibers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      fibers.add(waitingFiber("f" + i));
    }
    for (int i = 0; i < 5; i++) {
      poll(i).wake();
      assertThat(fibers.get(i).join()).isEqualTo(i);
    }
    assertThat(poll("no waiter")).isNull();
  }

  @Test
  void allAreWokenInOrder() throws Exception {
    List<String> order = new ArrayList<>();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      String name = "f" + i;
      fibers.add(
          scheduler.go(
              () -> {
                Waiter waiter = join();
                waiter.await(queue);
                order.add(name + waiter.item);
              }));
    }
    waits(5);
    scheduler
        .go(
            () -> {
              WakeList woken = new WakeList();
              lock.lock();
              try {
                queue.pollAll("!", woken);
              } finally {
                lock.unlock();
              }
              woken.wake();
            })
        .join();
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
    assertThat(order).containsExactly("f0!", "f1!", "f2!", "f3!", "f4!");
  }

  @Test
  void aCancelledWaiterLeavesFromTheMiddle() throws Exception {
    Fiber<Object> a = waitingFiber("a");
    Fiber<Object> b = waitingFiber("b");
    Fiber<Object> c = waitingFiber("c");
    b.cancel();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(b::join);
    assertThat(size()).isEqualTo(2);
    poll(1).wake();
    poll(2).wake();
    assertThat(a.join()).isEqualTo(1);
    assertThat(c.join()).isEqualTo(2);
    assertThat(size()).isZero();
  }

  @Test
  void aChosenWaiterDoesNotThrowAndKeepsTheInterrupt() throws Exception {
    Fiber<Object> fiber =
        scheduler.go(
            () -> {
              Waiter waiter = join();
              poll("given").wake();
              Fiber.current().orElseThrow().thread().interrupt();
              waiter.await(queue);
              assertThat(Thread.interrupted()).isTrue();
              return waiter.chosen().item;
            });
    assertThat(fiber.join()).isEqualTo("given");
  }

  @Test
  void anInterruptedWaiterIsNotChosenAnyMore() throws Exception {
    Fiber<Object> fiber =
        scheduler.go(
            () -> {
              Waiter waiter = join();
              Thread.currentThread().interrupt();
              assertThatExceptionOfType(InterruptedException.class)
                  .isThrownBy(() -> waiter.await(queue));
              assertThat(Thread.interrupted()).isFalse();
              return poll("too late");
            });
    assertThat(fiber.join()).isNull();
  }

  @Test
  void aTimedOutWaiterLeaves() throws Exception {
    for (Duration limit : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofMillis(2))) {
      Fiber<Boolean> fiber = scheduler.go(() -> join().await(queue, limit));
      assertThat(fiber.join()).isFalse();
      assertThat(size()).isZero();
    }
    assertThat(join().await(queue, Duration.ofMillis(2))).as("a plain thread").isFalse();
    assertThat(size()).isZero();
    assertThat(scheduler.stats().threads().getFirst().timers()).isZero();
  }

  @Test
  void aWaiterChosenInTimeLeavesNoTimer() throws Exception {
    Fiber<Boolean> fiber = scheduler.go(() -> join().await(queue, Duration.ofHours(1)));
    waits(1);
    poll("given").wake();
    assertThat(fiber.join()).isTrue();
    assertThat(scheduler.stats().threads().getFirst().timers()).isZero();
  }

  @Test
  void aDeadlineAroundTheWaitEndsIt() throws Exception {
    Fiber<Object> fiber =
        scheduler.go(
            () ->
                Weft.withTimeout(
                    Duration.ofMillis(2),
                    () -> {
                      join().await(queue);
                      return null;
                    }));
    assertThatExceptionOfType(java.util.concurrent.CompletionException.class)
        .isThrownBy(fiber::join)
        .withCauseInstanceOf(TimeoutException.class);
    assertThat(size()).isZero();
  }

  @Test
  void anUninterruptibleWaitGoesOnAndKeepsTheInterrupt() throws Exception {
    Fiber<Boolean> fiber =
        scheduler.go(
            () -> {
              Thread.currentThread().interrupt();
              join().awaitUninterruptibly(queue);
              return Thread.interrupted();
            });
    waits(1);
    fiber.thread().interrupt();
    waits(1);
    poll("given").wake();
    assertThat(fiber.join()).isTrue();
  }

  @Test
  void ofSeveralPlacesOneIsChosenAndTheOthersAreSkipped() throws Exception {
    WaitQueue other = new WaitQueue(lock, "wait for", "another");
    Fiber<Object> fiber =
        scheduler.go(
            () -> {
              Waiter waiter = new Waiter(FiberCore.currentOrNull());
              WaitNode second = new WaitNode(waiter);
              lock.lock();
              try {
                other.add(second);
                queue.add(waiter);
              } finally {
                lock.unlock();
              }
              waiter.await(queue);
              assertThat(waiter.chosen()).isSameAs(second);
              return second.item;
            });
    waits(1);
    WaitNode chosen;
    lock.lock();
    try {
      chosen = other.poll("here");
      assertThat(queue.first()).as("dropped when found").isNull();
      assertThat(queue.poll("there")).isNull();
    } finally {
      lock.unlock();
    }
    chosen.wake();
    assertThat(fiber.join()).isEqualTo("here");
  }

  @Test
  void placesThatWereNotChosenCanLeave() throws Exception {
    WaitQueue other = new WaitQueue(lock, "wait for", "another");
    Fiber<Object> fiber =
        scheduler.go(
            () -> {
              Waiter waiter = join();
              WaitNode second = new WaitNode(waiter);
              join(second, other);
              waiter.await(queue);
              second.leave();
              second.leave();
              return other.isEmpty();
            });
    waits(1);
    poll("here").wake();
    assertThat(fiber.join()).isEqualTo(true);
  }

  @Test
  void dumpsSayWhatAWaiterWaitsFor() throws Exception {
    Fiber<Object> fiber = waitingFiber("reader");
    long start = System.nanoTime();
    while (fiber.status() != Fiber.Status.WAITING && System.nanoTime() - start < 15_000_000_000L) {
      LockSupport.parkNanos(100_000);
    }
    assertThat(scheduler.dump().text()).contains("waits for wait for the test");
    poll("end").wake();
    fiber.join();
  }

  @Test
  void aWaitThatCannotStartLeavesTheQueue() throws Exception {
    assertThatNullPointerException().isThrownBy(() -> join().await(queue, null));
    assertThat(size()).isZero();
  }
}
