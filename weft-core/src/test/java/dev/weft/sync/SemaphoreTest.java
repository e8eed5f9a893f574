package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Semaphores: the number of permits, and the order of waiters. */
@Feature({"Y4", "Y6"})
class SemaphoreTest {
  @Test
  void noMoreHoldersThanPermits() throws Exception {
    Semaphore semaphore = new Semaphore(2);
    AtomicInteger in = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    try (Crew crew = new Crew()) {
      List<Crew.Member> members = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        members.add(
            crew.start(
                () -> {
                  for (int k = 0; k < 200; k++) {
                    semaphore.acquire();
                    most.accumulateAndGet(in.incrementAndGet(), Math::max);
                    Thread.yield();
                    in.decrementAndGet();
                    semaphore.release();
                  }
                }));
      }
      for (Crew.Member member : members) {
        member.join();
      }
    }
    assertThat(most.get()).isBetween(1, 2);
    assertThat(semaphore.availablePermits()).isEqualTo(2);
  }

  @Test
  @Feature("Y7")
  void theWaitersBehindAWaiterThatItsSchedulerGivesUpOnAreLetIn() throws Exception {
    Semaphore semaphore = new Semaphore(1);
    try (StuckScheduler stuck = new StuckScheduler();
        Crew crew = new Crew()) {
      stuck.waiter(() -> semaphore.acquire(2));
      stuck.hold();
      Crew.Member next = crew.start(semaphore::acquire).waits();
      stuck.giveUp();
      next.join();
    }
    assertThat(semaphore.availablePermits()).isZero();
  }

  @Test
  void fifoAlsoWhenTheFirstWaiterWantsMorePermits() throws Exception {
    Semaphore semaphore = new Semaphore(0);
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    try (Crew crew = new Crew()) {
      List<Crew.Member> members = new ArrayList<>();
      for (int wanted : List.of(3, 1, 2)) {
        members.add(
            crew.start(
                    () -> {
                      semaphore.acquire(wanted);
                      order.add(wanted);
                    })
                .waits());
      }
      semaphore.release(2);
      assertThat(semaphore.tryAcquire()).as("a waiter comes first").isFalse();
      assertThat(semaphore.tryAcquire(Duration.ofMillis(1))).isFalse();
      assertThat(order).isEmpty();
      semaphore.release();
      members.get(0).join();
      semaphore.release();
      members.get(1).join();
      semaphore.release(5);
      members.get(2).join();
    }
    assertThat(order).containsExactly(3, 1, 2);
    assertThat(semaphore.availablePermits()).isEqualTo(3);
  }

  @Test
  @Feature("Y7")
  void whenTheFirstGivesUpWaitersForFewerPermitsAreServed() throws Exception {
    Semaphore semaphore = new Semaphore(1);
    try (Crew crew = new Crew()) {
      for (int i = 0; i < 3; i++) {
        Crew.Member greedy = crew.start(() -> semaphore.acquire(2)).waits();
        Crew.Member modest = crew.start(() -> semaphore.acquire(1)).waits();
        greedy.giveUp();
        modest.join();
        assertThatExceptionOfType(Exception.class).isThrownBy(greedy::join);
        assertThat(semaphore.availablePermits()).isZero();
        semaphore.release();
      }
      Crew.Member timed =
          crew.start(() -> assertThat(semaphore.tryAcquire(2, Duration.ofMillis(5))).isFalse());
      Crew.Member behind = crew.start(() -> semaphore.acquire(1));
      timed.join();
      behind.join();
    }
  }

  @Test
  void tryAndTimed() throws Exception {
    Semaphore semaphore = new Semaphore(2);
    assertThat(semaphore.tryAcquire(3)).isFalse();
    assertThat(semaphore.tryAcquire(2)).isTrue();
    assertThat(semaphore.tryAcquire()).isFalse();
    assertThat(semaphore.tryAcquire(Duration.ZERO)).isFalse();
    semaphore.release(2);
    assertThat(semaphore.tryAcquire(2, Duration.ofHours(1))).isTrue();
  }

  @Test
  void badNumbersAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Semaphore(-1))
        .withMessage("permits must be at least 0, not -1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Semaphore(1).acquire(-2))
        .withMessage("count must be at least 0, not -2");
    assertThatIllegalArgumentException().isThrownBy(() -> new Semaphore(1).release(-1));
    Semaphore full = new Semaphore(Integer.MAX_VALUE);
    assertThatIllegalStateException().isThrownBy(full::release);
    assertThat(full.availablePermits()).isEqualTo(Integer.MAX_VALUE);
  }
}
