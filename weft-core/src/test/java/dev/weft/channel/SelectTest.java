package dev.weft.channel;

import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.within;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.channel.ChannelInsides;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One of several sends and receives. */
@Feature("K4")
class SelectTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Channel<Integer> a = Channel.rendezvous();
  private final Channel<Integer> b = Channel.rendezvous();

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  private Fiber<String> selecting() {
    Fiber<String> fiber =
        scheduler.go(
            () -> Select.of(a.onReceive(value -> "a" + value), b.onReceive(value -> "b" + value)));
    waits(fiber);
    return fiber;
  }

  private void assertNoWaiterIsLeft() {
    for (Channel<Integer> each : List.of(a, b)) {
      assertThat(ChannelInsides.hasNoWaiters(each)).isTrue();
    }
  }

  @Test
  void aSelectWaitsForTheFirstReadyClause() throws Exception {
    Fiber<String> fiber = selecting();
    b.send(1);
    assertThat(fiber.join()).isEqualTo("b1");
    assertNoWaiterIsLeft();
    fiber = selecting();
    a.send(2);
    assertThat(fiber.join()).isEqualTo("a2");
    assertNoWaiterIsLeft();
  }

  @Test
  void aReadyClauseIsTakenAtOnce() throws Exception {
    Fiber<Void> sender = scheduler.go(() -> b.send(1));
    waits(sender);
    assertThat(
            Select.<String>of(a.onReceive(value -> "a" + value), b.onReceive(value -> "b" + value)))
        .isEqualTo("b1");
    sender.join();
    Fiber<Integer> receiver = scheduler.go(() -> a.receive());
    waits(receiver);
    assertThat(Select.<String>of(a.onSend(2, () -> "sent"), b.onSend(3, () -> "not")))
        .isEqualTo("sent");
    assertThat(receiver.join()).isEqualTo(2);
    assertNoWaiterIsLeft();
  }

  @Test
  void sendsWaitToo() throws Exception {
    Fiber<String> fiber =
        scheduler.go(() -> Select.of(a.onSend(1, () -> "a"), b.onSend(2, () -> "b")));
    waits(fiber);
    assertThat(b.receive()).isEqualTo(2);
    assertThat(fiber.join()).isEqualTo("b");
    assertThat(a.tryReceive()).isEmpty();
    assertNoWaiterIsLeft();
  }

  @Test
  void sendingAndReceivingInOne() throws Exception {
    Fiber<String> fiber =
        scheduler.go(() -> Select.of(a.onSend(1, () -> "sent"), b.onReceive(value -> "got")));
    waits(fiber);
    b.send(2);
    assertThat(fiber.join()).isEqualTo("got");
    assertThat(a.tryReceive()).isEmpty();
    assertNoWaiterIsLeft();
  }

  @Test
  void aChannelWithItselfDoesNotMeetItself() throws Exception {
    Fiber<String> fiber =
        scheduler.go(
            () -> Select.of(a.onSend(1, () -> "sent"), a.onReceive(value -> "got " + value)));
    waits(fiber);
    assertThat(a.receive()).isEqualTo(1);
    assertThat(fiber.join()).isEqualTo("sent");
    assertNoWaiterIsLeft();
    fiber =
        scheduler.go(
            () -> Select.of(a.onSend(1, () -> "sent"), a.onReceive(value -> "got " + value)));
    waits(fiber);
    a.send(2);
    assertThat(fiber.join()).isEqualTo("got 2");
    assertNoWaiterIsLeft();
  }

  @Test
  void twoSelectsOnAChannelWithItselfMeetEachOther() throws Exception {
    List<Fiber<String>> fibers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      fibers.add(
          scheduler.go(
              () -> Select.of(a.onSend(1, () -> "sent"), a.onReceive(value -> "got " + value))));
    }
    assertThat(List.of(fibers.get(0).join(), fibers.get(1).join()))
        .containsExactlyInAnyOrder("sent", "got 1");
    assertNoWaiterIsLeft();
  }

  @Test
  void theSameChannelTwice() throws Exception {
    Fiber<String> fiber =
        scheduler.go(
            () ->
                Select.of(a.onReceive(value -> "first"), a.onReceive(value -> "second " + value)));
    waits(fiber);
    a.send(1);
    assertThat(fiber.join()).isIn("first", "second 1");
    assertThat(a.trySend(2)).as("the other place is gone").isFalse();
    assertNoWaiterIsLeft();
  }

  @Test
  void selectMeetsSelect() throws Exception {
    Fiber<String> fiber = selecting();
    assertThat(
            Select.<String>of(
                b.onSend(1, () -> "sent"), Channel.<Integer>rendezvous().onReceive(v -> "")))
        .isEqualTo("sent");
    assertThat(fiber.join()).isEqualTo("b1");
    assertNoWaiterIsLeft();
  }

  @Test
  void selectsInOppositeOrdersDoNotDeadlock() throws Exception {
    try (Scheduler two = Scheduler.builder().threads(2).build().start()) {
      int count = 20_000;
      Fiber<Integer> one =
          two.go(
              () -> {
                int received = 0;
                for (int i = 0; i < count; i++) {
                  received += Select.<Integer>of(a.onReceive(value -> value), b.onSend(1, () -> 0));
                }
                return received;
              });
      Fiber<Integer> other =
          two.go(
              () -> {
                int received = 0;
                for (int i = 0; i < count; i++) {
                  received += Select.<Integer>of(b.onReceive(value -> value), a.onSend(1, () -> 0));
                }
                return received;
              });
      assertThat(one.join() + other.join()).isEqualTo(count);
    }
    assertNoWaiterIsLeft();
  }

  @Test
  void aSelectIsFairAmongReadyClauses() throws Exception {
    Channel<Integer> never = Channel.rendezvous();
    List<Channel<Integer>> ready = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Channel<Integer> each = Channel.unlimited();
      for (int j = 0; j < 10_000; j++) {
        each.send(i);
      }
      ready.add(each);
    }
    int[] chosen = new int[3];
    for (int i = 0; i < 9_000; i++) {
      chosen[
          Select.<Integer>of(
              never.onReceive(value -> -1),
              ready.get(0).onReceive(value -> value),
              never.onReceive(value -> -1),
              ready.get(1).onReceive(value -> value),
              ready.get(2).onReceive(value -> value))]++;
    }
    for (int each : chosen) { // 8 standard deviations
      assertThat(each).isCloseTo(3_000, within(360));
    }
  }

  @Test
  void aTimeoutIsChosenWhenNoOtherClauseIs() throws Exception {
    for (Duration limit : List.of(Duration.ofMillis(2), Duration.ZERO, Duration.ofMillis(-5))) {
      long start = System.nanoTime();
      Fiber<String> fiber =
          scheduler.go(
              () ->
                  Select.of(
                      a.onReceive(value -> "a"),
                      Select.timeout(limit, () -> "late"),
                      Select.timeout(LONG, () -> "very late"),
                      b.onSend(1, () -> "b")));
      assertThat(fiber.join()).isEqualTo("late");
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(limit.toNanos());
      assertNoWaiterIsLeft();
    }
    assertThat(scheduler.go(() -> Select.of(Select.timeout(Duration.ZERO, () -> "only"))).join())
        .isEqualTo("only");
  }

  @Test
  void aTimeoutLosesAgainstAReadyClause() throws Exception {
    Channel<Integer> full = Channel.buffered(1);
    full.send(1);
    assertThat(
            Select.<Integer>of(
                Select.timeout(Duration.ZERO, () -> -1), full.onReceive(value -> value)))
        .isEqualTo(1);
    Fiber<String> fiber =
        scheduler.go(
            () -> Select.of(a.onReceive(value -> "in time"), Select.timeout(LONG, () -> "late")));
    waits(fiber);
    a.send(1);
    assertThat(fiber.join()).isEqualTo("in time");
    assertThat(scheduler.stats().threads().getFirst().timers()).as("timers left").isZero();
  }

  @Test
  void otherwiseIsChosenIfNothingIsReady() throws Exception {
    assertThat(
            Select.<String>of(
                a.onReceive(value -> "a"),
                b.onSend(1, () -> "b"),
                Select.timeout(Duration.ZERO, () -> "late"),
                Select.otherwise(() -> "otherwise")))
        .isEqualTo("otherwise");
    assertThat(Select.<String>of(Select.otherwise(() -> "only"))).isEqualTo("only");
    Fiber<Void> sender = scheduler.go(() -> a.send(7));
    waits(sender);
    assertThat(
            Select.<String>of(
                Select.otherwise(() -> "otherwise"), a.onReceive(value -> "a" + value)))
        .isEqualTo("a7");
    assertNoWaiterIsLeft();
  }

  @Test
  void badSelectsAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Select.of())
        .withMessage("select needs at least one clause");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Select.of(Select.otherwise(() -> 1), Select.otherwise(() -> 2)))
        .withMessage("select takes one otherwise, not two");
    assertThatNullPointerException().isThrownBy(() -> Select.timeout(null, () -> 1));
    assertThatNullPointerException().isThrownBy(() -> Select.of(a.onReceive(v -> v), null));
  }

  @Test
  void clausesCanBeUsedAgain() throws Exception {
    Channel<Integer> queue = Channel.unlimited();
    Select.Clause<Integer> send = queue.onSend(5, () -> 0);
    Select.Clause<Integer> receive = queue.onReceive(value -> value);
    int sum = 0;
    for (int i = 0; i < 100; i++) {
      Select.of(send);
      sum += Select.of(receive);
    }
    assertThat(sum).isEqualTo(500);
  }

  @Test
  void theFunctionOfTheChosenClauseRunsInTheSelectingFiberOutsideEveryLock() throws Exception {
    Fiber<Boolean> fiber =
        scheduler.go(
            () -> {
              Fiber<?> self = Fiber.current().orElseThrow();
              return Select.of(
                  a.onReceive(
                      value -> {
                        assertThat(a.trySend(1)).isFalse(); // would spin for ever under the lock
                        Fiber.yield();
                        return Fiber.current().orElseThrow() == self;
                      }),
                  b.onReceive(value -> false));
            });
    waits(fiber);
    a.send(1);
    assertThat(fiber.join()).isTrue();
  }

  @Test
  void anExceptionOfTheFunctionComesOut() {
    Channel<Integer> queue = Channel.unlimited();
    assertThat(queue.trySend(1)).isTrue();
    Fiber<Object> fiber =
        scheduler.go(
            () ->
                Select.of(
                    queue.onReceive(
                        value -> {
                          throw new IllegalStateException("planned " + value);
                        })));
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(fiber::join)
        .withCauseInstanceOf(IllegalStateException.class)
        .withMessageContaining("planned 1");
    assertThat(queue.tryReceive()).as("the value was received").isEmpty();
  }

  @Test
  @Feature("K6")
  void plainThreadsSelect() throws Exception {
    FutureTask<String> task =
        new FutureTask<>(
            () ->
                Select.of(
                    a.onReceive(value -> "a" + value),
                    b.onReceive(value -> "b" + value),
                    Select.timeout(LONG, () -> "late")));
    Thread.ofPlatform().daemon().start(task);
    b.send(3);
    assertThat(task.get()).isEqualTo("b3");
    assertThat(
            Select.<String>of(
                a.onReceive(value -> "a"), Select.timeout(Duration.ofMillis(2), () -> "late")))
        .isEqualTo("late");
    assertNoWaiterIsLeft();
  }

  @Test
  @Feature("S18")
  void dumpsSayWhatAWaiterWaitsFor() throws Exception {
    Fiber<String> fiber = selecting();
    assertThat(scheduler.dump().text())
        .contains("waits for a value from " + a + ", or a value from " + b);
    a.send(1);
    fiber.join();
  }

  @Test
  void badClausesAreRefusedAlsoIfSomethingIsReady() throws Exception {
    Channel<Integer> ready = Channel.unlimited();
    for (int i = 0; i < 2; i++) {
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  Select.of(
                      ready.onReceive(value -> value),
                      Select.otherwise(() -> 1),
                      Select.otherwise(() -> 2)))
          .withMessage("select takes one otherwise, not two");
      assertThatNullPointerException()
          .isThrownBy(() -> Select.of(ready.onReceive(value -> value), null))
          .withMessage("clause");
      ready.send(1); // now the clause is ready
    }
    assertThat(ready.stream().limit(2)).containsExactly(1, 1);
  }
}
