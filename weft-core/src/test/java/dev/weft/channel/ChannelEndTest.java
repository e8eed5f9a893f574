package dev.weft.channel;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.within;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.channel.ChannelInsides;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.FutureTask;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A value or the end of the channel: receivers learn which, without an exception. */
@Feature("K8")
class ChannelEndTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final IOException error = new IOException("planned");

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  private static Channel<Integer> holding(int... values) throws InterruptedException {
    Channel<Integer> channel = Channel.unlimited();
    for (int value : values) {
      channel.send(value);
    }
    return channel;
  }

  private static Select.Clause<String> valueOrEnd(Channel<Integer> channel) {
    return channel.onReceive(value -> "value " + value, () -> "end");
  }

  private static Select.Clause<String> never() {
    return Channel.<Integer>rendezvous().onReceive(value -> "never");
  }

  private void assertFails(ThrowingCallable call) {
    assertThatExceptionOfType(ChannelClosedException.class)
        .isThrownBy(call)
        .satisfies(e -> assertThat(e.getCause()).isSameAs(error));
  }

  // ---- receiveOrClosed ----

  @Test
  void theBufferComesFirstAndThenTheEndEachTime() throws Exception {
    Channel<Integer> channel = holding(1, 2);
    channel.close();
    assertThat(channel.isClosed()).as("closed, with values left").isTrue();
    assertThat(channel.receiveOrClosed()).contains(1);
    assertThat(channel.receiveOrClosed()).contains(2);
    assertThat(channel.receiveOrClosed()).isEmpty();
    assertThat(channel.receiveOrClosed()).isEmpty();
  }

  @Test
  void receiveOrClosedWaitsForAValueOrTheEnd() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Optional<Integer>> first = scheduler.go(() -> channel.receiveOrClosed());
    waits(first);
    channel.send(1);
    assertThat(first.join()).contains(1);
    List<Fiber<Optional<Integer>>> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Fiber<Optional<Integer>> each = scheduler.go(() -> channel.receiveOrClosed());
      waits(each);
      all.add(each);
    }
    channel.close();
    for (Fiber<Optional<Integer>> each : all) {
      assertThat(each.join()).isEmpty();
    }
  }

  @Test
  void anErrorIsNoEnd() throws Exception {
    Channel<Integer> channel = holding(1);
    channel.closeWithError(error);
    assertThat(channel.receiveOrClosed()).contains(1);
    assertFails(channel::receiveOrClosed);
    assertFails(channel::receiveOrClosed);
  }

  @Test
  void anErrorReachesAReceiverThatWaits() {
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Optional<Integer>> receiver = scheduler.go(() -> channel.receiveOrClosed());
    waits(receiver);
    channel.closeWithError(error);
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(receiver::join)
        .withCauseInstanceOf(ChannelClosedException.class)
        .withRootCauseInstanceOf(IOException.class);
  }

  @Test
  @Feature("K6")
  void plainThreadsGetTheEndToo() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    FutureTask<List<Integer>> task =
        new FutureTask<>(
            () -> {
              List<Integer> received = new ArrayList<>();
              Optional<Integer> next = channel.receiveOrClosed();
              while (next.isPresent()) {
                received.add(next.get());
                next = channel.receiveOrClosed();
              }
              return received;
            });
    Thread thread = Thread.ofPlatform().daemon().start(task);
    for (int i = 0; i < 10; i++) {
      channel.send(i);
    }
    eventually("the thread waits", () -> thread.getState() == Thread.State.WAITING);
    channel.close();
    assertThat(task.get()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }

  @Test
  @Feature("K2")
  void aSenderThatWaitsWhenTheChannelIsClosedIsNotReceived() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Void> sender = scheduler.go(() -> channel.send(1));
    waits(sender);
    channel.close();
    assertThat(channel.receiveOrClosed()).isEmpty();
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(sender::join)
        .withCauseInstanceOf(ChannelClosedException.class);
  }

  // ---- select ----

  @Test
  void aClauseMayHaveAFunctionForTheEnd() throws Exception {
    Channel<Integer> channel = holding(1);
    channel.close();
    assertThat(Select.<String>of(valueOrEnd(channel))).isEqualTo("value 1");
    assertThat(Select.<String>of(valueOrEnd(channel))).as("alone").isEqualTo("end");
    assertThat(Select.<String>of(valueOrEnd(channel), never())).isEqualTo("end");
    assertThat(Select.<String>of(valueOrEnd(channel), Select.otherwise(() -> "otherwise")))
        .as("the end is ready")
        .isEqualTo("end");
  }

  @Test
  void aWaitingSelectGetsAValueOrTheEnd() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    for (String expected : List.of("value 1", "end")) {
      List<Fiber<String>> fibers =
          List.of(
              scheduler.go(() -> Select.of(valueOrEnd(channel))),
              scheduler.go(() -> Select.of(never(), valueOrEnd(channel))),
              scheduler.go(
                  () ->
                      Select.of(
                          valueOrEnd(channel),
                          Select.timeout(Duration.ofHours(1), () -> "late"),
                          valueOrEnd(channel))));
      fibers.forEach(fiber -> waits(fiber));
      if (expected.equals("end")) {
        channel.close();
      } else {
        for (int i = 0; i < fibers.size(); i++) {
          channel.send(1);
        }
      }
      for (Fiber<String> fiber : fibers) {
        assertThat(fiber.join()).isEqualTo(expected);
      }
    }
    assertThat(ChannelInsides.hasNoWaiters(channel)).isTrue();
  }

  @Test
  void anErrorIsThrownDespiteAFunctionForTheEnd() throws Exception {
    Channel<Integer> channel = holding(1);
    channel.closeWithError(error);
    assertThat(Select.<String>of(valueOrEnd(channel))).isEqualTo("value 1");
    assertFails(() -> Select.<String>of(valueOrEnd(channel)));
    assertFails(() -> Select.<String>of(valueOrEnd(channel), never()));
    Channel<Integer> later = Channel.rendezvous();
    Fiber<String> fiber = scheduler.go(() -> Select.of(valueOrEnd(later), never()));
    waits(fiber);
    later.closeWithError(error);
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(fiber::join)
        .withRootCauseInstanceOf(IOException.class);
  }

  @Test
  void theEndIsAsLikelyAsOtherReadyClauses() throws Exception {
    Channel<Integer> ended = Channel.rendezvous();
    ended.close();
    Channel<Integer> full = Channel.unlimited();
    int ends = 0;
    for (int i = 0; i < 4_000; i++) {
      full.send(i);
      if (Select.<String>of(valueOrEnd(ended), valueOrEnd(full)).equals("end")) {
        ends++;
      }
    }
    assertThat(ends).isCloseTo(2_000, within(250)); // 8 standard deviations
    assertThat(full.size())
        .as("values of clauses that were not chosen are not received")
        .isEqualTo(ends);
  }

  @Test
  void theFunctionForTheEndRunsInTheSelectingFiberWithNoLockHeld() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Boolean> fiber =
        scheduler.go(
            () -> {
              Fiber<?> self = Fiber.current().orElseThrow();
              return Select.of(
                  channel.onReceive(
                      value -> false,
                      () -> {
                        channel.size(); // would spin for ever under the lock
                        Fiber.yield();
                        return Fiber.current().orElseThrow() == self;
                      }),
                  Channel.<Integer>rendezvous().onReceive(value -> false));
            });
    waits(fiber);
    channel.close();
    assertThat(fiber.join()).isTrue();
  }

  @Test
  void nullIsRefused() {
    Channel<Integer> channel = Channel.rendezvous();
    assertThatNullPointerException()
        .isThrownBy(() -> channel.onReceive(null, () -> 1))
        .withMessage("then");
    assertThatNullPointerException()
        .isThrownBy(() -> channel.onReceive(value -> value, null))
        .withMessage("whenClosed");
  }

  // ---- size and capacity ----

  @Test
  void theCapacityIsTheSizeOfTheBuffer() {
    assertThat(Channel.rendezvous().capacity()).isZero();
    assertThat(Channel.buffered(3).capacity()).isEqualTo(3);
    Channel<Integer> unlimited = Channel.unlimited();
    assertThat(unlimited.capacity()).isEqualTo(Integer.MAX_VALUE);
    unlimited.close();
    assertThat(unlimited.capacity()).as("after close").isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void theSizeIsTheNumberOfBufferedValues() throws Exception {
    Channel<Integer> channel = Channel.buffered(2);
    assertThat(channel.size()).isZero();
    channel.send(1);
    channel.send(2);
    Fiber<Void> sender = scheduler.go(() -> channel.send(3));
    waits(sender);
    assertThat(channel.size()).as("a sender that waits has its value").isEqualTo(2);
    channel.receive();
    sender.join();
    assertThat(channel.size()).isEqualTo(2);
    channel.close();
    assertThat(channel.size()).as("closed").isEqualTo(2);
    assertThat(channel.stream().count()).isEqualTo(2);
    assertThat(channel.size()).isZero();
  }

  @Test
  void aRendezvousChannelHoldsNothing() {
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Void> sender = scheduler.go(() -> channel.send(1));
    waits(sender);
    assertThat(channel.size()).isZero();
    assertThat(channel.tryReceive()).contains(1);
  }
}
