package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Condition variables, with a mutex and with other locks. */
@Feature({"Y3", "Y6"})
@SuppressWarnings({"WaitNotInLoop", "LockNotBeforeTry"}) // the test checks single steps
class ConditionVariableTest {
  private final ConditionVariable variable = new ConditionVariable();

  static Stream<Lock> locks() {
    return Stream.of(new Mutex(), new ReentrantLock(), new SharedMutex().writeLock());
  }

  private Crew.Member waiter(Crew crew, Lock lock, int mine, List<Integer> order) {
    return crew.start(
            () -> {
              lock.lock();
              try {
                variable.await(lock);
                order.add(mine);
              } finally {
                lock.unlock();
              }
            })
        .waits();
  }

  @ParameterizedTest
  @MethodSource("locks")
  void signalsGoToTheWaitersInFifoOrder(Lock lock) throws Exception {
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    try (Crew crew = new Crew()) {
      List<Crew.Member> members = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        members.add(waiter(crew, lock, i, order));
      }
      for (int i = 0; i < 3; i++) {
        variable.signal();
        members.get(i).join();
      }
      assertThat(order).containsExactly(0, 1, 2);
      variable.signalAll();
      for (Crew.Member member : members) {
        member.join();
      }
      assertThat(order).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5);
    }
  }

  @Test
  void aSignalWithoutAWaiterIsGone() throws Exception {
    Mutex mutex = new Mutex();
    variable.signal();
    variable.signalAll();
    mutex.lock();
    assertThat(variable.await(mutex, Duration.ofMillis(1))).isFalse();
    assertThat(mutex.isHeldByCurrentThread()).isTrue();
    mutex.unlock();
  }

  @Test
  void noWaiterWakesWithoutASignal() throws Exception {
    Mutex mutex = new Mutex();
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    try (Crew crew = new Crew()) {
      for (int i = 0; i < 3; i++) {
        Crew.Member member = waiter(crew, mutex, i, order);
        for (int k = 0; k < 5; k++) {
          LockSupport.unpark(member.thread()); // as the JVM may do: a spurious wake-up
          member.waits();
        }
        mutex.lock(); // a woken waiter would have returned before
        mutex.unlock();
        assertThat(order).hasSize(i);
        variable.signal();
        member.join();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("locks")
  void withAPredicateAwaitChecksFirstAndAfterEachSignal(Lock lock) throws Exception {
    int[] value = {0};
    lock.lock();
    variable.await(lock, () -> true);
    lock.unlock();
    try (Crew crew = new Crew()) {
      Crew.Member member =
          crew.start(
                  () -> {
                    lock.lock();
                    variable.await(lock, () -> value[0] == 3);
                    lock.unlock();
                  })
              .waits();
      for (int i = 1; i <= 3; i++) {
        assertThat(member.end().isDone()).isFalse();
        lock.lock();
        value[0] = i;
        variable.signal();
        lock.unlock();
        if (i < 3) {
          member.waits();
        }
      }
      member.join();
    }
  }

  @ParameterizedTest
  @MethodSource("locks")
  void awaitWithoutTheLockIsRefusedAndLeavesNothingBehind(Lock lock) throws Exception {
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    try (Crew crew = new Crew()) {
      assertThatExceptionOfType(IllegalMonitorStateException.class)
          .isThrownBy(() -> variable.await(lock));
      assertThatExceptionOfType(IllegalMonitorStateException.class)
          .isThrownBy(() -> variable.await(lock, Duration.ofHours(1)));
      Crew.Member member = waiter(crew, lock, 1, order);
      variable.signal();
      member.join();
    }
  }

  @Test
  @Feature("Y7")
  void aSignalledWaiterThatIsInterruptedTooReturnsNormally() throws Exception {
    Mutex mutex = new Mutex();
    try (Crew crew = new Crew()) {
      for (int i = 0; i < 3; i++) {
        Crew.Member member =
            crew.start(
                    () -> {
                      mutex.lock();
                      try {
                        variable.await(mutex);
                        assertThat(Thread.currentThread().isInterrupted()).isTrue();
                      } finally {
                        mutex.unlock();
                      }
                    })
                .waits();
        mutex.lock();
        variable.signal();
        member.thread().interrupt(); // the waiter now waits for the mutex
        mutex.unlock();
        member.join();
      }
    }
  }

  @Test
  void awaitUntilWithoutTheMutexIsRefusedAlsoIfThePredicateHolds() {
    assertThatExceptionOfType(IllegalMonitorStateException.class)
        .isThrownBy(() -> variable.await(new Mutex(), () -> true))
        .withMessageContaining("cannot wait for a condition of mutex");
  }

  @Test
  @Feature("Y7")
  void anUninterruptibleWaitOutlivesAnInterruptAndKeepsIt() throws Exception {
    Mutex mutex = new Mutex();
    try (Crew crew = new Crew()) {
      for (int i = 0; i < 3; i++) {
        Crew.Member member =
            crew.start(
                    () -> {
                      mutex.lock();
                      try {
                        variable.awaitUninterruptibly(mutex);
                        assertThat(mutex.isHeldByCurrentThread()).isTrue();
                        assertThat(Thread.interrupted()).isTrue();
                      } finally {
                        mutex.unlock();
                      }
                    })
                .waits();
        member.thread().interrupt();
        member.waits();
        assertThat(member.end()).isNotDone();
        variable.signal();
        member.join();
      }
    }
  }
}
