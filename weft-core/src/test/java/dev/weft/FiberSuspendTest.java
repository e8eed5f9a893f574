package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** yield, suspend and schedule. */
@Feature("S8")
class FiberSuspendTest {
  private static Scheduler start(int threads) {
    return Scheduler.builder().threads(threads).build().start();
  }

  @Test
  void yieldGoesToTheBackOfTheQueueAndComesBackByItself() {
    List<String> log = new ArrayList<>();
    Scheduler scheduler = Scheduler.builder().threads(1).useCaller(true).build().start();
    for (String name : List.of("a", "b", "c")) {
      scheduler.go(
          () -> {
            for (int i = 1; i <= 3; i++) {
              log.add(name + i);
              Fiber.yield();
            }
          });
    }
    scheduler.stop();
    assertThat(log).containsExactly("a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3");
  }

  @Test
  void aYieldWithoutOtherReadyFibersReturns() throws Exception {
    try (Scheduler scheduler = start(1)) {
      scheduler
          .go(
              () -> {
                for (int i = 0; i < 1_000; i++) {
                  Fiber.yield();
                }
              })
          .join();
    }
  }

  @Test
  void onlyScheduleEndsASuspension() throws Exception {
    try (Scheduler scheduler = start(1)) {
      AtomicBoolean back = new AtomicBoolean();
      AtomicBoolean interrupted = new AtomicBoolean();
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                Fiber.suspend();
                back.set(true);
                interrupted.set(Thread.interrupted());
              });
      waits(fiber);
      LockSupport.unpark(fiber.thread());
      fiber.thread().interrupt();
      // fibers that those two calls woke have run before this fiber, on the same thread
      scheduler.go(() -> Fiber.yield()).join();
      waits(fiber);
      assertThat(back).isFalse();
      scheduler.schedule(fiber);
      fiber.join();
      assertThat(interrupted).as("the interrupt status is kept").isTrue();
    }
  }

  @Test
  void aScheduleThatComesFirstIsNotLostAndTwoAreOne() throws Exception {
    try (Scheduler scheduler = start(1)) {
      AtomicInteger returns = new AtomicInteger();
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                Fiber<?> self = Fiber.current().orElseThrow();
                scheduler.schedule(self); // the fiber is running
                scheduler.schedule(self);
                Fiber.suspend();
                returns.incrementAndGet();
                Fiber.suspend();
                returns.incrementAndGet();
              });
      eventually("the first has returned", () -> returns.get() == 1);
      waits(fiber);
      assertThat(returns).hasValue(1);
      scheduler.schedule(fiber);
      fiber.join();
      assertThat(returns).hasValue(2);
    }
  }

  @Test
  void aFiberBeforeItsStartIsScheduledAlready() throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(1).build();
    AtomicInteger runs = new AtomicInteger();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              runs.incrementAndGet();
              Fiber.suspend();
            });
    scheduler.schedule(fiber);
    scheduler.schedule(fiber);
    scheduler.start();
    fiber.join();
    scheduler.stop();
    assertThat(runs).hasValue(1);
    assertThat(scheduler.stats().ended()).isEqualTo(1);
  }

  @Test
  void schedulingARunningOrFinishedFiberRunsNothingTwice() throws Exception {
    Scheduler scheduler = start(2);
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch release = new CountDownLatch(1);
    Fiber<Void> fiber =
        scheduler.go(
            FiberOptions.named("f").onThread(0),
            () -> {
              runs.incrementAndGet();
              while (release.getCount() > 0) {
                Thread.onSpinWait();
              }
            });
    eventually("the fiber runs", () -> runs.get() == 1);
    for (int i = 0; i < 100; i++) {
      scheduler.schedule(fiber);
    }
    assertThat(fiber.status()).isEqualTo(Fiber.Status.RUNNING);
    release.countDown();
    fiber.join();
    for (int i = 0; i < 100; i++) {
      scheduler.schedule(fiber);
      scheduler.schedule(fiber, 1);
    }
    scheduler.go(() -> {}).join();
    scheduler.stop();
    assertThat(runs).hasValue(1);
    assertThat(scheduler.stats().begun()).isEqualTo(2);
    assertThat(scheduler.stats().ended()).isEqualTo(2);
  }

  /** A plain thread and a fiber hand a number to each other: no hand-over may be lost. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noScheduleIsLostOnItsWayFromAPlainThread(boolean steals) throws Exception {
    int rounds = 5_000;
    int[] value = new int[1]; // only schedule and unpark publish it
    Policy policy = steals ? Policy.workStealing() : Policy.fifo();
    try (Scheduler scheduler = Scheduler.builder().threads(2).policy(policy).build().start()) {
      Thread me = Thread.currentThread();
      AtomicBoolean turn = new AtomicBoolean(); // true: the fiber's turn
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  while (!turn.get()) {
                    Fiber.suspend();
                  }
                  assertThat(value[0]++).isEqualTo(2 * i + 1);
                  turn.set(false);
                  LockSupport.unpark(me);
                }
              });
      for (int i = 0; i < rounds; i++) {
        assertThat(value[0]++).isEqualTo(2 * i);
        turn.set(true);
        scheduler.schedule(fiber);
        while (turn.get()) {
          LockSupport.park();
        }
      }
      fiber.join();
    }
    assertThat(value[0]).isEqualTo(2 * rounds);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void noScheduleIsLostAmongFibers(int threads) throws Exception {
    int rounds = 3_000;
    try (Scheduler scheduler =
        Scheduler.builder().threads(threads).policy(Policy.workStealing()).build().start()) {
      List<Fiber<Void>> ring = Collections.synchronizedList(new ArrayList<>());
      AtomicInteger token = new AtomicInteger();
      CountDownLatch built = new CountDownLatch(1);
      for (int i = 0; i < 4; i++) {
        int me = i;
        ring.add(
            scheduler.go(
                () -> {
                  built.await();
                  while (true) {
                    int turn = token.get();
                    if (turn >= rounds) {
                      scheduler.schedule(ring.get((me + 1) % 4));
                      return;
                    }
                    if (turn % 4 == me) {
                      assertThat(token.compareAndSet(turn, turn + 1)).isTrue();
                      scheduler.schedule(ring.get((me + 1) % 4));
                    }
                    Fiber.suspend();
                  }
                }));
      }
      built.countDown();
      for (Fiber<Void> fiber : ring) {
        fiber.join();
      }
      assertThat(token).hasValue(rounds);
    }
  }

  @Test
  void aFiberOfAnotherSchedulerIsRefused() throws Exception {
    try (Scheduler mine = start(1);
        Scheduler other = start(1)) {
      Fiber<Void> fiber = mine.go(() -> Fiber.suspend());
      assertThatIllegalArgumentException()
          .isThrownBy(() -> other.schedule(fiber))
          .withMessageContaining("cannot schedule " + fiber)
          .withMessageContaining("belongs to " + mine);
      assertThatIllegalArgumentException().isThrownBy(() -> other.schedule(fiber, 0));
      mine.schedule(fiber);
      fiber.join();
    }
  }

  @Test
  void outsideFibersSuspendAndYieldAreRefused() {
    assertThatIllegalStateException()
        .isThrownBy(Fiber::yield)
        .withMessage("cannot yield outside a fiber: call it in a body that was given to go()");
    assertThatIllegalStateException()
        .isThrownBy(Fiber::suspend)
        .withMessageContaining("cannot suspend outside a fiber");
  }
}
