package dev.weft.channel;

import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A rendezvous channel as the condition variable without a lock that libco has for the fibers of
 * one thread. The code is also in {@code docs/migration.md}.
 */
class ConditionWithoutLockTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Condition condition = new Condition();

  // the page has the code between these two lines
  // @start region="condition"
  static final class Condition {
    private final Channel<Boolean> signals = Channel.rendezvous();

    void await() throws InterruptedException {
      signals.receive();
    }

    boolean await(Duration limit) throws InterruptedException {
      return signals.receive(limit).isPresent(); // false: the limit has passed
    }

    void signal() {
      signals.trySend(true); // to the fiber that has waited longest; lost if none waits
    }

    void signalAll() {
      while (signals.trySend(true)) {}
    }
  }

  // @end

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  @Test
  void theFiberThatHasWaitedLongestIsSignalledFirst() throws Exception {
    List<Integer> order = new ArrayList<>();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                condition.await();
                order.add(number);
              });
      waits(fiber);
      fibers.add(fiber);
    }
    condition.signal();
    fibers.getFirst().join();
    assertThat(fibers.get(1).status()).isEqualTo(Fiber.Status.WAITING);
    scheduler.go(condition::signalAll).join();
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
    assertThat(order).containsExactly(0, 1, 2);
  }

  @Test
  void aTimeoutIsDistinguishedFromASignal() throws Exception {
    assertThat(scheduler.go(() -> condition.await(Duration.ofMillis(1))).join()).isFalse();
    Fiber<Boolean> fiber = scheduler.go(() -> condition.await(LONG));
    waits(fiber);
    condition.signal();
    assertThat(fiber.join()).isTrue();
  }

  @Test
  void aSignalWithoutAWaiterIsLost() throws Exception {
    condition.signal();
    condition.signalAll();
    assertThat(scheduler.go(() -> condition.await(Duration.ofMillis(1))).join()).isFalse();
  }

  @Test
  void aFiberThatWaitsAgainIsNotSignalledTwice() throws Exception {
    int[] rounds = new int[2];
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              condition.await();
              rounds[0]++;
              condition.await();
              rounds[1]++;
            });
    waits(fiber);
    scheduler.go(condition::signalAll).join();
    waits(fiber);
    assertThat(rounds).containsExactly(1, 0);
    condition.signal();
    fiber.join();
  }

  /** Producer and consumer of libco's example_cond. */
  @Test
  void onOneThreadNothingComesBetweenTheCheckAndTheWait() throws Exception {
    Queue<Integer> tasks = new ArrayDeque<>();
    Fiber<Integer> consumer =
        scheduler.go(
            () -> {
              int sum = 0;
              for (int i = 0; i < 10_000; i++) {
                while (tasks.isEmpty()) {
                  condition.await();
                }
                sum += tasks.remove();
              }
              return sum;
            });
    scheduler.go(
        () -> {
          for (int i = 0; i < 10_000; i++) {
            tasks.add(1);
            condition.signal();
            if (i % 3 == 0) {
              Fiber.yield();
            }
          }
        });
    assertThat(consumer.join()).isEqualTo(10_000);
  }

  @Test
  void thePageHasThisCode() throws IOException {
    Path root = Path.of(System.getProperty("weft.root"));
    String source =
        Files.readString(
            root.resolve("weft-core/src/test/java")
                .resolve(getClass().getName().replace('.', '/') + ".java"));
    String region =
        source.substring(
            source.indexOf("  static final class Condition"), source.indexOf("  // @end"));
    assertThat(words(Files.readString(root.resolve("docs/migration.md")))).contains(words(region));
  }

  /** Returns the text with every run of white space as one blank. */
  private static String words(String text) {
    return String.join(" ", Stream.of(text.split("\\s+")).filter(word -> !word.isEmpty()).toList());
  }
}
