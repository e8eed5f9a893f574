package dev.weft.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.channel.ChannelInsides;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A waiter that gives up at a channel leaves nothing behind. */
@Feature("K7")
@Timeout(60)
class ChannelMemoryTest {
  private static final long LIMIT = 100_000;
  private static final Duration INSTANT = Duration.ofNanos(1);

  /**
   * Runs the body once to warm up, then again; returns by how many bytes the heap has grown then:
   * the least of three runs, because a leak grows each time, unlike other activity in this JVM.
   */
  private static long growth(Body body) throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler.go(() -> body.run(100)).join();
      long least = Long.MAX_VALUE;
      for (int i = 0; i < 3 && least >= LIMIT; i++) {
        long before = used();
        scheduler.go(() -> body.run(0)).join();
        least = Math.min(least, used() - before);
      }
      return least;
    }
  }

  private interface Body {
    void run(int atMost) throws Exception;
  }

  private static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }

  private static int rounds(int atMost, int all) {
    return atMost == 0 ? all : atMost;
  }

  @Test
  void selectsOnIdleChannels() throws Exception {
    Channel<Integer> a = Channel.rendezvous();
    Channel<Integer> b = Channel.buffered(3);
    Channel<Integer> hot = Channel.rendezvous();
    long grown =
        growth(
            atMost -> {
              var sender =
                  Scheduler.current()
                      .orElseThrow()
                      .go(
                          () -> {
                            for (int i = rounds(atMost, 100_000); i > 0; i--) {
                              hot.send(i);
                            }
                          });
              for (int i = rounds(atMost, 100_000); i > 0; i--) {
                int expected = i;
                assertThat(
                        Select.<Boolean>of(
                            a.onReceive(value -> false),
                            b.onReceive(value -> false),
                            a.onSend(1, () -> false),
                            hot.onReceive(value -> value == expected)))
                    .isTrue();
              }
              sender.join();
            });
    assertThat(grown).isLessThan(LIMIT);
    assertThat(ChannelInsides.hasNoWaiters(a) && ChannelInsides.hasNoWaiters(b)).isTrue();
  }

  @Test
  void receivesThatRunOutOfTime() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    long grown =
        growth(
            atMost -> {
              List<Fiber<Void>> fibers = new ArrayList<>();
              for (int i = rounds(atMost, 1_000); i > 0; i--) {
                fibers.add(Scheduler.current().orElseThrow().go(() -> runOutOfTime(channel)));
              }
              for (Fiber<Void> fiber : fibers) {
                fiber.join();
              }
            });
    assertThat(grown).isLessThan(LIMIT);
    assertThat(ChannelInsides.hasNoWaiters(channel)).isTrue();
  }

  private static void runOutOfTime(Channel<Integer> channel) throws InterruptedException {
    for (int i = 0; i < 1_000; i++) {
      if (channel.receive(INSTANT).isPresent()) {
        throw new AssertionError("received although no value was sent");
      }
    }
  }

  @Test
  void aBurstThroughAnUnlimitedChannel() throws Exception {
    Channel<Integer> channel = Channel.unlimited();
    long grown =
        growth(
            atMost -> {
              int count = rounds(atMost, 1_000_000);
              for (int i = 0; i < count; i++) {
                channel.send(i);
              }
              for (int i = 0; i < count; i++) {
                channel.receive();
              }
            });
    assertThat(grown).as("the buffer is released").isLessThan(LIMIT);
  }
}
