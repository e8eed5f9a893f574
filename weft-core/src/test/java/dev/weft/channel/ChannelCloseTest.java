package dev.weft.channel;

import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Closing a channel, and the values received until its end. */
@Feature({"K2", "K3"})
class ChannelCloseTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  private static void assertClosed(ThrowingCallable call, Throwable cause) {
    assertThatExceptionOfType(ChannelClosedException.class)
        .isThrownBy(call)
        .withMessageMatching("cannot (send to|receive from) channel [0-9]+ \\(.*\\): it is closed")
        .satisfies(e -> assertThat(e.getCause()).isSameAs(cause));
  }

  private static void assertEnded(Channel<Integer> channel, Throwable cause) {
    assertThat(channel.isClosed()).isTrue();
    assertClosed(() -> channel.send(1), cause);
    assertClosed(() -> channel.send(1, Duration.ofHours(1)), cause);
    assertClosed(() -> channel.trySend(1), cause);
    assertClosed(() -> Select.of(channel.onSend(1, () -> 1)), cause);
    assertClosed(channel::receive, cause);
    assertClosed(() -> channel.receive(Duration.ofHours(1)), cause);
    assertClosed(channel::tryReceive, cause);
    assertClosed(() -> Select.of(channel.onReceive(value -> value)), cause);
    assertClosed(
        () -> Select.of(channel.onReceive(value -> value), Select.otherwise(() -> 1)), cause);
  }

  @Test
  void aClosedChannelTakesNoValueAndDeliversItsBuffer() throws Exception {
    Channel<Integer> channel = Channel.buffered(5);
    channel.send(1);
    channel.send(2);
    assertThat(channel.isClosed()).isFalse();
    channel.close();
    assertThat(channel.isClosed()).isTrue();
    assertClosed(() -> channel.send(3), null);
    assertThat(channel.receive()).isEqualTo(1);
    assertThat(Select.<Integer>of(channel.onReceive(value -> value))).isEqualTo(2);
    assertEnded(channel, null);
  }

  @Test
  void anErrorIsTheCause() throws Exception {
    IOException cause = new IOException("planned");
    Channel<Integer> channel = Channel.buffered(5);
    channel.send(1);
    channel.closeWithError(cause);
    assertThat(channel.receive()).isEqualTo(1);
    assertEnded(channel, cause);
  }

  @Test
  void theFirstCloseCounts() {
    IOException cause = new IOException("planned");
    Channel<Integer> first = Channel.rendezvous();
    first.closeWithError(cause);
    first.close();
    first.closeWithError(new IOException("too late"));
    assertEnded(first, cause);
    Channel<Integer> second = Channel.unlimited();
    second.close();
    second.closeWithError(cause);
    assertEnded(second, null);
  }

  @Test
  void aWaitingReceiverFails() {
    Channel<Integer> channel = Channel.rendezvous();
    List<Fiber<?>> fibers =
        List.of(
            scheduler.go(() -> channel.receive()),
            scheduler.go(() -> channel.receive(Duration.ofHours(1))),
            scheduler.go(() -> Select.of(channel.onReceive(value -> value))),
            scheduler.go(
                () ->
                    Select.of(
                        Channel.<Integer>rendezvous().onReceive(value -> value),
                        channel.onReceive(value -> value),
                        Select.timeout(Duration.ofHours(1), () -> 0))));
    fibers.forEach(fiber -> waits(fiber));
    channel.close();
    assertAllFailed(fibers);
  }

  @Test
  void aWaitingSenderFailsAndItsValueIsNotReceived() throws Exception {
    Channel<Integer> channel = Channel.buffered(1);
    channel.send(0);
    List<Fiber<?>> fibers =
        List.of(
            scheduler.go(() -> channel.send(1)),
            scheduler.go(() -> channel.send(2, Duration.ofHours(1))),
            scheduler.go(() -> Select.of(channel.onSend(3, () -> 3))),
            scheduler.go(
                () ->
                    Select.of(
                        Channel.<Integer>rendezvous().onReceive(value -> value),
                        channel.onSend(4, () -> 4))));
    fibers.forEach(fiber -> waits(fiber));
    channel.close();
    assertAllFailed(fibers);
    assertThat(channel.receive()).isEqualTo(0);
    assertEnded(channel, null);
  }

  private static void assertAllFailed(List<Fiber<?>> fibers) {
    for (Fiber<?> fiber : fibers) {
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(fiber::join)
          .withCauseInstanceOf(ChannelClosedException.class);
    }
  }

  @Test
  void aLoopEndsWithTheChannel() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Void> producer =
        scheduler.go(
            () -> {
              try (channel) {
                for (int i = 0; i < 100; i++) {
                  channel.send(i);
                }
              }
            });
    List<Integer> received = new ArrayList<>();
    for (int value : channel) {
      received.add(value);
    }
    producer.join();
    assertThat(received).hasSize(100).isSorted();
  }

  @Test
  void aStreamIsLazyAndEndsWithTheChannel() throws Exception {
    Channel<Integer> channel = Channel.unlimited();
    for (int i = 0; i < 10; i++) {
      channel.send(i);
    }
    assertThat(channel.stream().limit(3).toList()).containsExactly(0, 1, 2);
    assertThat(channel.receive()).as("no value more than asked for is taken").isEqualTo(3);
    channel.close();
    assertThat(channel.stream().mapToInt(i -> i).sum()).isEqualTo(4 + 5 + 6 + 7 + 8 + 9);
  }

  @Test
  void anIteratorKeepsToItsContract() throws Exception {
    Channel<Integer> channel = Channel.unlimited();
    channel.send(1);
    channel.send(2);
    channel.close();
    Iterator<Integer> iterator = channel.iterator();
    assertThat(iterator.hasNext()).isTrue();
    assertThat(iterator.hasNext()).isTrue();
    assertThat(iterator.next()).isEqualTo(1);
    assertThat(iterator.next()).isEqualTo(2);
    assertThat(iterator.hasNext()).isFalse();
    assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(iterator::next);
  }

  @Test
  void aLoopThrowsTheErrorOfTheChannel() throws Exception {
    IOException cause = new IOException("planned");
    Channel<Integer> channel = Channel.unlimited();
    channel.send(1);
    channel.closeWithError(cause);
    List<Integer> received = new ArrayList<>();
    assertClosed(
        () -> {
          for (int value : channel) {
            received.add(value);
          }
        },
        cause);
    assertThat(received).containsExactly(1);
  }

  @Test
  void aCancelledLoopThrows() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Boolean> fiber =
        scheduler.go(
            () -> {
              assertThatExceptionOfType(CancellationException.class)
                  .isThrownBy(() -> channel.iterator().hasNext())
                  .withCauseInstanceOf(InterruptedException.class);
              return Thread.interrupted();
            });
    waits(fiber);
    fiber.thread().interrupt();
    assertThat(fiber.join()).isTrue();
  }
}
