package dev.weft.channel;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.Eventually;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.internal.channel.ChannelInsides;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A cancel at each step of each operation: before it, while it waits, after the other side has come
 * but before the fiber has run, and concurrently. A value is always in one place.
 */
@Feature({"K5", "S15"})
class ChannelCancelTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Channel<Integer> channel = Channel.rendezvous();
  private final Channel<Integer> idle = Channel.rendezvous();

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  /** The operations that can wait; a send sends 1, a receive returns its value. */
  enum Operation {
    SEND,
    SEND_LIMITED,
    SELECT_SEND,
    SELECT_SEND_AND_MORE,
    RECEIVE,
    RECEIVE_LIMITED,
    SELECT_RECEIVE,
    SELECT_RECEIVE_AND_MORE,
    RECEIVE_OR_CLOSED,
    SELECT_RECEIVE_OR_CLOSED,
    SELECT_TWICE_AND_SWITCHED_OFF,
    ITERATE;

    boolean sends() {
      return this == SEND
          || this == SEND_LIMITED
          || this == SELECT_SEND
          || this == SELECT_SEND_AND_MORE;
    }

    boolean isChecked() {
      return this != ITERATE;
    }

    Integer run(Channel<Integer> channel, Channel<Integer> idle) throws InterruptedException {
      return switch (this) {
        case SEND -> {
          channel.send(1);
          yield 1;
        }
        case SEND_LIMITED -> channel.send(1, LONG) ? 1 : -1;
        case SELECT_SEND -> Select.of(channel.onSend(1, () -> 1));
        case SELECT_SEND_AND_MORE ->
            Select.of(
                idle.onReceive(value -> -1),
                channel.onSend(1, () -> 1),
                idle.onReceive(value -> -2),
                Select.timeout(LONG, () -> -3));
        case RECEIVE -> channel.receive();
        case RECEIVE_LIMITED -> channel.receive(LONG).orElseThrow();
        case SELECT_RECEIVE -> Select.of(channel.onReceive(value -> value));
        case SELECT_RECEIVE_AND_MORE ->
            Select.of(
                Select.timeout(LONG, () -> -3),
                idle.onReceive(value -> -1),
                channel.onReceive(value -> value));
        case RECEIVE_OR_CLOSED -> channel.receiveOrClosed().orElseThrow();
        case SELECT_RECEIVE_OR_CLOSED -> Select.of(channel.onReceive(value -> value, () -> -1));
        case SELECT_TWICE_AND_SWITCHED_OFF ->
            Select.of(
                List.of(
                    channel.onReceive(value -> value, () -> -1),
                    Select.when(false, Select.otherwise(() -> -2)),
                    channel.onReceive(value -> value),
                    Select.when(false, idle.onReceive(value -> -3))));
        case ITERATE -> channel.iterator().next();
      };
    }
  }

  private Fiber<Integer> begin(Operation operation) {
    return scheduler.go(() -> operation.run(channel, idle));
  }

  /** Performs the other side's operation, from this thread; returns whether it met a waiter. */
  private boolean meet(Operation operation) {
    return operation.sends() ? channel.tryReceive().isPresent() : channel.trySend(1);
  }

  private void assertNoWaiterIsLeft() {
    for (Channel<Integer> each : List.of(channel, idle)) {
      assertThat(each.tryReceive()).as("a sender is left at " + each).isEmpty();
      assertThat(each.trySend(5)).as("a receiver is left at " + each).isFalse();
      assertThat(ChannelInsides.hasNoWaiters(each)).isTrue();
    }
    assertThat(scheduler.stats().threads().getFirst().timers()).as("timers left").isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aCancelBeforeTheOperationFailsIt(Operation operation) throws Exception {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Fiber<Integer> fiber =
        scheduler.go(
            () -> {
              Fiber.current().orElseThrow().cancel();
              Thread.interrupted(); // a cancel is a level: it holds without the interrupt
              try {
                return operation.run(channel, idle);
              } catch (InterruptedException | CancellationException e) {
                thrown.set(e);
                throw e;
              }
            });
    assertCancelled(fiber);
    assertThat(thrown.get())
        .isInstanceOf(
            operation.isChecked() ? InterruptedException.class : CancellationException.class);
    assertNoWaiterIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void aCancelBeforeAnOperationThatNeedNotWaitFailsItToo(Operation operation) throws Exception {
    Fiber<?> other =
        operation.sends()
            ? scheduler.go(() -> channel.receive())
            : scheduler.go(() -> channel.send(1));
    waits(other);
    Fiber<Integer> fiber =
        scheduler.go(
            () -> {
              Fiber.current().orElseThrow().cancel();
              return operation.run(channel, idle);
            });
    assertCancelled(fiber);
    assertThat(other.status()).as("nothing was done").isEqualTo(Fiber.Status.WAITING);
    other.cancel();
    assertCancelled(other);
    assertNoWaiterIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void aCancelWhileTheOperationWaits(Operation operation) throws Exception {
    Fiber<Integer> fiber = begin(operation);
    waits(fiber);
    fiber.cancel();
    assertCancelled(fiber);
    assertNoWaiterIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void aCancelWhileTheOperationWaitsBetweenOthers(Operation operation) throws Exception {
    Fiber<Integer> before = begin(operation);
    waits(before);
    Fiber<Integer> fiber = begin(operation);
    waits(fiber);
    Fiber<Integer> after = begin(operation);
    waits(after);
    fiber.cancel();
    assertCancelled(fiber);
    assertThat(meet(operation)).isTrue();
    assertThat(before.join()).isEqualTo(1);
    assertThat(meet(operation)).isTrue();
    assertThat(after.join()).isEqualTo(1);
    assertThat(meet(operation)).isFalse();
    assertNoWaiterIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void afterTheOtherSideHasComeTheOperationIsDone(Operation operation) throws Exception {
    AtomicReference<Integer> result = new AtomicReference<>();
    Fiber<Integer> fiber =
        scheduler.go(
            () -> {
              result.set(operation.run(channel, idle));
              return result.get();
            });
    waits(fiber);
    boolean[] met = new boolean[1];
    scheduler
        .go(
            () -> { // on the same thread: the fiber is chosen, and cancelled before it runs
              met[0] = meet(operation);
              fiber.cancel();
            })
        .join();
    assertThat(met[0]).isTrue();
    assertCancelled(fiber);
    assertThat(result.get()).as("the received value").isEqualTo(1);
    assertNoWaiterIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void afterTheCancelTheOtherSideComesTooLate(Operation operation) throws Exception {
    AtomicReference<Integer> result = new AtomicReference<>();
    Fiber<Integer> fiber =
        scheduler.go(
            () -> {
              result.set(operation.run(channel, idle));
              return result.get();
            });
    waits(fiber);
    boolean[] met = new boolean[1];
    scheduler
        .go(
            () -> { // on the same thread: the other side comes before the fiber runs
              fiber.cancel();
              met[0] = meet(operation);
            })
        .join();
    assertCancelled(fiber);
    assertThat(result.get() != null).as("got something").isEqualTo(met[0]);
    assertNoWaiterIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void ofACancelAndAHandOverThatMeetOneTakesEffect(Operation operation) throws Exception {
    for (int i = 0; i < 300; i++) {
      AtomicReference<Integer> result = new AtomicReference<>();
      Fiber<Integer> fiber =
          scheduler.go(
              () -> {
                result.set(operation.run(channel, idle));
                return result.get();
              });
      if (i % 3 != 0) {
        waits(fiber);
      }
      Thread canceller = Thread.ofPlatform().daemon().start(fiber::cancel);
      boolean met = meet(operation);
      canceller.join();
      eventually("the fiber ends", () -> fiber.status() == Fiber.Status.DONE);
      assertThat(result.get() != null).as("got something").isEqualTo(met);
      assertNoWaiterIsLeft();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aTimeLimitAroundTheOperationEndsIt(Operation operation) throws Exception {
    Fiber<Boolean> fiber =
        scheduler.go(
            () -> {
              assertThatExceptionOfType(TimeoutException.class)
                  .isThrownBy(
                      () ->
                          Weft.withTimeout(
                              Duration.ofMillis(2), () -> operation.run(channel, idle)));
              return Thread.interrupted();
            });
    assertThat(fiber.join()).as("an interrupt is left").isFalse();
    assertNoWaiterIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptOfAPlainThreadEndsTheOperation(Operation operation) throws Exception {
    List<Throwable> thrown = new ArrayList<>();
    Callable<Optional<Integer>> body = () -> Optional.of(operation.run(channel, idle));
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    body.call();
                  } catch (Exception e) {
                    thrown.add(e);
                  }
                });
    eventually(
        "it waits",
        () ->
            thread.getState() == Thread.State.WAITING
                || thread.getState() == Thread.State.TIMED_WAITING);
    thread.interrupt();
    thread.join();
    assertThat(thrown).hasSize(1);
    assertThat(thrown.getFirst())
        .isInstanceOf(
            operation.isChecked() ? InterruptedException.class : CancellationException.class);
    assertNoWaiterIsLeft();
  }

  private static void assertCancelled(Fiber<?> fiber) {
    assertThatExceptionOfType(CancellationException.class)
        .isThrownBy(() -> fiber.join(Duration.ofSeconds(15)))
        .withNoCause();
  }

  @Test
  void aValueIsNotHandedToAFiberThatItsSchedulerGaveUpOn() throws Exception {
    Channel<Integer> channel = Channel.buffered(1);
    Scheduler scheduler = Scheduler.builder().threads(1).failOnDeadlock(true).build().start();
    Fiber<Integer> gone = scheduler.go(() -> channel.receive());
    Eventually.waits(gone);
    assertThatIllegalStateException().isThrownBy(scheduler::stop);
    channel.send(1);
    assertThat(channel.tryReceive()).contains(1);
  }
}
