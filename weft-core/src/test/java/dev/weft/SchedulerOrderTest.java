package dev.weft;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The thread and the order in which submitted bodies run. */
class SchedulerOrderTest {
  private final List<String> log = Collections.synchronizedList(new ArrayList<>());

  private static Scheduler onCaller(int threads) {
    return Scheduler.builder().threads(threads).useCaller(true).build();
  }

  private static List<String> threadsNamedAfter(Scheduler scheduler) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith(scheduler.name() + "-"))
        .sorted()
        .toList();
  }

  /** Returns the name of the platform thread that runs the current fiber. */
  private static String carrier() {
    String description = Thread.currentThread().toString();
    return description.substring(description.indexOf('@') + 1);
  }

  @Test
  @Feature("S1")
  void goOnlySubmits() throws Exception {
    Scheduler scheduler = onCaller(1);
    scheduler.go(() -> log.add("outside"));
    scheduler.start();
    scheduler.go(
        () -> {
          scheduler.go(() -> log.add("inside"));
          Weft.go(() -> log.add("by Weft"));
          scheduler.execute(() -> log.add("executed"));
          log.add("submitted");
        });
    assertThat(log).isEmpty();
    scheduler.stop();
    assertThat(log).containsExactly("outside", "submitted", "inside", "by Weft", "executed");
  }

  @Test
  @Feature("S1")
  void onOneThreadBodiesStartInTheOrderTheyWereSubmitted() {
    List<Integer> order = new ArrayList<>();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build()) {
      IntStream.range(0, 500).forEach(i -> scheduler.go(() -> order.add(i)));
      scheduler.start();
    }
    assertThat(order).isEqualTo(IntStream.range(0, 500).boxed().toList());

    order.clear();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler.go(() -> IntStream.range(0, 500).forEach(i -> scheduler.go(() -> order.add(i))));
    }
    assertThat(order).isEqualTo(IntStream.range(0, 500).boxed().toList());
  }

  @Test
  @Feature("S1")
  void fibersSubmitMoreToAnyDepth() {
    AtomicInteger depth = new AtomicInteger();
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      scheduler.go(() -> submitDeeper(scheduler, depth));
    }
    assertThat(depth).hasValue(20_000);
  }

  private static void submitDeeper(Scheduler scheduler, AtomicInteger depth) {
    if (depth.incrementAndGet() < 20_000) {
      scheduler.go(() -> submitDeeper(scheduler, depth));
    }
  }

  @Test
  @Feature("S2")
  void withOneThreadAndTheCallerNoThreadIsMadeAndStopDoesTheWork() {
    String caller = Thread.currentThread().getName();
    Scheduler scheduler = onCaller(1).start();
    for (int i = 0; i < 3; i++) {
      scheduler.go(
          () -> {
            Fiber.yield();
            log.add(carrier() + " " + Fiber.threadIndex());
          });
    }
    assertThat(threadsNamedAfter(scheduler)).isEmpty();
    assertThat(scheduler.threads()).isEqualTo(1);
    assertThat(log).isEmpty();
    scheduler.stop();
    assertThat(log).hasSize(3).containsOnly(caller + " 0");
    assertThat(Fiber.current()).isEmpty();
  }

  @Test
  @Feature("S2")
  void ifTheCallerIsAFiberAThreadReplacesItInsideStop() throws Exception {
    try (Scheduler outer = Scheduler.builder().threads(1).build().start()) {
      outer
          .go(
              () -> {
                Scheduler scheduler = onCaller(1).start();
                scheduler.go(
                    () -> {
                      Fiber.yield();
                      log.add(carrier() + " " + Fiber.threadIndex());
                    });
                assertThat(threadsNamedAfter(scheduler)).isEmpty();
                assertThat(log).isEmpty();
                outer.go(() -> log.add("the fiber's thread is free")).join();
                scheduler.stop();
                assertThat(log)
                    .containsExactly("the fiber's thread is free", scheduler.name() + "-0 0");
                assertThat(threadsNamedAfter(scheduler)).isEmpty();
                assertThat(Scheduler.current()).contains(outer);
              })
          .join();
    }
  }

  @Test
  @Feature("S2")
  void theCallerIsOneOfTheThreads() {
    String caller = Thread.currentThread().getName();
    Scheduler scheduler = onCaller(3).start();
    assertThat(scheduler.threads()).isEqualTo(3);
    assertThat(threadsNamedAfter(scheduler))
        .containsExactly(scheduler.name() + "-1", scheduler.name() + "-2");
    for (int i = 0; i < 3; i++) {
      scheduler.go(FiberOptions.named("f").onThread(i), () -> log.add(carrier()));
    }
    scheduler.stop();
    assertThat(log)
        .containsExactlyInAnyOrder(caller, scheduler.name() + "-1", scheduler.name() + "-2");
  }

  @Test
  @Feature("S2")
  void theOtherThreadsDoNotWaitForTheCaller() throws Exception {
    Scheduler scheduler = onCaller(2).start();
    for (int i = 0; i < 10; i++) {
      assertThat(scheduler.go(() -> Fiber.threadIndex()).join()).isEqualTo(1);
    }
    scheduler.stop();
  }

  @Test
  @Feature("S2")
  void withoutTheCallerAllThreadsAreItsOwnAndRunAtOnce() throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(3).name("three").build().start();
    CountDownLatch allThree = new CountDownLatch(3);
    for (int i = 0; i < 3; i++) {
      scheduler.go(
          FiberOptions.named("spin").onThread(i),
          () -> {
            log.add(carrier());
            allThree.countDown();
            while (allThree.getCount() > 0) { // without a scheduling point
              Thread.onSpinWait();
            }
          });
    }
    scheduler.stop();
    assertThat(log).containsExactlyInAnyOrder("three-0", "three-1", "three-2");
    eventually("the scheduler's threads have ended", () -> threadsNamedAfter(scheduler).isEmpty());
  }

  @Test
  @Feature({"S3", "S8"})
  void aSuspendedFiberGoesOnBehindTheFiberThatSchedulesIt() {
    Scheduler scheduler = onCaller(1);
    Fiber<Void> f1 =
        scheduler.go(
            () -> {
              log.add("f1 begin");
              log.add("f1 before");
              Fiber.suspend();
              log.add("f1 after");
            });
    scheduler.go(() -> log.add("f2"));
    scheduler.go(() -> log.add("f3"));
    scheduler.go(
        () -> {
          log.add("f4 begin");
          scheduler.schedule(f1);
          log.add("f4 end");
        });
    scheduler.start();
    scheduler.stop();
    assertThat(log)
        .containsExactly("f1 begin", "f1 before", "f2", "f3", "f4 begin", "f4 end", "f1 after");
  }

  @Test
  @Feature("S1")
  void currentKnowsTheFiberAndItsScheduler() throws Exception {
    assertThat(Scheduler.current()).isEmpty();
    assertThat(Fiber.current()).isEmpty();
    assertThat(Fiber.threadIndex()).isEqualTo(-1);
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      Fiber<Scheduler> fiber =
          scheduler.go(
              FiberOptions.named("who"),
              () -> {
                Fiber<?> self = Fiber.current().orElseThrow();
                assertThat(self.thread()).isSameAs(Thread.currentThread());
                assertThat(self.name()).isEqualTo("who");
                assertThat(self.status()).isEqualTo(Fiber.Status.RUNNING);
                assertThat(Fiber.threadIndex()).isBetween(0, 1);
                return Scheduler.current().orElseThrow();
              });
      assertThat(fiber.join()).isSameAs(scheduler).isSameAs(fiber.scheduler());
      assertThat(fiber.status()).isEqualTo(Fiber.Status.DONE);
    }
  }
}
