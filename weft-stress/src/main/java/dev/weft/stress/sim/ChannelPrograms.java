package dev.weft.stress.sim;

import static dev.weft.stress.sim.Party.check;
import static dev.weft.stress.sim.Party.equal;

import dev.weft.Fiber;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Channels: each value that was sent is received once, by one receiver, in the order of its sender;
 * a call that gave up has sent or received nothing.
 */
final class ChannelPrograms {
  private static final int EACH = 2;
  private static final Duration MOMENT = Duration.ofMillis(1);

  static final List<OwnProgram> ALL =
      List.of(
          new OwnProgram("rendezvousConserves", () -> conserves(Channel::rendezvous)),
          new OwnProgram("bufferedConserves", () -> conserves(() -> Channel.buffered(1))),
          new OwnProgram("unlimitedConserves", () -> conserves(Channel::unlimited)),
          new OwnProgram("rendezvousKeepsOrder", () -> keepsOrder(Channel::rendezvous)),
          new OwnProgram("bufferedKeepsOrder", () -> keepsOrder(() -> Channel.buffered(2))),
          new OwnProgram("cancelledReceiver", () -> cancelledReceiver(Channel::rendezvous)),
          new OwnProgram(
              "cancelledBufferedReceiver", () -> cancelledReceiver(() -> Channel.buffered(1))),
          new OwnProgram("cancelledSender", () -> cancelledSender(Channel::rendezvous)),
          new OwnProgram(
              "cancelledBufferedSender", () -> cancelledSender(() -> Channel.buffered(1))),
          new OwnProgram("rendezvousTimesOut", () -> timesOut(Channel::rendezvous)),
          new OwnProgram("bufferedTimesOut", () -> timesOut(() -> Channel.buffered(1))),
          new OwnProgram("closeMeetsSenders", () -> closeMeetsSenders(Channel::rendezvous)),
          new OwnProgram(
              "closeMeetsBufferedSenders", () -> closeMeetsSenders(() -> Channel.buffered(1))),
          new OwnProgram("tries", ChannelPrograms::tries));

  private ChannelPrograms() {}

  private static void conserves(Supplier<Channel<Integer>> made) throws Exception {
    Channel<Integer> channel = made.get();
    Party party = new Party();
    AtomicInteger sum = new AtomicInteger();
    for (int s = 0; s < 2; s++) {
      int first = s * EACH + 1;
      party.go(
          "sender " + s,
          () -> {
            for (int i = 0; i < EACH; i++) {
              channel.send(first + i);
            }
          });
      party.go(
          "receiver " + s,
          () -> {
            for (int i = 0; i < EACH; i++) {
              sum.addAndGet(channel.receive());
            }
          });
    }
    party.join();
    equal(sum.get(), 10, "the sum of what was received");
    equal(channel.size(), 0, "values left");
  }

  private static void keepsOrder(Supplier<Channel<Integer>> made) throws Exception {
    Channel<Integer> channel = made.get();
    Party party = new Party();
    Fiber<Void> one = party.go("one", () -> sendAll(channel, 10, 11, 12));
    Fiber<Void> two = party.go("two", () -> sendAll(channel, 20, 21));
    party.go(
        "closer",
        () -> {
          one.join();
          two.join();
          channel.close();
        });
    List<Integer> received = new ArrayList<>();
    for (int value : channel) {
      received.add(value);
    }
    party.join();
    equal(received.stream().filter(v -> v < 20).toList(), List.of(10, 11, 12), "of one");
    equal(received.stream().filter(v -> v >= 20).toList(), List.of(20, 21), "of two");
    equal(channel.receiveOrClosed(), Optional.empty(), "after the end");
  }

  private static void sendAll(Channel<Integer> channel, int... values) throws InterruptedException {
    for (int value : values) {
      channel.send(value);
    }
  }

  /** A value that was sent is not lost with a receiver that is cancelled at that moment. */
  private static void cancelledReceiver(Supplier<Channel<Integer>> made) throws Exception {
    Channel<Integer> channel = made.get();
    Party party = new Party();
    AtomicInteger received = new AtomicInteger();
    Fiber<Void> victim = party.go("victim", () -> received.addAndGet(channel.receive()));
    party.go("canceller", victim::cancel);
    party.go("sender", () -> sendAll(channel, 1, 2));
    party.go("receiver", () -> received.addAndGet(channel.receive(MOMENT).orElse(0)));
    Optional<Integer> last = channel.receive(MOMENT);
    party.join();
    equal(received.get() + last.orElse(0), 3, "the sum of what was received");
  }

  private static void cancelledSender(Supplier<Channel<Integer>> made) throws Exception {
    Channel<Integer> channel = made.get();
    Party party = new Party();
    AtomicInteger sent = new AtomicInteger();
    AtomicInteger received = new AtomicInteger();
    Fiber<Void> victim =
        party.go(
            "victim",
            () -> {
              for (int value = 1; value < 4; value++) {
                channel.send(value);
                sent.addAndGet(value);
              }
            });
    party.go("canceller", victim::cancel);
    party.go("receiver", () -> received.addAndGet(channel.receive(MOMENT).orElse(0)));
    Optional<Integer> value = channel.receive(MOMENT);
    while (value.isPresent()) {
      received.addAndGet(value.get());
      value = channel.receive(MOMENT);
    }
    party.join();
    equal(received.get(), sent.get(), "received of what was sent");
  }

  /** The limits of senders and receivers pass at the same time. */
  private static void timesOut(Supplier<Channel<Integer>> made) throws Exception {
    Channel<Integer> channel = made.get();
    Party party = new Party();
    AtomicInteger sent = new AtomicInteger();
    AtomicInteger received = new AtomicInteger();
    for (int i = 1; i <= 2; i++) {
      int value = i;
      party.go(
          "sender " + i,
          () -> {
            Fiber.sleep(MOMENT);
            if (channel.send(value, MOMENT.multipliedBy(value))) {
              sent.addAndGet(value);
            }
          });
      party.go(
          "receiver " + i,
          () -> received.addAndGet(channel.receive(MOMENT.multipliedBy(value)).orElse(0)));
    }
    party.join();
    received.addAndGet(channel.tryReceive().orElse(0));
    equal(received.get(), sent.get(), "received of what was sent");
    check(channel.tryReceive().isEmpty(), "a value is left");
  }

  /** A send that meets the close fails and delivers nothing, or returns and delivers. */
  private static void closeMeetsSenders(Supplier<Channel<Integer>> made) throws Exception {
    Channel<Integer> channel = made.get();
    Party party = new Party();
    AtomicInteger sent = new AtomicInteger();
    AtomicInteger received = new AtomicInteger();
    for (int i = 1; i <= 2; i++) {
      int value = i;
      party.go(
          "sender " + i,
          () -> {
            try {
              channel.send(value);
              sent.addAndGet(value);
            } catch (ChannelClosedException e) {
              check(channel.isClosed(), "closed, and not closed");
            }
          });
    }
    party.go("closer", channel::close);
    party.go(
        "receiver",
        () -> {
          Optional<Integer> next = channel.receiveOrClosed();
          while (next.isPresent()) {
            received.addAndGet(next.get());
            next = channel.receiveOrClosed();
          }
        });
    party.join();
    equal(received.get(), sent.get(), "received of what was sent");
  }

  private static void tries() throws Exception {
    Channel<Integer> channel = Channel.buffered(1);
    Party party = new Party();
    AtomicInteger sent = new AtomicInteger();
    AtomicInteger received = new AtomicInteger();
    party.go("tries to send", () -> sent.addAndGet(channel.trySend(1) ? 1 : 0));
    party.go("sends", () -> sent.addAndGet(channel.send(2, MOMENT) ? 2 : 0));
    party.go("tries to receive", () -> received.addAndGet(channel.tryReceive().orElse(0)));
    party.go("receives", () -> received.addAndGet(channel.receive(MOMENT).orElse(0)));
    party.join();
    received.addAndGet(channel.tryReceive().orElse(0));
    equal(received.get(), sent.get(), "received of what was sent");
  }
}
