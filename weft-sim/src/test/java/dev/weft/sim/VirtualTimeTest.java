package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import dev.weft.Fiber;
import dev.weft.testkit.Feature;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Everything that waits for a time, or reads one, follows virtual time. */
@Feature("V1")
class VirtualTimeTest {
  private static void simulate(SimulationBody body) {
    Simulation.explore(SimulationOptions.seeds(20), body).check();
  }

  /** Checks that a wait takes exactly so long by every clock. */
  private static void takes(Duration expected, Simulation.Action wait) throws Exception {
    long nanos = System.nanoTime();
    long millis = System.currentTimeMillis();
    Instant instant = Instant.now();
    Instant byClock = Clock.systemUTC().instant();
    wait.run();
    assertThat(Duration.ofNanos(System.nanoTime() - nanos)).isEqualTo(expected);
    assertThat(Duration.ofMillis(System.currentTimeMillis() - millis)).isEqualTo(expected);
    assertThat(Duration.between(instant, Instant.now())).isEqualTo(expected);
    assertThat(Duration.between(byClock, Clock.systemUTC().instant())).isEqualTo(expected);
  }

  @Test
  void sleepTakesVirtualTimeExactly() {
    simulate(sim -> takes(Duration.ofSeconds(2), () -> Thread.sleep(2_000)));
  }

  @Test
  void timersOfWeftTakeVirtualTime() {
    simulate(
        sim -> {
          takes(Duration.ofMinutes(3), () -> Fiber.sleep(Duration.ofMinutes(3)));
          CountDownLatch rang = new CountDownLatch(3);
          takes(
              Duration.ofSeconds(30),
              () -> {
                var timer =
                    Fiber.current()
                        .orElseThrow()
                        .scheduler()
                        .timers()
                        .every(Duration.ofSeconds(10), rang::countDown);
                rang.await();
                timer.cancel();
              });
        });
  }

  @Test
  void timedWaitsOfLocksAndQueuesTakeVirtualTime() {
    simulate(
        sim -> {
          ReentrantLock lock = new ReentrantLock();
          Thread.ofVirtual()
              .start(
                  () -> {
                    lock.lock();
                    try {
                      Thread.sleep(Duration.ofHours(1));
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    } finally {
                      lock.unlock();
                    }
                  });
          Thread.sleep(1);
          takes(
              Duration.ofSeconds(9), () -> assertThat(lock.tryLock(9, TimeUnit.SECONDS)).isFalse());
          takes(
              Duration.ofSeconds(7),
              () -> assertThat(new SynchronousQueue<>().poll(7, TimeUnit.SECONDS)).isNull());
          takes(
              Duration.ofMillis(1500),
              () -> assertThat(new CountDownLatch(1).await(1500, TimeUnit.MILLISECONDS)).isFalse());
        });
  }

  @Test
  @SuppressWarnings("WaitNotInLoop") // the length of one wait is what is tested
  void timedWaitsOfMonitorsTakeVirtualTime() {
    simulate(
        sim -> {
          Object monitor = new Object();
          takes(
              Duration.ofSeconds(5),
              () -> {
                synchronized (monitor) {
                  monitor.wait(5_000);
                }
              });
        });
  }

  @Test
  void delaysOfCompletableFuturesTakeVirtualTime() {
    simulate(
        sim -> {
          takes(
              Duration.ofSeconds(4),
              () ->
                  assertThat(
                          CompletableFuture.supplyAsync(
                                  () -> "late",
                                  CompletableFuture.delayedExecutor(4, TimeUnit.SECONDS))
                              .get())
                      .isEqualTo("late"));
          takes(
              Duration.ofSeconds(6),
              () ->
                  assertThat(
                          new CompletableFuture<String>()
                              .completeOnTimeout("none", 6, TimeUnit.SECONDS)
                              .get())
                      .isEqualTo("none"));
        });
  }

  @Test
  @SuppressWarnings("JavaUtilDate") // it is what is tested
  void timersAndDatesOfJavaUtilTakeVirtualTime() {
    simulate(
        sim -> {
          List<Long> rang = new ArrayList<>();
          Date start = new Date();
          assertThat(start.toInstant()).isEqualTo(Instant.parse("2026-01-01T00:00:00Z"));
          Timer timer = new Timer("ticks");
          CountDownLatch done = new CountDownLatch(3);
          timer.schedule(
              new TimerTask() {
                @Override
                public void run() {
                  assertThat(scheduledExecutionTime()).isEqualTo(System.currentTimeMillis());
                  rang.add(new Date().getTime() - start.getTime());
                  done.countDown();
                }
              },
              5_000,
              60_000);
          takes(Duration.ofSeconds(125), done::await);
          timer.cancel();
          assertThat(rang).containsExactly(5_000L, 65_000L, 125_000L);
          assertThat(Calendar.getInstance().getTimeInMillis()).isEqualTo(start.getTime() + 125_000);
        });
  }

  @Test
  void assertTimeoutOfJUnitMeasuresVirtualTime() {
    simulate(
        sim -> {
          assertTimeout(Duration.ofSeconds(3), () -> Thread.sleep(2_000));
          assertThatThrownBy(() -> assertTimeout(Duration.ofSeconds(1), () -> Thread.sleep(2_000)))
              .isInstanceOf(AssertionError.class)
              .hasMessageContaining("1000 ms");
        });
  }

  @Test
  void scheduledExecutorsRunADayInAMoment() {
    Simulation.explore(SimulationOptions.seeds(1), VirtualTimeTest::aDay).check(); // warms up
    long begin = System.nanoTime();
    Simulation.explore(SimulationOptions.seeds(1), VirtualTimeTest::aDay).check();
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(5));
  }

  private static void aDay(Simulation sim) throws Exception {
    AtomicInteger ticks = new AtomicInteger();
    try (ScheduledExecutorService executor = Executors.newScheduledThreadPool(1)) {
      var ticking = executor.scheduleAtFixedRate(ticks::incrementAndGet, 1, 60, TimeUnit.SECONDS);
      Thread.sleep(Duration.ofHours(24));
      ticking.cancel(false);
    }
    assertThat(ticks).hasValue(24 * 60);
    assertThat(sim.elapsed()).isEqualTo(Duration.ofHours(24));
  }

  @Test
  void theTimeOutsideASimulationIsReal() throws Exception {
    simulate(sim -> Thread.sleep(Duration.ofDays(365)));
    Instant before = Instant.now();
    assertThat(before).isAfter(Instant.parse("2026-01-02T00:00:00Z"));
    Thread virtual =
        Thread.ofVirtual()
            .start(
                () -> {
                  assertThat(Duration.between(before, Instant.now()))
                      .isLessThan(Duration.ofMinutes(5));
                });
    assertThat(virtual.join(Duration.ofSeconds(30))).isTrue();
  }
}
