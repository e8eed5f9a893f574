package dev.weft;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Virtual threads that code inside a fiber starts. */
@Feature("S23")
class GuestTest {
  private static Scheduler start(int threads) {
    return Scheduler.builder().threads(threads).build().start();
  }

  private static String carrier() {
    String thread = Thread.currentThread().toString();
    return thread.substring(thread.indexOf('@') + 1);
  }

  @Test
  void guestsRunOnTheSameThreadsAsFibersOfTheSameScheduler() throws Exception {
    try (Scheduler scheduler = start(2)) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      AtomicInteger ran = new AtomicInteger();
      Runnable guest =
          () -> {
            try {
              Fiber<?> self = Fiber.current().orElseThrow();
              assertThat(self.thread()).isSameAs(Thread.currentThread());
              assertThat(self.scheduler()).isSameAs(scheduler);
              assertThat(self.status()).isEqualTo(Fiber.Status.RUNNING);
              for (int i = 0; i < 20; i++) {
                assertThat(carrier()).isEqualTo(scheduler.name() + "-" + Fiber.threadIndex());
                switch (i % 4) {
                  case 0 -> Fiber.yield();
                  case 1 -> Thread.sleep(Duration.ofNanos(1));
                  case 2 -> Fiber.sleep(Duration.ofNanos(1));
                  default -> Fiber.switchTo(i % 2);
                }
              }
              ran.incrementAndGet();
            } catch (Throwable e) {
              failure.set(e);
            }
          };
      Fiber<Void> host =
          scheduler.go(
              () -> {
                Thread.ofVirtual().name("first").start(guest).join();
                Thread.startVirtualThread(guest).join();
                Thread unstarted = Thread.ofVirtual().unstarted(guest);
                unstarted.start();
                unstarted.join();
                Thread inGuest =
                    Thread.ofVirtual()
                        .start(() -> Thread.ofVirtual().name("guest's guest").start(guest));
                inGuest.join();
                Fiber<?> self = Fiber.current().orElseThrow();
                assertThat(self.thread()).isSameAs(Thread.currentThread());
              });
      host.join();
      eventually("all four guests have run", () -> ran.get() == 4 || failure.get() != null);
      assertThat(failure.get()).isNull();
      eventually("the guests are counted", () -> scheduler.stats().ended() == 6);
      assertThat(scheduler.stats().begun()).isEqualTo(6);
    }
  }

  @Test
  void guestsAreInTheDumpUntilTheyEnd() throws Exception {
    try (Scheduler scheduler = start(1)) {
      CountDownLatch release = new CountDownLatch(1);
      scheduler
          .go(
              () -> {
                Thread.ofVirtual().name("Gast").start(() -> await(release));
              })
          .join();
      eventually(
          "it waits",
          () ->
              scheduler.dump().fibers().stream()
                  .anyMatch(
                      entry ->
                          entry.name().equals("Gast")
                              && entry.guest()
                              && entry.status() == Fiber.Status.WAITING));
      assertThat(scheduler.dump().text())
          .contains("(Gast) WAITING on thread 0, a guest, waits for");
      assertThat(scheduler.stats().waiting()).isEqualTo(1);
      release.countDown();
      eventually("the guest has gone", () -> scheduler.dump().fibers().isEmpty());
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void stopWaitsForGuests() {
    Scheduler scheduler = start(1);
    AtomicBoolean ended = new AtomicBoolean();
    scheduler.go(
        () -> {
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      Thread.sleep(50);
                      Thread.ofVirtual().start(() -> ended.set(true));
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    }
                  });
        });
    scheduler.stop();
    assertThat(ended).isTrue();
    assertThat(scheduler.stats().begun()).isEqualTo(3);
    assertThat(scheduler.stats().ended()).isEqualTo(3);
  }

  @Test
  void aThreadPerTaskExecutorWorks() throws Exception {
    int n = 5_000;
    try (Scheduler scheduler = start(2)) {
      int sum =
          scheduler
              .go(
                  () -> {
                    CountDownLatch all = new CountDownLatch(n);
                    List<Future<Integer>> futures = new ArrayList<>();
                    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                      for (int i = 0; i < n; i++) {
                        int value = i;
                        futures.add(
                            executor.submit(
                                () -> {
                                  assertThat(Scheduler.current()).contains(scheduler);
                                  all.countDown();
                                  all.await(); // so that all guests are live at once
                                  return value;
                                }));
                      }
                    }
                    int total = 0;
                    for (Future<Integer> future : futures) {
                      total += future.get();
                    }
                    return total;
                  })
              .join();
      assertThat(sum).isEqualTo(n * (n - 1) / 2);
      eventually("all guests are counted", () -> scheduler.stats().ended() == n + 1);
    }
  }

  /** All workers are held, so that none runs, steals or takes over a guest meanwhile. */
  @Test
  @Feature("S1")
  void withoutStealingGuestsAreDealtToTheWorkersInTurnAsFibersAre() throws Exception {
    int threads = 3;
    for (Policy policy : List.of(Policy.fifo(), Policy.priority(), Policy.responseRatio())) {
      try (Scheduler scheduler =
          Scheduler.builder().threads(threads).policy(policy).build().start()) {
        AtomicBoolean release = new AtomicBoolean();
        CountDownLatch held = new CountDownLatch(threads - 1);
        for (int i = 1; i < threads; i++) {
          scheduler.go(
              FiberOptions.named("holder").onThread(i),
              () -> {
                held.countDown();
                while (!release.get()) {
                  Thread.onSpinWait();
                }
              });
        }
        held.await();
        Fiber<List<Integer>> host =
            scheduler.go(
                FiberOptions.named("host").onThread(0),
                () -> {
                  try {
                    for (int i = 0; i < 10 * threads; i++) {
                      Thread.startVirtualThread(() -> {});
                    }
                    return scheduler.stats().threads().stream()
                        .map(SchedulerStats.OfThread::ready)
                        .toList();
                  } finally {
                    release.set(true);
                  }
                });
        assertThat(host.join()).as("%s", policy).containsExactly(10, 10, 10);
      }
    }
  }

  @Test
  void guestsOutliveTheirHostAndStayWhenItMoves() throws Exception {
    try (Scheduler first = start(1);
        Scheduler second = start(1)) {
      AtomicReference<Scheduler> where = new AtomicReference<>();
      AtomicReference<Scheduler> whereItsGuest = new AtomicReference<>();
      CountDownLatch hostHasMoved = new CountDownLatch(1);
      Fiber<Void> host =
          first.go(
              () -> {
                Thread.ofVirtual()
                    .start(
                        () -> {
                          await(hostHasMoved);
                          where.set(Scheduler.current().orElseThrow());
                          Thread.ofVirtual()
                              .start(() -> whereItsGuest.set(Scheduler.current().orElseThrow()));
                        });
                Fiber.switchTo(second);
              });
      host.join();
      hostHasMoved.countDown();
      eventually("both have run", () -> whereItsGuest.get() != null);
      assertThat(where.get()).as("a guest stays when its host moves").isSameAs(first);
      assertThat(whereItsGuest.get()).as("and its own guests are with it").isSameAs(first);
    }
  }

  @Test
  void interruptAndCancelReachGuests() throws Exception {
    try (Scheduler scheduler = start(1)) {
      AtomicReference<Fiber<?>> guest = new AtomicReference<>();
      AtomicInteger interrupted = new AtomicInteger();
      Thread[] threads = new Thread[2];
      Runnable body =
          () -> {
            guest.set(Fiber.current().orElseThrow());
            try {
              Thread.sleep(Duration.ofHours(1));
            } catch (InterruptedException e) {
              interrupted.incrementAndGet();
            }
          };
      scheduler.go(() -> threads[0] = Thread.ofVirtual().start(body)).join();
      eventually("the guest runs", () -> guest.get() != null);
      Eventually.waits(guest.get());
      threads[0].interrupt();
      eventually("the first ends", () -> guest.get().status() == Fiber.Status.DONE);
      guest.set(null);
      scheduler.go(() -> threads[1] = Thread.ofVirtual().start(body)).join();
      eventually("the guest runs", () -> guest.get() != null);
      Eventually.waits(guest.get());
      assertThat(guest.get().cancel()).isTrue();
      eventually("the second ends", () -> guest.get().status() == Fiber.Status.DONE);
      assertThat(interrupted).hasValue(2);
    }
  }

  @Test
  void virtualThreadsStartedOutsideFibersAreNoGuests() throws Exception {
    AtomicReference<Object> seen = new AtomicReference<>();
    Thread.ofVirtual().start(() -> seen.set(Fiber.current())).join();
    assertThat(seen.get()).isEqualTo(java.util.Optional.empty());
  }

  @Test
  void afterTheStopGuestsAreRejected() throws Exception {
    Thread[] late = new Thread[1];
    Scheduler scheduler = start(1);
    scheduler.go(() -> late[0] = Thread.ofVirtual().unstarted(() -> {})).join();
    scheduler.stop();
    assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(late[0]::start);
    assertThat(scheduler.stats().begun()).isEqualTo(scheduler.stats().ended());
  }
}
