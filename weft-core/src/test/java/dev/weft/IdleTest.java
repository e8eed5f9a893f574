package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** An idle scheduler costs nothing. */
@Feature("S9")
@SuppressWarnings("UnnecessaryAsync")
class IdleTest {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final Duration WHILE = Duration.ofSeconds(1);

  private static List<Thread> threadsOf(Scheduler scheduler) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            thread ->
                thread.getName().startsWith(scheduler.name() + "-")
                    || thread.getName().equals("weft-watchdog"))
        .toList();
  }

  private static long cpuNanos(List<Thread> threads) {
    return threads.stream().mapToLong(thread -> THREADS.getThreadCpuTime(thread.threadId())).sum();
  }

  private static long sleeps(Scheduler scheduler) {
    return scheduler.stats().threads().stream().mapToLong(SchedulerStats.OfThread::sleeps).sum();
  }

  /**
   * Waits until all threads are in their pollers: a sleep is counted just before. And until no
   * thread has woken for a moment: after the last slice sleeping threads look a few times, every
   * 0.7 ms, whether another slice grows long.
   */
  private static void awaitQuiet(Scheduler scheduler) {
    eventually(
        "no thread wakes",
        () -> {
          long sleeps = sleeps(scheduler);
          LockSupport.parkNanos(10_000_000);
          return sleeps(scheduler) == sleeps;
        });
    eventually(
        "all threads sleep",
        () ->
            scheduler.stats().threads().stream().allMatch(SchedulerStats.OfThread::asleep)
                && threadsOf(scheduler).stream()
                    .filter(thread -> !thread.getName().equals("weft-watchdog"))
                    .allMatch(IdleTest::isInPoller));
  }

  private static boolean isInPoller(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().endsWith("Poller") && frame.getMethodName().equals("await"));
  }

  /**
   * Measures a scheduler while it is idle. Work that is done once in a JVM, such as the load of the
   * classes for JMX, may fall into the first seconds: one second must be without it.
   */
  private static void assertIdle(Scheduler scheduler) throws InterruptedException {
    awaitQuiet(scheduler);
    List<Thread> threads = threadsOf(scheduler);
    assertThat(threads).hasSizeGreaterThan(scheduler.threads());
    long sleeps = sleeps(scheduler);
    List<Duration> seconds = new ArrayList<>();
    do {
      long cpu = cpuNanos(threads);
      Thread.sleep(WHILE); // the measured time
      seconds.add(Duration.ofNanos(cpuNanos(threads) - cpu));
    } while (seconds.size() < 5 && seconds.getLast().compareTo(WHILE.dividedBy(100)) >= 0);
    assertThat(seconds)
        .as("CPU time")
        .last()
        .matches(cpu -> cpu.compareTo(WHILE.dividedBy(100)) < 0);
    assertThat(sleeps(scheduler) - sleeps).as("wake-ups").isZero();
  }

  @Test
  void withoutFibersNothingRuns() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(3).build().start()) {
      scheduler.go(() -> Fiber.yield()).join();
      assertIdle(scheduler);
    }
  }

  @Test
  void withFibersThatWaitNothingRuns() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    try (Scheduler scheduler =
        Scheduler.builder().threads(2).policy(Policy.workStealing()).build().start()) {
      for (int i = 0; i < 100; i++) {
        waits(scheduler.go(() -> release.await()));
      }
      Fiber<Void> sleeper = scheduler.go(() -> Fiber.sleep(Duration.ofDays(1)));
      waits(sleeper);
      try {
        // Weft would check for a deadlock of all fibers: the sleeper's timer prevents that
        assertIdle(scheduler);
      } finally {
        sleeper.cancel();
        release.countDown(); // or close() would wait for these fibers for ever
      }
    }
  }

  @Test
  void noWorkerSpinsForFibersBoundToAnother() throws Exception {
    Scheduler scheduler =
        Scheduler.builder()
            .threads(2)
            .useCaller(true)
            .policy(Policy.workStealing())
            .build()
            .start();
    Fiber<Void> forTheCaller = scheduler.go(FiberOptions.named("f").onThread(0), () -> {});
    eventually("thread 1 sleeps", () -> scheduler.stats().threads().get(1).asleep());
    List<Thread> threads = threadsOf(scheduler);
    long cpu = cpuNanos(threads);
    Thread.sleep(300); // the measured time
    assertThat(cpuNanos(threads) - cpu).isLessThan(60_000_000);
    assertThat(forTheCaller.status()).isEqualTo(Fiber.Status.READY);
    scheduler.stop();
    forTheCaller.join();
  }

  @Test
  void aThreadIsWokenOnlyIfItSleeps() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      AtomicBoolean runs = new AtomicBoolean();
      AtomicBoolean over = new AtomicBoolean();
      Fiber<Void> busy =
          scheduler.go(
              () -> {
                runs.set(true);
                while (!over.get()) {
                  Thread.onSpinWait();
                }
              });
      eventually("the fiber runs", runs::get);
      long sleeps = sleeps(scheduler);
      for (int i = 0; i < 1_000; i++) {
        scheduler.go(() -> {});
      }
      assertThat(sleeps(scheduler)).isEqualTo(sleeps);
      over.set(true);
      busy.join();
    }
  }

  @Test
  void aWakeUpCausesASingleMoreSleep() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      for (int i = 0; i < 20; i++) {
        awaitQuiet(scheduler);
        long sleeps = sleeps(scheduler);
        scheduler.go(() -> {}).join();
        awaitQuiet(scheduler);
        assertThat(sleeps(scheduler) - sleeps).isBetween(1L, 3L);
      }
    }
  }

  @Test
  void anInterruptedCallerThreadStillSleeps() throws Exception {
    AtomicLong cpu = new AtomicLong();
    AtomicBoolean keptInterrupt = new AtomicBoolean();
    Scheduler scheduler = Scheduler.builder().threads(1).useCaller(true).build();
    Fiber<Void> fiber = scheduler.go(() -> Fiber.suspend());
    Thread caller =
        Thread.ofPlatform()
            .start(
                () -> {
                  scheduler.start();
                  scheduler.stop();
                  keptInterrupt.set(Thread.interrupted());
                });
    waits(fiber);
    caller.interrupt();
    long before = THREADS.getThreadCpuTime(caller.threadId());
    Thread.sleep(300); // the measured time
    cpu.set(THREADS.getThreadCpuTime(caller.threadId()) - before);
    scheduler.schedule(fiber);
    caller.join();
    assertThat(cpu.get()).isLessThan(60_000_000);
    assertThat(keptInterrupt).isTrue();
  }
}
