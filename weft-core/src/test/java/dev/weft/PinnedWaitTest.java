package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.channel.Channel;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Waits of a fiber that a native frame pins to its worker's thread. */
@Feature("T8")
class PinnedWaitTest {
  private static final Duration MILLISECOND = Duration.ofMillis(1);
  private static final int WAITS = 20;

  /** The watchdog, which fires the timers of held threads, would need 10 ms for each wait. */
  private static final Duration MOST = Duration.ofMillis(100);

  private static Stream<Arguments> waits() {
    Channel<String> channel = Channel.rendezvous();
    Body receive = () -> channel.receive(MILLISECOND);
    Body sleep = () -> Fiber.sleep(MILLISECOND);
    Body ofTheJdk = () -> Thread.sleep(MILLISECOND);
    Body park = () -> LockSupport.parkNanos(1_000_000);
    return Stream.of(
        Arguments.of("Fiber.sleep", sleep),
        Arguments.of("Channel.receive", receive),
        Arguments.of("Thread.sleep", ofTheJdk),
        Arguments.of("LockSupport.parkNanos", park));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("waits")
  void aWaitWithALimitEndsInTimeThoughItHoldsTheOnlyWorker(String name, Body wait)
      throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Duration best = Duration.ofHours(1);
      for (int attempt = 0; attempt < 5 && best.compareTo(MOST) > 0; attempt++) {
        Duration took = scheduler.go(takes(wait)).join();
        best = took.compareTo(best) < 0 ? took : best;
      }
      assertThat(best)
          .isBetween(MILLISECOND.multipliedBy(name.startsWith("Lock") ? 1 : WAITS), MOST);
    }
  }

  private static Callable<Duration> takes(Body wait) {
    return () -> {
      long start = System.nanoTime();
      NativeFrame.run(
          () -> {
            for (int i = 0; i < WAITS; i++) {
              wait.run();
            }
          });
      return Duration.ofNanos(System.nanoTime() - start);
    };
  }

  @Test
  void aPinnedWaitWithALimitEndsAtOnceWhenItsEventComes() throws Exception {
    Channel<String> channel = Channel.rendezvous();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> receiver =
          scheduler.go(
              () ->
                  NativeFrame.run(
                      () -> assertThat(channel.receive(Duration.ofHours(1))).contains("value")));
      channel.send("value");
      receiver.join();
    }
  }
}
