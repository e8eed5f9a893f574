package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mutexes: exclusion, hand-over, ownership. */
@Feature({"Y1", "Y6"})
@SuppressWarnings("LockNotBeforeTry") // the test checks single steps
class MutexTest {
  @Test
  void theMutexExcludesAlsoAcrossSuspensions() throws Exception {
    Mutex mutex = new Mutex();
    int[] count = {0};
    try (Crew crew = new Crew()) {
      List<Crew.Member> members = new ArrayList<>();
      for (int i = 0; i < 9; i++) {
        members.add(
            crew.start(
                () -> {
                  for (int k = 0; k < 500; k++) {
                    mutex.lock();
                    try {
                      int seen = count[0];
                      if (k % 50 == 0) {
                        Thread.yield();
                      }
                      count[0] = seen + 1;
                    } finally {
                      mutex.unlock();
                    }
                  }
                }));
      }
      for (Crew.Member member : members) {
        member.join();
      }
    }
    assertThat(count[0]).isEqualTo(4_500);
    assertThat(mutex.isLocked()).isFalse();
  }

  @Test
  void aFairMutexIsHandedOverInFifoOrderWithoutBarging() throws Exception {
    Mutex mutex = Mutex.fair();
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    try (Crew crew = new Crew()) {
      List<Crew.Member> members = new ArrayList<>();
      mutex.lock();
      for (int i = 0; i < 9; i++) {
        int mine = i;
        members.add(
            crew.start(
                    () -> {
                      mutex.lock();
                      order.add(mine);
                      mutex.unlock();
                    })
                .waits());
      }
      mutex.unlock();
      mutex.lock(); // behind the earlier waiters
      order.add(9);
      mutex.unlock();
      for (Crew.Member member : members) {
        member.join();
      }
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }

  @Test
  void onOneThreadTwoFibersThatLoopTakeTurnsAtAFairMutex() throws Exception {
    assertThat(orderOfTwoFibersThatLoop(Mutex.fair()))
        .containsExactly("a", "b", "a", "b", "a", "b", "a", "b", "a", "b");
  }

  @Test
  void aRunningFiberTakesAFreeMutexBeforeItsWaiter() throws Exception {
    List<String> order = orderOfTwoFibersThatLoop(new Mutex());
    assertThat(order.subList(0, 3)).containsExactly("a", "a", "a");
    assertThat(order).hasSize(10);
  }

  private static List<String> orderOfTwoFibersThatLoop(Mutex mutex) throws Exception {
    List<String> order = new ArrayList<>();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build()) {
      Fiber<?>[] fibers = new Fiber<?>[2];
      for (int i = 0; i < 2; i++) {
        String name = i == 0 ? "a" : "b";
        fibers[i] =
            scheduler.go(
                () -> {
                  for (int k = 0; k < 5; k++) {
                    mutex.lock();
                    order.add(name);
                    Fiber.yield();
                    mutex.unlock();
                  }
                });
      }
      scheduler.start(); // not before both fibers are submitted: the first could be done by then
      fibers[0].join();
      fibers[1].join();
    }
    return order;
  }

  @Test
  void aWaiterThatHasWaitedForAMillisecondGetsTheMutexHandedOver() throws Exception {
    Mutex mutex = new Mutex();
    AtomicBoolean served = new AtomicBoolean();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build()) {
      Fiber<?> greedy =
          scheduler.go(
              () -> {
                while (!served.get()) { // for ever, unless the waiter's turn comes
                  mutex.lock();
                  Fiber.yield(); // the waiter looks while this fiber holds the mutex
                  mutex.unlock();
                }
              });
      Fiber<?> waiter =
          scheduler.go(
              () -> {
                mutex.lock();
                served.set(true);
                mutex.unlock();
              });
      scheduler.start();
      waiter.join();
      greedy.join();
    }
    assertThat(mutex.isLocked()).isFalse();
  }

  @Test
  void aWokenWaiterThatGivesUpLeavesTheMutexToTheNextWaiter() throws Exception {
    Mutex mutex = new Mutex();
    List<String> order = new ArrayList<>();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build()) {
      Fiber<?> holder =
          scheduler.go(
              () -> {
                mutex.lock();
                Fiber.yield(); // the waiters queue
                mutex.unlock(); // wakes the first
                mutex.lock(); // before the first runs
                Thread.sleep(Duration.ofMillis(30)); // the first queues again, and gives up
                order.add("unlocked");
                mutex.unlock();
              });
      scheduler.go(
          () -> order.add(mutex.tryLock(Duration.ofMillis(10)) ? "first got it" : "gave up"));
      Fiber<?> second =
          scheduler.go(
              () -> {
                mutex.lock();
                order.add("second got it");
                mutex.unlock();
              });
      scheduler.start();
      holder.join();
      second.join();
    }
    assertThat(order).containsExactly("gave up", "unlocked", "second got it");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Feature("Y7")
  void aWokenWaiterThatItsSchedulerGivesUpOnLeavesTheMutexToTheNextWaiter(boolean held)
      throws Exception {
    Mutex mutex = new Mutex();
    mutex.lock();
    try (StuckScheduler stuck = new StuckScheduler();
        Crew crew = new Crew()) {
      stuck.waiter(mutex::lock);
      stuck.hold();
      Crew.Member next =
          crew.start(
                  () -> {
                    mutex.lock();
                    mutex.unlock();
                  })
              .waits();
      mutex.unlock(); // wakes the fiber of the stuck scheduler, which cannot run
      if (held) {
        mutex.lock();
      }
      stuck.giveUp();
      if (held) {
        mutex.unlock();
      }
      next.join();
    }
    assertThat(mutex.isLocked()).isFalse();
  }

  @Test
  void tryLockTakesTheMutexOnlyIfItIsFree() throws Exception {
    Mutex mutex = new Mutex();
    assertThat(mutex.tryLock()).isTrue();
    try (Crew crew = new Crew()) {
      crew.start(
              () -> {
                assertThat(mutex.tryLock()).isFalse();
                assertThat(mutex.tryLock(Duration.ZERO)).isFalse();
                assertThat(mutex.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
              })
          .join();
      mutex.unlock();
      crew.start(
              () -> {
                assertThat(mutex.tryLock(Duration.ofSeconds(15))).isTrue();
                mutex.unlock();
              })
          .join();
    }
    assertThat(mutex.isLocked()).isFalse();
  }

  @Test
  void aTimedTryLockThatSucceedsInTimeHoldsTheMutex() throws Exception {
    Mutex mutex = new Mutex();
    mutex.lock();
    try (Crew crew = new Crew()) {
      for (int i = 0; i < 3; i++) {
        Crew.Member waiting =
            crew.start(
                    () -> {
                      assertThat(mutex.tryLock(Duration.ofSeconds(15))).isTrue();
                      assertThat(mutex.isHeldByCurrentThread()).isTrue();
                      mutex.unlock();
                    })
                .waits();
        mutex.unlock();
        waiting.join();
        mutex.lock();
      }
    }
  }

  @Test
  void theHolderMayLockAgain() throws Exception {
    Mutex mutex = new Mutex();
    mutex.lock();
    mutex.lock();
    mutex.lockInterruptibly();
    assertThat(mutex.tryLock()).isTrue();
    assertThat(mutex.tryLock(Duration.ZERO)).isTrue();
    for (int i = 0; i < 5; i++) {
      assertThat(mutex.isHeldByCurrentThread()).isTrue();
      mutex.unlock();
    }
    assertThat(mutex.isLocked()).isFalse();
  }

  @Test
  void aNonOwnerCannotUnlockAndTheMessageNamesTheOwner() throws Exception {
    Mutex mutex = new Mutex();
    assertThatExceptionOfType(IllegalMonitorStateException.class)
        .isThrownBy(mutex::unlock)
        .withMessageContaining("(free): the caller, " + Thread.currentThread());
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> holder =
          scheduler.go(
              FiberOptions.named("holder"),
              () -> {
                mutex.lock();
                Fiber.suspend();
                mutex.unlock();
              });
      dev.weft.Eventually.waits(holder);
      assertThatExceptionOfType(IllegalMonitorStateException.class)
          .isThrownBy(mutex::unlock)
          .withMessageContaining("held by " + holder)
          .withMessageContaining("does not hold it");
      assertThat(mutex.isLocked()).isTrue();
      scheduler.schedule(holder);
      holder.join();
    }
  }

  @Test
  void aDumpShowsTheOwner() throws Exception {
    Mutex mutex = new Mutex();
    mutex.lock();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> waiting =
          scheduler.go(
              () -> {
                mutex.lock();
                mutex.unlock();
              });
      dev.weft.Eventually.waits(waiting);
      assertThat(scheduler.dump().text())
          .contains("waits for the lock of mutex")
          .contains("held by " + Thread.currentThread());
      mutex.unlock();
      waiting.join();
    }
  }

  @Test
  @SuppressWarnings({"WaitNotInLoop", "JavaUtilDate"})
  void aConditionReleasesTheMutexAndRestoresItsHolds() throws Exception {
    Mutex mutex = new Mutex();
    Condition condition = mutex.newCondition();
    assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(condition::await);
    assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(condition::signal);
    assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(condition::signalAll);
    try (Crew crew = new Crew()) {
      List<Crew.Member> members = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        members.add(
            crew.start(
                    () -> {
                      mutex.lock();
                      mutex.lock();
                      condition.await();
                      mutex.unlock();
                      assertThat(mutex.isHeldByCurrentThread()).isTrue();
                      mutex.unlock();
                      assertThat(mutex.isHeldByCurrentThread()).isFalse();
                    })
                .waits());
      }
      mutex.lock();
      condition.signal();
      mutex.unlock();
      members.get(0).join();
      assertThat(members.get(1).end().isDone()).isFalse();
      mutex.lock();
      condition.signalAll();
      assertThat(condition.awaitNanos(1)).isNotPositive();
      assertThat(condition.await(1, TimeUnit.NANOSECONDS)).isFalse();
      assertThat(condition.awaitUntil(new Date())).isFalse();
      mutex.unlock();
      members.get(1).join();
      members.get(2).join();
    }
  }

  @Test
  void aLimitOfNullIsRefusedAndTheMutexIsNotLost() throws Exception {
    Mutex mutex = new Mutex();
    mutex.lock();
    try (Crew crew = new Crew()) {
      for (Body bad :
          List.<Body>of(() -> mutex.tryLock((Duration) null), () -> mutex.tryLock(1, null))) {
        crew.start(() -> assertThatNullPointerException().isThrownBy(bad::run)).join();
      }
    }
    mutex.unlock();
    assertThat(mutex.isLocked()).isFalse();
  }

  @Test
  @SuppressWarnings({"WaitNotInLoop", "JavaUtilDate"})
  void aConditionTakesOddTimes() throws Exception {
    Mutex mutex = new Mutex();
    Condition condition = mutex.newCondition();
    mutex.lock();
    assertThat(condition.awaitNanos(Long.MIN_VALUE)).isNotPositive();
    Date withoutTime =
        new Date(0) {
          private static final long serialVersionUID = 1L;

          @Override
          public Instant toInstant() {
            throw new UnsupportedOperationException("as java.sql.Date does");
          }
        };
    assertThat(condition.awaitUntil(withoutTime)).isFalse();
    mutex.unlock();
  }
}
