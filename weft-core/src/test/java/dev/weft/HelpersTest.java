package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pool of helper threads. */
@Feature("H7")
class HelpersTest {
  private static final ThreadFactory DAEMONS = Thread.ofPlatform().daemon().factory();

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Semaphore gate = new Semaphore(0);

  @AfterEach
  void stop() {
    gate.release(1_000_000);
    scheduler.stop();
  }

  private <T> Fiber<T> call(Helpers helpers, Callable<T> body) {
    return scheduler.go(() -> BlockingCall.run(Fiber.current().orElseThrow(), helpers, true, body));
  }

  private Fiber<Integer> atTheGate(Helpers helpers, List<Integer> order, int number) {
    return call(
        helpers,
        () -> {
          gate.acquire();
          order.add(number);
          return number;
        });
  }

  @Test
  void thereAreAtMostSoManyAndTheRestWaitInTheirOrder() throws Exception {
    Helpers two = new Helpers(2, DAEMONS);
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<Fiber<Integer>> fibers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Fiber<Integer> fiber = atTheGate(two, order, i);
      fibers.add(fiber);
      int busy = Math.min(i + 1, 2);
      int queued = Math.max(0, i - 1);
      eventually(
          "it is there",
          () ->
              scheduler.stats().blocking() == busy && scheduler.stats().awaitingHelper() == queued);
    }
    assertThat(two.threads()).isEqualTo(2);
    assertThat(two.queued()).isEqualTo(18);
    for (int i = 0; i < 20; i++) {
      int done = i + 1;
      gate.release();
      eventually("one more is done", () -> order.size() == done);
      int busy = Math.min(2, 20 - done);
      eventually("the next has begun", () -> scheduler.stats().blocking() == busy);
    }
    for (int i = 0; i < 20; i++) {
      // the two that are at the gate may pass it in any order
      assertThat(order.indexOf(i)).isBetween(i - 1, i + 19);
      fibers.get(i).join();
    }
    assertThat(order.subList(0, 2)).doesNotContain(3, 4, 5);
    assertThat(two.threads()).isEqualTo(2);
    assertThat(two.queued()).isZero();
  }

  @Test
  void oneServesManyCallsThatFollowEachOther() throws Exception {
    Helpers many = new Helpers(50, DAEMONS);
    scheduler
        .go(
            () -> {
              Fiber<?> self = Fiber.current().orElseThrow();
              for (int i = 0; i < 500; i++) {
                BlockingCall.run(self, many, true, () -> 1);
              }
            })
        .join();
    // a second one is made if the first is not yet back when it is asked
    assertThat(many.threads()).isBetween(1, 10);
  }

  @Test
  void itsThreadsAreDaemonsAndNamed() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    Fiber<Integer> fiber =
        scheduler.go(
            () ->
                Weft.blocking(
                    () -> {
                      inside.countDown();
                      gate.acquire();
                      return 1;
                    }));
    inside.await();
    String name = scheduler.dump().fibers().getFirst().helper();
    assertThat(Thread.getAllStackTraces().keySet())
        .filteredOn(thread -> thread.getName().equals(name))
        .singleElement()
        .satisfies(thread -> assertThat(thread.isDaemon()).isTrue());
    gate.release();
    fiber.join();
  }

  @Test
  void withoutAnyThreadTheBodyRunsWhereItIsAndThatIsSaid() throws Exception {
    AtomicBoolean exhausted = new AtomicBoolean(true);
    Helpers none = new Helpers(4, exhaustible(exhausted));
    try (LogCapture log = new LogCapture()) {
      assertThat(call(none, Fiber::threadIndex).join()).isZero();
      assertThat(log.entries("blocks the thread", "unable to create native thread")).hasSize(1);
      exhausted.set(false);
      assertThat(call(none, Fiber::threadIndex).join()).isEqualTo(-1);
      assertThat(log.entries("blocks the thread")).hasSize(1);
    }
  }

  @Test
  void withoutOneMoreThreadCallsWaitForThoseThereAre() throws Exception {
    AtomicBoolean exhausted = new AtomicBoolean();
    Helpers some = new Helpers(4, exhaustible(exhausted));
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    Fiber<Integer> first = atTheGate(some, order, 0);
    eventually("it is there", first::isOnHelper);
    exhausted.set(true);
    List<Fiber<Integer>> queued = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      queued.add(atTheGate(some, order, i));
      waits(queued.getLast());
    }
    assertThat(some.threads()).isEqualTo(1);
    gate.release(10);
    first.join();
    for (Fiber<Integer> fiber : queued) {
      fiber.join();
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4, 5);
  }

  private static ThreadFactory exhaustible(AtomicBoolean exhausted) {
    return body -> {
      if (exhausted.get()) {
        throw new OutOfMemoryError("unable to create native thread");
      }
      return DAEMONS.newThread(body);
    };
  }

  @Test
  void allGetTheirTurnUnderLoad() throws Exception {
    Helpers three = new Helpers(3, DAEMONS);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      fibers.add(
          scheduler.go(
              () -> {
                for (int k = 0; k < 20; k++) {
                  BlockingCall.run(
                      Fiber.current().orElseThrow(),
                      three,
                      true,
                      () -> {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        Thread.yield();
                        return inside.decrementAndGet();
                      });
                }
              }));
    }
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
    assertThat(most.get()).isBetween(1, 3);
    assertThat(three.threads()).isBetween(1, 3);
  }

  @Test
  void theLimitIsANumberOfOneOrMore() {
    assertThat(Helpers.limit(null))
        .isGreaterThanOrEqualTo(64)
        .isGreaterThanOrEqualTo(4 * Runtime.getRuntime().availableProcessors());
    assertThat(Helpers.limit("1")).isEqualTo(1);
    assertThat(Helpers.limit("500")).isEqualTo(500);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "many", "", "99999999999"})
  void anotherLimitIsRefused(String asked) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Helpers.limit(asked))
        .withMessage("-Dweft.blocking.threads must be a number of 1 or more, not '" + asked + "'");
  }
}
