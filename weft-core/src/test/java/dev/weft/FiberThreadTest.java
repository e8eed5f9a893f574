package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.channel.Channel;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which thread and which scheduler a fiber runs on. */
class FiberThreadTest {
  private static Scheduler start(int threads, Policy policy) {
    return Scheduler.builder().threads(threads).policy(policy).build().start();
  }

  private static Policy policy(boolean steals) {
    return steals ? Policy.workStealing() : Policy.fifo();
  }

  /** Checks that this slice runs on the thread with this index, and that the index is right. */
  private static void assertOn(Scheduler scheduler, int index) {
    assertThat(Scheduler.current()).contains(scheduler);
    assertThat(Fiber.threadIndex()).isEqualTo(index);
    assertThat(Thread.currentThread().toString()).endsWith("@" + scheduler.name() + "-" + index);
  }

  // ---- bound to a thread ----

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Feature("S6")
  void everySliceOfABoundFiberRunsOnItsThread(boolean steals) throws Exception {
    try (Scheduler scheduler = start(3, policy(steals))) {
      List<Fiber<Void>> fibers = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        int index = i % 3;
        fibers.add(
            scheduler.go(
                FiberOptions.named("bound").onThread(index),
                () -> {
                  for (int slice = 0; slice < 20; slice++) {
                    assertOn(scheduler, index);
                    Fiber.yield();
                    assertOn(scheduler, index);
                    Fiber.sleep(Duration.ofNanos(1));
                    assertOn(scheduler, index);
                    Fiber.suspend();
                  }
                  assertOn(scheduler, index);
                }));
      }
      Thread waker =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (fibers.stream().anyMatch(f -> f.status() != Fiber.Status.DONE)) {
                      fibers.forEach(scheduler::schedule);
                      Thread.onSpinWait();
                    }
                  });
      for (Fiber<Void> fiber : fibers) {
        fiber.join();
      }
      waker.join();
    }
  }

  @Test
  @Feature("S6")
  void aBadIndexIsRefused() throws Exception {
    try (Scheduler scheduler = start(2, Policy.fifo())) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> scheduler.go(FiberOptions.named("x").onThread(2), () -> {}))
          .withMessage("thread must be between 0 and 1, not 2");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> FiberOptions.named("x").onThread(-1))
          .withMessage("thread must be 0 or more, not -1");
      assertThatIllegalArgumentException().isThrownBy(() -> new FiberOptions("x", 0, -2));
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                assertThatIllegalArgumentException()
                    .isThrownBy(() -> Fiber.switchTo(7))
                    .withMessage("thread must be between 0 and 1, not 7");
                assertThatIllegalArgumentException().isThrownBy(() -> Fiber.switchTo(-1));
                Fiber.yield();
              });
      fiber.join();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> scheduler.schedule(fiber, 2))
          .withMessage("thread must be between 0 and 1, not 2");
      assertThat(scheduler.stats().begun()).isEqualTo(1);
    }
  }

  @Test
  @Feature("S6")
  void scheduleMovesASuspendedFiberToAThread() throws Exception {
    try (Scheduler scheduler = start(2, Policy.fifo())) {
      for (int index : new int[] {1, 0}) {
        Fiber<Void> fiber =
            scheduler.go(
                () -> {
                  Fiber.suspend();
                  assertOn(scheduler, index);
                  Fiber.yield();
                  assertOn(scheduler, index);
                });
        waits(fiber);
        scheduler.schedule(fiber, index);
        fiber.join();
      }
    }
  }

  // ---- moving ----

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Feature("S7")
  void switchToMovesToAThreadForGood(boolean steals) throws Exception {
    try (Scheduler scheduler = start(3, policy(steals))) {
      scheduler
          .go(
              () -> {
                for (int i = 0; i < 60; i++) {
                  Fiber.switchTo(i % 3);
                  assertOn(scheduler, i % 3);
                  Fiber.yield();
                  assertOn(scheduler, i % 3);
                  Fiber.switchTo(i % 3);
                  assertOn(scheduler, i % 3);
                }
              })
          .join();
    }
  }

  @Test
  @Feature({"S6", "S7"})
  void aFiberThatWasStolenCanBeBoundToTheThreadItIsOn() throws Exception {
    try (Scheduler scheduler = start(2, Policy.workStealing())) {
      AtomicReference<Fiber<Void>> stolen = new AtomicReference<>();
      CountDownLatch bound = new CountDownLatch(1);
      scheduler
          .go(
              FiberOptions.named("victim").onThread(0),
              () -> {
                stolen.set(
                    scheduler.go(
                        () -> {
                          assertOn(scheduler, 1);
                          Fiber.switchTo(1);
                          bound.countDown();
                          for (int i = 0; i < 50; i++) {
                            Fiber.sleep(Duration.ofNanos(1));
                            assertOn(scheduler, 1);
                          }
                        }));
                scheduler.go(() -> {}); // two ready fibers make an idle worker steal
                while (bound.getCount() > 0) { // no scheduling point: both must be stolen
                  Thread.onSpinWait();
                }
              })
          .join();
      stolen.get().join();
    }
  }

  @Test
  @Feature("S7")
  void switchToMovesToAnotherScheduler() throws Exception {
    Scheduler from = start(2, Policy.fifo());
    Scheduler to = start(2, Policy.workStealing());
    ThreadLocal<String> local = new ThreadLocal<>();
    CountDownLatch moved = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    Fiber<String> fiber =
        from.go(
            FiberOptions.named("wanderer").onThread(1),
            () -> {
              local.set("mine");
              Fiber.switchTo(to);
              assertThat(Scheduler.current()).contains(to);
              assertThat(Fiber.current().orElseThrow().scheduler()).isSameAs(to);
              assertThat(Thread.currentThread().toString()).contains("@" + to.name() + "-");
              moved.countDown();
              release.await();
              assertThat(Scheduler.current()).contains(to);
              return local.get();
            });
    moved.await();
    assertThat(from.dump().fibers()).isEmpty();
    assertThat(to.dump().fibers()).extracting(FiberDump.Entry::name).containsExactly("wanderer");
    from.stop(); // does not wait for fibers that have switched away
    assertThat(fiber.status()).isNotEqualTo(Fiber.Status.DONE);
    release.countDown();
    to.stop(); // waits for fibers that have switched to it
    assertThat(fiber.status()).isEqualTo(Fiber.Status.DONE);
    assertThat(fiber.join()).isEqualTo("mine");
    for (Scheduler scheduler : new Scheduler[] {from, to}) {
      assertThat(scheduler.stats().begun()).isEqualTo(1);
      assertThat(scheduler.stats().ended()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Feature("S7")
  void switchToItsOwnSchedulerOnlyUnbindsIt(boolean steals) throws Exception {
    try (Scheduler scheduler = start(3, policy(steals))) {
      scheduler
          .go(
              FiberOptions.named("f").onThread(1),
              () -> {
                for (int i = 0; i < 10; i++) {
                  Fiber.switchTo(scheduler);
                  assertThat(Scheduler.current()).contains(scheduler);
                  Fiber.yield();
                }
              })
          .join();
    }
  }

  @Test
  @Feature("S7")
  void aFiberThatCannotMoveGoesOnWhereItWas() throws Exception {
    Scheduler stopped = start(1, Policy.fifo());
    stopped.stop();
    try (Scheduler scheduler = start(2, Policy.fifo())) {
      scheduler
          .go(
              FiberOptions.named("f").onThread(1),
              () -> {
                assertThatExceptionOfType(RejectedExecutionException.class)
                    .isThrownBy(() -> Fiber.switchTo(stopped))
                    .withMessageContaining(stopped + " has been stopped");
                assertOn(scheduler, 1);
                Fiber.yield();
                assertOn(scheduler, 1);
                Fiber.sleep(Duration.ofMillis(1));
                assertOn(scheduler, 1);
              })
          .join(Duration.ofSeconds(20));
    }
  }

  private static final AtomicReference<Scheduler> TARGET = new AtomicReference<>();
  private static final AtomicReference<Throwable> REFUSAL = new AtomicReference<>();

  /** A class with an initializer, which runs below a native frame and so pins the fiber. */
  private static final class Pinned {
    static {
      try {
        Fiber.switchTo(TARGET.get());
      } catch (IllegalStateException e) {
        REFUSAL.set(e);
      }
    }

    private Pinned() {}

    static void touch() {}
  }

  @Test
  @Feature("S7")
  void aPinnedFiberStaysAndTheMessageSaysWhy() throws Exception {
    Scheduler target = start(1, Policy.fifo());
    try (Scheduler scheduler = start(1, Policy.fifo())) {
      TARGET.set(target);
      scheduler
          .go(
              () -> {
                Pinned.touch();
                assertThat(REFUSAL.get()).hasMessageContaining("pinned");
                assertOn(scheduler, 0);
                Fiber.yield();
                assertOn(scheduler, 0);
              })
          .join();
      target.stop();
      assertThat(target.stats().begun()).isEqualTo(target.stats().ended());
      assertThat(scheduler.stats().begun()).as("counted here all the time").isEqualTo(1);
    }
  }

  @Test
  @Feature("S7")
  void afterHookDisableASwitchIsRefusedBeforeAnythingElse() throws Exception {
    try (Scheduler target = start(1, Policy.fifo());
        Scheduler scheduler = start(2, Policy.fifo())) {
      scheduler
          .go(
              FiberOptions.named("f").onThread(1),
              () -> {
                Hook.disable();
                for (Body move :
                    List.<Body>of(() -> Fiber.switchTo(target), () -> Fiber.switchTo(0))) {
                  assertThatIllegalStateException()
                      .isThrownBy(move::run)
                      .withMessageContaining("pinned to its thread by Hook.disable()");
                }
                Fiber.switchTo(1); // the thread it is already on
                Hook.enable();
                Fiber.switchTo(0);
                assertOn(scheduler, 0);
              })
          .join();
      assertThat(target.stats().begun()).isZero();
    }
  }

  @Test
  @Feature({"S7", "S8"})
  @SuppressWarnings("UnnecessaryAsync") // two threads might run the fiber, if Weft had a fault
  void aFiberThatMovesToAndFroRunsOnceAtATimeAndIsCountedOnce() throws Exception {
    Scheduler[] schedulers = {
      start(1, Policy.fifo()), start(2, Policy.workStealing()), start(2, Policy.priority())
    };
    AtomicInteger ended = new AtomicInteger();
    for (int i = 0; i < 60; i++) {
      int first = i;
      schedulers[i % 3].go(
          () -> {
            AtomicBoolean running = new AtomicBoolean(true);
            for (int k = 0; k < 200; k++) {
              Scheduler next = schedulers[(first + k) % 3];
              assertThat(running.compareAndSet(true, false)).isTrue();
              Fiber.switchTo(next);
              assertThat(running.compareAndSet(false, true)).isTrue();
              assertThat(Scheduler.current()).contains(next);
              if (k % 3 == 0) {
                Fiber.switchTo(k % next.threads());
                assertThat(Fiber.threadIndex()).isEqualTo(k % next.threads());
              }
            }
            ended.incrementAndGet();
          });
    }
    eventually("all fibers have ended", () -> ended.get() == 60);
    for (Scheduler scheduler : schedulers) {
      scheduler.stop();
      assertThat(scheduler.stats().ended()).isEqualTo(scheduler.stats().begun());
      assertThat(scheduler.dump().fibers()).isEmpty();
    }
  }

  @Test
  @Feature("S7")
  void outsideFibersSwitchToIsRefused() {
    try (Scheduler scheduler = start(1, Policy.fifo())) {
      assertThatIllegalStateException()
          .isThrownBy(() -> Fiber.switchTo(scheduler))
          .withMessageContaining("cannot switch outside a fiber");
      assertThatIllegalStateException().isThrownBy(() -> Fiber.switchTo(0));
    }
  }

  // ---- bound to none ----

  /** The sentry looks every 0.7 ms, and often finds one of the two fibers ready at that moment. */
  @Test
  void twoFibersThatTalkToEachOtherStayOnOneThread() throws Exception {
    try (Scheduler scheduler = start(2, Policy.fifo())) {
      long end = System.nanoTime() + Duration.ofMillis(500).toNanos();
      Channel<Integer> channel = Channel.rendezvous();
      Fiber<Void> receiver =
          scheduler.go(
              () -> {
                for (int value : channel) {
                  assertThat(value).isZero();
                }
              });
      scheduler.go(
          () -> {
            while (System.nanoTime() < end) {
              channel.send(0);
            }
            channel.close();
          });
      receiver.join();
      assertThat(scheduler.stats().threads())
          .as("in 700 looks; some are stolen if the machine takes a thread's core away")
          .allMatch(thread -> thread.stolen() <= 50);
    }
  }

  @Test
  void aSleepingWorkerTakesOverFromAnOverloadedWorker() throws Exception {
    try (Scheduler scheduler = start(2, Policy.fifo())) {
      AtomicBoolean helped = new AtomicBoolean();
      List<Fiber<Void>> fibers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        fibers.add(
            scheduler.go(
                () -> {
                  int home = Fiber.threadIndex();
                  while (home == 0 && !helped.get()) { // the fibers of the other thread end at once
                    Fiber.yield();
                  }
                }));
      }
      try { // it may also take over fibers that have not begun, if thread 0 loses its core first
        eventually(
            "thread 1 has taken fibers over",
            () -> scheduler.stats().threads().getLast().stolen() > 0);
      } finally {
        helped.set(true);
      }
      for (Fiber<Void> fiber : fibers) {
        fiber.join();
      }
    }
  }

  @Test
  @Feature("S18")
  void stolenFibersThatHaveEndedAreInNoDump() throws Exception {
    try (Scheduler scheduler = start(2, Policy.workStealing())) {
      Fiber<List<Long>> starter =
          scheduler.go(
              () -> {
                List<Fiber<Void>> stolen = new ArrayList<>();
                for (int i = 0; i < 1_000; i++) {
                  stolen.add(Weft.go(() -> {}));
                }
                while (!stolen.stream().allMatch(Fiber::isDone)) {
                  Thread.onSpinWait(); // this thread is busy: the other one runs all of them
                }
                return scheduler.dump().fibers().stream().map(FiberDump.Entry::id).toList();
              });
      assertThat(starter.join())
          .contains(starter.id())
          .as("and the last of the others, whose thread may not have ended yet")
          .hasSizeLessThanOrEqualTo(2);
    }
  }
}
