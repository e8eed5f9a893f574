package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A ready fiber does not wait behind a fiber that computes while another worker sleeps. The row
 * promises a median of 1 ms on an idle machine, which {@code ./weft bench wake-while-busy}
 * measures; here the median may be 5 ms, and the best of a few medians counts, because the machine
 * may be busy. The watchdog, which takes over after 20 ms at the earliest, never meets that.
 */
@Feature("S24")
class WakeLatencyTest {
  /** Of how many wake-ups each median is. */
  private static final int ROUNDS = 9;

  /** How many medians there are at most; the first that is short enough is the last. */
  private static final int MEDIANS = 5;

  /** How long the waker computes; without the sentry the woken fiber starts after 20 ms or more. */
  private static final Duration HELD = Duration.ofMillis(40);

  private static final Duration MOST = Duration.ofMillis(5);

  private static Stream<Arguments> policies() {
    return Stream.of(
        Arguments.of("fifo", Policy.fifo()),
        Arguments.of("priority", Policy.priority()),
        Arguments.of("responseRatio", Policy.responseRatio()),
        Arguments.of("timeSlice", Policy.timeSlice(Duration.ofMillis(5))),
        Arguments.of("workStealing", Policy.workStealing()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void newFibersStartWhileTheirStarterComputes(String name, Policy policy) throws Exception {
    assertSoon(
        policy,
        () -> {
          long[] started = new long[2]; // one of the two is placed on the worker of its starter
          long start = System.nanoTime();
          List<Fiber<Void>> fibers = new ArrayList<>();
          for (int i = 0; i < started.length; i++) {
            int index = i;
            Body body = () -> started[index] = System.nanoTime();
            fibers.add(Weft.go(body));
          }
          return nanosUntilLast(fibers, started, start);
        });
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void aWokenFiberStartsWhileItsWakerComputes(String name, Policy policy) throws Exception {
    assertSoon(policy, () -> nanosUntilAllHaveStarted(1));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void theLastOfThreeWokenFibersStartsToo(String name, Policy policy) throws Exception {
    assertSoon(policy, () -> nanosUntilAllHaveStarted(3));
  }

  private static long nanosUntilAllHaveStarted(int count) throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    long[] started = new long[count];
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int index = i;
      Body body =
          () -> {
            gate.await();
            started[index] = System.nanoTime();
          };
      fibers.add(Weft.go(body));
    }
    for (Fiber<Void> fiber : fibers) {
      while (fiber.status() != Fiber.Status.WAITING) {
        Fiber.yield();
      }
    }
    long start = System.nanoTime();
    gate.countDown();
    return nanosUntilLast(fibers, started, start);
  }

  private static long nanosUntilLast(List<Fiber<Void>> fibers, long[] started, long start)
      throws InterruptedException {
    Busy.compute(HELD);
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
    return Arrays.stream(started).max().orElseThrow() - start;
  }

  private static void assertSoon(Policy policy, Callable<Long> wake) throws Exception {
    List<Duration> medians = new ArrayList<>();
    try (Scheduler scheduler = Scheduler.builder().threads(2).policy(policy).build().start()) {
      do {
        medians.add(median(scheduler, wake));
      } while (medians.getLast().compareTo(MOST) > 0 && medians.size() < MEDIANS);
    }
    assertThat(medians.getLast()).as("the last of the medians %s", medians).isLessThan(MOST);
  }

  private static Duration median(Scheduler scheduler, Callable<Long> wake) throws Exception {
    long[] nanos = new long[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
      nanos[i] = scheduler.go(wake).join();
    }
    Arrays.sort(nanos);
    return Duration.ofNanos(nanos[ROUNDS / 2]);
  }
}
