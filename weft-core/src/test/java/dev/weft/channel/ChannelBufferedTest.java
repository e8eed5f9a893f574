package dev.weft.channel;

import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Channels with a buffer, bounded or not. */
@Feature({"K1", "K2"})
class ChannelBufferedTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 15, 16, 17, 100, 256, 257, 1000})
  void sendsWaitOnlyWhenTheBufferIsFull(int capacity) throws Exception {
    Channel<Integer> channel = Channel.buffered(capacity);
    for (int i = 0; i < capacity; i++) {
      channel.send(i);
    }
    assertThat(channel.trySend(-1)).isFalse();
    assertThat(channel.send(-1, Duration.ofMillis(1))).isFalse();
    List<Fiber<Void>> waiting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int value = capacity + i;
      Fiber<Void> sender = scheduler.go(() -> channel.send(value));
      waits(sender);
      waiting.add(sender);
    }
    for (int i = 0; i < capacity + 3; i++) {
      assertThat(channel.receive()).isEqualTo(i);
      if (i < 3) {
        waiting.get(i).join(); // there is room for its value now
      }
    }
    assertThat(channel.tryReceive()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 16, 33, 100, 300, Integer.MAX_VALUE})
  void aBufferedChannelBehavesLikeAQueue(int capacity) throws Exception {
    Channel<Integer> channel =
        capacity == Integer.MAX_VALUE ? Channel.unlimited() : Channel.buffered(capacity);
    Queue<Integer> model = new ArrayDeque<>();
    SplittableRandom random = new SplittableRandom(capacity);
    for (int i = 0; i < 20_000; i++) {
      if (random.nextInt(100) < (i / 5_000 % 2 == 0 ? 60 : 40)) {
        boolean fits = model.size() < capacity && model.add(i);
        assertThat(channel.trySend(i)).isEqualTo(fits);
      } else {
        assertThat(channel.tryReceive()).isEqualTo(Optional.ofNullable(model.poll()));
      }
    }
  }

  @Test
  void aReceiverWaitsForAValue() throws Exception {
    Channel<String> channel = Channel.buffered(2);
    Fiber<String> receiver = scheduler.go(() -> channel.receive());
    waits(receiver);
    channel.send("a");
    channel.send("b");
    assertThat(receiver.join()).isEqualTo("a");
    assertThat(channel.receive()).isEqualTo("b");
  }

  @Test
  void anUnlimitedChannelTakesAllValues() throws Exception {
    Channel<Integer> channel = Channel.unlimited();
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 100_000; i++) {
        channel.send(i);
      }
      for (int i = 0; i < 100_000; i++) {
        assertThat(channel.tryReceive()).contains(i);
      }
      assertThat(channel.tryReceive()).isEmpty();
    }
  }

  @Test
  void aCapacityCostsNothingUntilItIsUsed() throws Exception {
    Channel<Integer> channel = Channel.buffered(Integer.MAX_VALUE - 1);
    channel.send(1);
    assertThat(channel.receive()).isEqualTo(1);
  }

  @Test
  void aBufferHoldsAtLeastOne() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Channel.buffered(0))
        .withMessage("a buffered channel holds at least 1 value, not 0; or use rendezvous()");
    assertThatIllegalArgumentException().isThrownBy(() -> Channel.buffered(-5));
  }

  @Test
  void toStringDescribesTheChannel() {
    assertThat(Channel.buffered(7).toString()).matches("channel [0-9]+ \\(buffered 7\\)");
    assertThat(Channel.unlimited().toString()).matches("channel [0-9]+ \\(unlimited\\)");
    Channel<Integer> full = Channel.buffered(1);
    assertThat(full.trySend(1)).isTrue();
    Fiber<Void> sender = scheduler.go(() -> full.send(2));
    waits(sender);
    assertThat(scheduler.dump().text()).contains("waits for room in " + full);
    assertThat(full.tryReceive()).contains(1);
  }
}
