package dev.weft.internal.blocking;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weft.Fiber;
import dev.weft.ForkedJvm;
import dev.weft.LogCapture;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pool of helper threads. */
@Feature("H7")
class HelpersTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final ThreadFactory DAEMONS = Thread.ofPlatform().daemon().factory();

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Semaphore gate = new Semaphore(0);

  @AfterEach
  void stop() {
    gate.release(1_000_000);
    scheduler.stop();
  }

  private <T> Fiber<T> call(Helpers helpers, Callable<T> body) {
    return scheduler.go(
        () -> BlockingCall.run(core(Fiber.current().orElseThrow()), helpers, true, body));
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
  void aCallWithoutAFreeHelperWaitsInFifoOrder() throws Exception {
    Helpers one = new Helpers(1, LONG, DAEMONS);
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<Fiber<Integer>> fibers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      int queued = i;
      fibers.add(atTheGate(one, order, i));
      eventually( // the statistics count the fiber shortly before its call is in the queue
          "the fiber is at the gate, or its call in the queue",
          () ->
              scheduler.stats().blocking() == 1
                  && scheduler.stats().awaitingHelper() == queued
                  && one.queued() == queued);
    }
    gate.release(10);
    for (Fiber<Integer> fiber : fibers) {
      fiber.join();
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(one.queued()).isZero();
  }

  @Test
  void helpersAreMadeAsNeededUpToTheLimit() throws Exception {
    Helpers three = new Helpers(3, LONG, DAEMONS);
    List<Fiber<Integer>> fibers = new ArrayList<>();
    assertThat(three.threads()).isZero();
    for (int i = 1; i <= 5; i++) {
      int busy = Math.min(i, 3);
      fibers.add(atTheGate(three, new ArrayList<>(), i));
      eventually(
          "the fiber has a helper, or none is left", () -> scheduler.stats().blocking() == busy);
      assertThat(three.threads()).isEqualTo(busy);
    }
    eventually("the rest wait", () -> scheduler.stats().awaitingHelper() == 2);
    gate.release(5);
    for (Fiber<Integer> fiber : fibers) {
      fiber.join();
    }
    assertThat(three.threads()).isEqualTo(3);
  }

  @Test
  void aSingleHelperServesManyCallsThatFollowEachOther() throws Exception {
    Helpers many = new Helpers(50, LONG, DAEMONS);
    scheduler
        .go(
            () -> {
              Fiber<?> self = Fiber.current().orElseThrow();
              for (int i = 0; i < 500; i++) {
                BlockingCall.run(core(self), many, true, () -> 1);
              }
            })
        .join();
    // the pool makes a second helper if the first is not yet idle at the next call
    assertThat(many.threads()).isBetween(1, 10);
  }

  @Test
  void idleHelpersEnd() throws Exception {
    Helpers brief = new Helpers(3, Duration.ofMillis(1), DAEMONS);
    for (int i = 0; i < 3; i++) {
      assertThat(call(brief, Fiber::threadIndex).join()).isEqualTo(-1);
      eventually("none is left", () -> brief.threads() == 0);
    }
  }

  /** The last helper may end just when a call is queued because the limit is reached. */
  @Test
  void noCallIsLostWhenHelpersEnd() throws Exception {
    Helpers fleeting = new Helpers(2, Duration.ofNanos(1), DAEMONS);
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      fibers.add(
          scheduler.go(
              () -> {
                Fiber<?> self = Fiber.current().orElseThrow();
                for (int k = 0; k < 500; k++) {
                  BlockingCall.run(core(self), fleeting, true, () -> 1);
                }
              }));
    }
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
  }

  @Test
  void helpersAreNamedDaemonThreads() throws Exception {
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
  void withoutAnyHelperTheBodyRunsOnTheWorkerAndThatIsLogged() throws Exception {
    AtomicBoolean exhausted = new AtomicBoolean(true);
    Helpers none = new Helpers(4, LONG, exhaustible(exhausted));
    try (LogCapture log = new LogCapture()) {
      assertThat(call(none, Fiber::threadIndex).join()).isZero();
      assertThat(log.entries("blocks its worker", "unable to create native thread")).hasSize(1);
      exhausted.set(false);
      assertThat(call(none, Fiber::threadIndex).join()).isEqualTo(-1);
      assertThat(log.entries("blocks its worker")).hasSize(1);
    }
  }

  @Test
  void ifNoMoreThreadCanBeMadeCallsWaitForTheExistingHelpers() throws Exception {
    AtomicBoolean exhausted = new AtomicBoolean();
    Helpers some = new Helpers(4, LONG, exhaustible(exhausted));
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    Fiber<Integer> first = atTheGate(some, order, 0);
    eventually("the first fiber is on its helper", core(first)::isOnHelper);
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
  void allCallsAreServedUnderLoad() throws Exception {
    Helpers three = new Helpers(3, LONG, DAEMONS);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      fibers.add(
          scheduler.go(
              () -> {
                for (int k = 0; k < 20; k++) {
                  BlockingCall.run(
                      core(Fiber.current().orElseThrow()),
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
  void anyOtherLimitIsRefused(String asked) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Helpers.limit(asked))
        .withMessage("-Dweft.blocking.threads must be a number of 1 or more, not '" + asked + "'");
  }

  static final class Program {
    public static void main(String[] args) {
      for (int i = 0; i < 2; i++) {
        try {
          Weft.run(() -> System.out.println(Weft.blocking(() -> "it runs")));
        } catch (IllegalArgumentException e) {
          System.out.println(e.getMessage());
        }
      }
    }
  }

  @Test
  void thePropertyIsReadAndABadValueIsReportedEachTime() throws Exception {
    for (String[] expected :
        new String[][] {
          {"1", "it runs\n"},
          {"none", "-Dweft.blocking.threads must be a number of 1 or more, not 'none'\n"}
        }) {
      ForkedJvm.Result result =
          ForkedJvm.java(
              ForkedJvm.weftArgs(),
              "-Dweft.blocking.threads=" + expected[0],
              "-cp",
              ForkedJvm.classPathOf(
                  Weft.class,
                  Program.class,
                  MessagePassingQueue.class,
                  MpscUnboundedVarHandleArrayQueue.class),
              Program.class.getName());
      assertThat(result.output()).isEqualTo(expected[1].repeat(2));
    }
  }
}
