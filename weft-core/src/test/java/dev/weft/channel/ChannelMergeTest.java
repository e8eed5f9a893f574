package dev.weft.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Channels that end at different times, merged until all are closed: no value is lost. */
@Feature("K8")
class ChannelMergeTest {
  /**
   * Receives from all channels until each is closed and empty; keeps a list of the open channels.
   */
  private static List<Integer> mergeByList(List<Channel<Integer>> channels)
      throws InterruptedException {
    List<Integer> received = new ArrayList<>();
    List<Channel<Integer>> open = new ArrayList<>(channels);
    while (!open.isEmpty()) {
      Select.of(
          open.stream()
              .map(each -> each.onReceive(received::add, () -> open.remove(each)))
              .toList());
    }
    return received;
  }

  /** The same for two channels, each with a clause that is switched off at its end. */
  private static List<Integer> mergeBySwitchingOff(Channel<Integer> left, Channel<Integer> right)
      throws InterruptedException {
    List<Integer> received = new ArrayList<>();
    boolean[] open = {true, true};
    while (open[0] || open[1]) {
      Select.of(
          Select.when(open[0], left.onReceive(received::add, () -> open[0] = false)),
          Select.when(open[1], right.onReceive(received::add, () -> open[1] = false)));
    }
    return received;
  }

  private static Channel<Integer> closedWith(int from, int to) throws InterruptedException {
    Channel<Integer> channel = Channel.unlimited();
    for (int i = from; i < to; i++) {
      channel.send(i);
    }
    channel.close();
    return channel;
  }

  @Test
  void theValuesLeftInClosedChannelsAreReceived() throws Exception {
    for (int i = 0; i < 200; i++) {
      assertThat(mergeByList(List.of(closedWith(0, 5), closedWith(5, 10), closedWith(10, 10))))
          .containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
      assertThat(mergeBySwitchingOff(closedWith(0, 2), closedWith(2, 9)))
          .containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7, 8);
    }
  }

  @Test
  void noValueIsLostOrDuplicatedAmongSeveralMergingFibers() throws Exception {
    try (Scheduler one = Scheduler.builder().threads(1).build().start();
        Scheduler two = Scheduler.builder().threads(2).build().start()) {
      for (int round = 0; round < 100; round++) {
        List<Channel<Integer>> channels =
            List.of(
                Channel.rendezvous(),
                Channel.buffered(1),
                Channel.buffered(20),
                Channel.unlimited());
        List<Fiber<Void>> senders = new ArrayList<>();
        int sent = 0;
        for (int i = 0; i < channels.size(); i++) {
          Channel<Integer> channel = channels.get(i);
          int from = sent;
          int to = from + 50 * (i + 1); // so the channels end at different times
          sent = to;
          senders.add(
              (i % 2 == 0 ? one : two)
                  .go(
                      () -> {
                        try (channel) {
                          for (int value = from; value < to; value++) {
                            channel.send(value);
                          }
                        }
                      }));
        }
        Callable<List<Integer>> merge = () -> mergeByList(channels);
        FutureTask<List<Integer>> plain = new FutureTask<>(merge);
        Thread.ofPlatform().daemon().start(plain);
        Fiber<List<Integer>> first = one.go(merge);
        Fiber<List<Integer>> second = two.go(merge);
        List<Integer> received = new ArrayList<>(plain.get());
        received.addAll(first.join());
        received.addAll(second.join());
        for (Fiber<Void> sender : senders) {
          sender.join();
        }
        assertThat(received.stream().mapToInt(value -> value).sorted())
            .containsExactlyElementsOf(IntStream.range(0, sent).boxed().toList());
      }
    }
  }
}
