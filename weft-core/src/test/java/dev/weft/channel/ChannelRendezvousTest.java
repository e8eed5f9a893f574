package dev.weft.channel;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A channel without a buffer: every send meets a receive. */
@Feature({"K1", "K2"})
class ChannelRendezvousTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Channel<Integer> channel = Channel.rendezvous();

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  private Fiber<Void> sender(int value) {
    Fiber<Void> fiber = scheduler.go(() -> channel.send(value));
    waits(fiber);
    return fiber;
  }

  private Fiber<Integer> receiver() {
    Fiber<Integer> fiber = scheduler.go(() -> channel.receive());
    waits(fiber);
    return fiber;
  }

  @Test
  void aSendWaitsForAReceive() throws Exception {
    Fiber<Void> sender = sender(1);
    assertThat(channel.receive()).isEqualTo(1);
    sender.join();
  }

  @Test
  void aReceiveWaitsForASend() throws Exception {
    Fiber<Integer> receiver = receiver();
    channel.send(1);
    assertThat(receiver.join()).isEqualTo(1);
  }

  @Test
  void sendersAreServedInFifoOrder() throws Exception {
    List<Fiber<Void>> senders = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      senders.add(sender(i));
    }
    for (int i = 0; i < 5; i++) {
      assertThat(channel.receive()).isEqualTo(i);
      senders.get(i).join();
    }
  }

  @Test
  void receiversAreServedInFifoOrder() throws Exception {
    List<Fiber<Integer>> receivers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      receivers.add(receiver());
    }
    for (int i = 0; i < 5; i++) {
      channel.send(i);
      assertThat(receivers.get(i).join()).isEqualTo(i);
    }
  }

  @Test
  void nullIsRefused() {
    assertThatNullPointerException().isThrownBy(() -> channel.send(null)).withMessage("value");
    assertThatNullPointerException().isThrownBy(() -> channel.trySend(null));
    assertThatNullPointerException().isThrownBy(() -> channel.send(null, Duration.ZERO));
    assertThatNullPointerException().isThrownBy(() -> channel.onSend(null, () -> 1));
    assertThatNullPointerException().isThrownBy(() -> channel.closeWithError(null));
    assertThat(channel.isClosed()).isFalse();
  }

  @Test
  void tryMeetsOnlyAWaiter() throws Exception {
    assertThat(channel.trySend(1)).isFalse();
    assertThat(channel.tryReceive()).isEmpty();
    Fiber<Integer> receiver = receiver();
    assertThat(channel.trySend(2)).isTrue();
    assertThat(channel.trySend(3)).isFalse();
    assertThat(receiver.join()).isEqualTo(2);
    Fiber<Void> sender = sender(4);
    assertThat(channel.tryReceive()).contains(4);
    assertThat(channel.tryReceive()).isEmpty();
    sender.join();
  }

  @Test
  void aLimitedSendGivesUp() throws Exception {
    for (Duration limit : List.of(Duration.ofMillis(2), Duration.ZERO, Duration.ofMillis(-1))) {
      long start = System.nanoTime();
      assertThat(scheduler.go(() -> channel.send(1, limit)).join()).isFalse();
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(limit.toNanos());
      assertThat(channel.send(1, limit)).as("a plain thread").isFalse();
      assertThat(channel.tryReceive()).as("was not sent").isEmpty();
    }
  }

  @Test
  void aLimitedReceiveGivesUp() throws Exception {
    for (Duration limit : List.of(Duration.ofMillis(2), Duration.ZERO, Duration.ofMillis(-1))) {
      assertThat(scheduler.go(() -> channel.receive(limit)).join()).isEmpty();
      assertThat(channel.receive(limit)).as("a plain thread").isEmpty();
      assertThat(channel.trySend(1)).as("no receiver waits").isFalse();
    }
  }

  @Test
  void timedCallsMeetInTime() throws Exception {
    Fiber<Boolean> sender = scheduler.go(() -> channel.send(1, Duration.ofHours(1)));
    waits(sender);
    assertThat(channel.receive(Duration.ofHours(1))).contains(1);
    assertThat(sender.join()).isTrue();
    assertThat(scheduler.stats().threads().getFirst().timers()).as("timers left").isZero();
  }

  @Test
  @Feature("K6")
  void plainThreadsMeetFibersAndEachOther() throws Exception {
    FutureTask<Integer> taker = new FutureTask<>(channel::receive);
    Thread thread = Thread.ofPlatform().daemon().start(taker);
    eventually("the thread waits", () -> thread.getState() == Thread.State.WAITING);
    scheduler.go(() -> channel.send(1)).join();
    assertThat(taker.get()).isEqualTo(1);

    FutureTask<Integer> second = new FutureTask<>(channel::receive);
    Thread.ofVirtual().start(second);
    channel.send(2);
    assertThat(second.get()).isEqualTo(2);
  }

  @Test
  @Feature("S18")
  void dumpsNameTheChannel() throws Exception {
    Fiber<Integer> receiver = receiver();
    assertThat(scheduler.dump().text()).contains("waits for a value from " + channel);
    assertThat(channel.toString()).matches("channel [0-9]+ \\(rendezvous\\)");
    channel.send(1);
    receiver.join();
    Fiber<Void> sender = sender(1);
    assertThat(scheduler.dump().text()).contains("waits for a receiver at " + channel);
    assertThat(channel.receive()).isEqualTo(1);
    sender.join();
  }

  @Test
  void aSendHappensBeforeItsReceiveReturns() throws Exception {
    try (Scheduler two = Scheduler.builder().threads(2).build().start()) {
      int[] plain = new int[1];
      Channel<Integer> back = Channel.rendezvous();
      Fiber<Void> other =
          two.go(
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  assertThat(channel.receive()).isEqualTo(plain[0]);
                  plain[0]++;
                  back.send(plain[0]);
                }
              });
      two.go(
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  plain[0]++;
                  channel.send(plain[0]);
                  assertThat(back.receive()).isEqualTo(plain[0]);
                }
              })
          .join();
      other.join();
      assertThat(plain[0]).isEqualTo(20_000);
    }
  }
}
