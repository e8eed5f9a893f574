package dev.weft.internal.sched;

import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.Eventually;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many callers of join wait for the end of one fiber, and give up. */
@Feature("S15")
class EndWaitersTest {
  /** A linear search in the list for each of them would take minutes. */
  @Test
  @Timeout(30)
  void manyLeaveInAnyOrderAsFastAsTheyCame() {
    int count = 100_000;
    EndWaiters waiters = new EndWaiters();
    List<EndWaiter> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      EndWaiter waiter = new EndWaiter(Thread.currentThread());
      all.add(waiter);
      assertThat(waiters.add(waiter)).isTrue();
    }
    for (int i = 0; i < count / 4; i++) { // from both ends and from the middle
      assertThat(waiters.remove(all.get(i))).isTrue();
      assertThat(waiters.remove(all.get(count - 1 - i))).isTrue();
      assertThat(waiters.remove(all.get(count / 2 - 1 - i))).isTrue();
    }
    EndWaiter left = waiters.close();
    for (int i = count / 2; i < count * 3 / 4; i++) {
      assertThat(left).isSameAs(all.get(i));
      left = left.newer;
    }
    assertThat(left).isNull();
    assertThat(waiters.add(new EndWaiter(Thread.currentThread()))).isFalse();
    assertThat(waiters.remove(all.get(count / 2))).isFalse();
  }

  @Test
  @Timeout(60)
  void manyJoinersOfOneFiberTimeOutAtOnce() throws Exception {
    int count = 100_000;
    AtomicInteger late = new AtomicInteger();
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      Fiber<Void> never = scheduler.go(() -> Fiber.suspend());
      CountDownLatch told = new CountDownLatch(count);
      for (int i = 0; i < count; i++) {
        scheduler.go(
            () -> {
              try {
                never.join(Duration.ofMillis(200));
              } catch (TimeoutException e) {
                late.incrementAndGet();
              } finally {
                told.countDown();
              }
            });
      }
      told.await();
      assertThat(late).hasValue(count);
      scheduler.schedule(never);
      never.join();
    }
  }

  /** Callers of join come, give up and are woken by an end that meets them all. */
  @Test
  void everyCallerOfJoinIsWokenOrHasGivenUp() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      for (int round = 0; round < 300; round++) {
        Fiber<Integer> ends =
            scheduler.go(
                () -> {
                  Fiber.suspend();
                  return 7;
                });
        AtomicInteger called = new AtomicInteger();
        AtomicBoolean wrong = new AtomicBoolean();
        List<Fiber<?>> joiners = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          int kind = i;
          joiners.add(
              scheduler.go(
                  () -> {
                    try {
                      int result =
                          kind % 2 == 0
                              ? ends.join()
                              : ends.join(Duration.ofNanos(1_000L * kind * kind));
                      wrong.compareAndSet(false, result != 7);
                    } catch (TimeoutException e) {
                      core(ends).atEnd(called::incrementAndGet);
                      return;
                    }
                    called.incrementAndGet();
                  }));
        }
        scheduler.schedule(ends);
        for (Fiber<?> joiner : joiners) {
          joiner.join();
        }
        ends.toFuture().join();
        Eventually.eventually("all callers of join are counted", () -> called.get() == 8);
        assertThat(wrong).isFalse();
      }
    }
  }

  @Test
  void theOldestIsCalledFirstAndAWaiterThatLeftIsNot() throws Exception {
    List<String> called = new ArrayList<>();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> fiber = scheduler.go(() -> Fiber.suspend());
      for (String name : List.of("first", "second", "third")) {
        core(fiber).atEnd(() -> called.add(name));
        assertThatExceptionOfType(TimeoutException.class)
            .isThrownBy(() -> fiber.join(Duration.ofMillis(1)));
      }
      scheduler.schedule(fiber);
      scheduler.stop();
      assertThat(called).containsExactly("first", "second", "third");
    }
  }
}
