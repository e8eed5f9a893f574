package dev.weft.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.Eventually;
import dev.weft.Scheduler;
import dev.weft.internal.channel.ChannelInsides;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.Test;

/** Channels from and to futures and publishers. */
@Feature("K3")
class ChannelAdaptersTest {
  @Test
  void aFutureIsAChannelOfOneValue() throws Exception {
    CompletableFuture<String> future = new CompletableFuture<>();
    Channel<String> channel = Channel.from(future);
    assertThat(channel.tryReceive()).isEmpty();
    future.complete("done");
    assertThat(channel.receive()).isEqualTo("done");
    assertThatExceptionOfType(ChannelClosedException.class).isThrownBy(channel::receive);
  }

  @Test
  void aFailedFutureIsAnErrorAndNoResultIsNoValue() {
    IOException cause = new IOException("planned");
    assertThatExceptionOfType(ChannelClosedException.class)
        .isThrownBy(() -> Channel.from(CompletableFuture.failedFuture(cause)).receive())
        .withCause(cause);
    assertThat(Channel.from(CompletableFuture.completedFuture(null)).stream()).isEmpty();
  }

  @Test
  void aPublisherIsReceivedFromWithBackPressure() throws Exception {
    List<Long> asked = Collections.synchronizedList(new ArrayList<>());
    List<Integer> published = Collections.synchronizedList(new ArrayList<>());
    Flow.Publisher<Integer> publisher =
        subscriber ->
            subscriber.onSubscribe(
                new Flow.Subscription() {
                  private int next;

                  @Override
                  public synchronized void request(long count) {
                    asked.add(count);
                    for (long i = 0; i < count && next < 100; i++) {
                      published.add(next);
                      subscriber.onNext(next++);
                    }
                    if (next == 100) {
                      next++;
                      subscriber.onComplete();
                    }
                  }

                  @Override
                  public void cancel() {}
                });
    Channel<Integer> channel = Channel.from(publisher, 4);
    Eventually.eventually("the buffer is full", () -> published.size() == 8);
    assertThat(asked.getFirst()).isEqualTo(4);
    assertThat(channel.receive()).isEqualTo(0);
    List<Integer> rest = channel.stream().toList();
    assertThat(rest).hasSize(99).isSorted();
    assertThat(channel.isClosed()).isTrue();
  }

  @Test
  void thePublishersErrorClosesAndClosingCancels() throws Exception {
    IOException cause = new IOException("planned");
    try (SubmissionPublisher<Integer> publisher = new SubmissionPublisher<>()) {
      Channel<Integer> channel = Channel.from(publisher, 2);
      publisher.submit(1);
      assertThat(channel.receive()).isEqualTo(1);
      publisher.closeExceptionally(cause);
      assertThatExceptionOfType(ChannelClosedException.class)
          .isThrownBy(channel::receive)
          .withCause(cause);
    }
    try (SubmissionPublisher<Integer> publisher = new SubmissionPublisher<>()) {
      Channel<Integer> channel = Channel.from(publisher, 2);
      channel.close();
      publisher.submit(1);
      Eventually.eventually(
          "the channel is unsubscribed", () -> publisher.getNumberOfSubscribers() == 0);
    }
  }

  /** Records its calls, and requests nothing by itself. */
  private static final class Notes implements Flow.Subscriber<Integer> {
    final List<Object> told = Collections.synchronizedList(new ArrayList<>());
    volatile Flow.Subscription subscription;

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
    }

    @Override
    public void onNext(Integer value) {
      told.add(value);
    }

    @Override
    public void onError(Throwable error) {
      told.add(error);
    }

    @Override
    public void onComplete() {
      told.add("complete");
    }

    void waitUntilTold(int count) {
      Eventually.eventually(
          "the subscriber is called " + count + " times", () -> told.size() >= count);
    }
  }

  private static Notes subscribe(Channel<Integer> channel) {
    Notes notes = new Notes();
    channel.publisher().subscribe(notes);
    Eventually.eventually("the subscriber is subscribed", () -> notes.subscription != null);
    return notes;
  }

  @Test
  void aChannelPublishesAsManyValuesAsAreRequested() throws Exception {
    Channel<Integer> channel = Channel.unlimited();
    for (int i = 0; i < 6; i++) {
      channel.send(i);
    }
    Notes notes = subscribe(channel);
    notes.subscription.request(2);
    notes.subscription.request(1);
    notes.waitUntilTold(3);
    assertThat(notes.told).containsExactly(0, 1, 2);
    assertThat(channel.receive()).as("no more than asked for is taken").isEqualTo(3);
    channel.close();
    notes.subscription.request(Long.MAX_VALUE);
    notes.waitUntilTold(6);
    assertThat(notes.told).containsExactly(0, 1, 2, 4, 5, "complete");
  }

  @Test
  void errorsAndBadRequestsReachTheSubscriberAndCancelEnds() throws Exception {
    IOException cause = new IOException("planned");
    Channel<Integer> failing = Channel.unlimited();
    Notes notes = subscribe(failing);
    notes.subscription.request(1);
    failing.closeWithError(cause);
    notes.waitUntilTold(1);
    assertThat(notes.told).containsExactly(cause);

    Channel<Integer> channel = Channel.unlimited();
    Notes bad = subscribe(channel);
    bad.subscription.request(0);
    bad.waitUntilTold(1);
    assertThat(bad.told.getFirst())
        .isInstanceOf(IllegalArgumentException.class)
        .hasToString(
            "java.lang.IllegalArgumentException: request must be for at least 1 value, not 0");

    Notes gone = subscribe(channel);
    gone.subscription.request(10);
    gone.subscription.cancel();
    Eventually.eventually("the receiver has left", () -> ChannelInsides.hasNoWaiters(channel));
    channel.send(1);
    assertThat(channel.receive()).isEqualTo(1);
    assertThat(gone.told).isEmpty();
  }

  @Test
  void theErrorOfAStageThatDependsOnAnotherIsItsRealCause() {
    IOException cause = new IOException("planned");
    CompletableFuture<Integer> dependent =
        CompletableFuture.<Integer>failedFuture(cause).thenApply(value -> value + 1);
    assertThatExceptionOfType(ChannelClosedException.class)
        .isThrownBy(() -> Channel.from(dependent).receive())
        .withCause(cause);
  }

  @Test
  void aSubscriberWithoutDemandGetsTheEnd() throws Exception {
    Channel<Integer> channel = Channel.unlimited();
    Notes notes = subscribe(channel);
    notes.subscription.request(1);
    channel.send(1);
    notes.waitUntilTold(1);
    IOException cause = new IOException("planned");
    channel.closeWithError(cause);
    notes.waitUntilTold(2);
    assertThat(notes.told).containsExactly(1, cause);
  }

  @Test
  void aSubscriberWithoutDemandGetsTheEndWhenOthersHaveTakenTheRest() throws Exception {
    Channel<Integer> channel = Channel.unlimited();
    Notes notes = subscribe(channel);
    channel.send(1);
    channel.send(2);
    channel.close();
    assertThat(channel.receive()).isEqualTo(1);
    assertThat(Select.<Integer>of(channel.onReceive(value -> value))).isEqualTo(2);
    notes.waitUntilTold(1);
    assertThat(notes.told).containsExactly("complete");
  }

  @Test
  void aCancelledSubscriberIsForgotten() throws Exception {
    Channel<Integer> channel = Channel.unlimited();
    for (int i = 0; i < 3; i++) {
      subscribe(channel).subscription.cancel();
    }
    Eventually.eventually("no watcher is left", () -> ChannelInsides.hasNoWatchers(channel));
  }

  @Test
  void closingCancelsTheSubscriptionToAQuietPublisher() throws Exception {
    CountDownLatch cancelled = new CountDownLatch(1);
    Flow.Publisher<Integer> quiet =
        subscriber ->
            subscriber.onSubscribe(
                new Flow.Subscription() {
                  @Override
                  public void request(long count) {}

                  @Override
                  public void cancel() {
                    cancelled.countDown();
                  }
                });
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler.go(() -> Channel.from(quiet, 4).close()).join();
    } // the publisher's fiber has ended too
    assertThat(cancelled.getCount()).isZero();
  }
}
