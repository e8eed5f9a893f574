package dev.weft.stress.sim;

import static dev.weft.stress.sim.Party.check;
import static dev.weft.stress.sim.Party.equal;

import dev.weft.Fiber;
import dev.weft.channel.Channel;
import dev.weft.channel.Select;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Select: exactly one clause takes effect, and a select that gave up has done none. */
final class SelectPrograms {
  private static final Duration MOMENT = Duration.ofMillis(1);

  static final List<OwnProgram> ALL =
      List.of(
          new OwnProgram("selectReceives", SelectPrograms::receives),
          new OwnProgram("selectsMeet", SelectPrograms::selectsMeet),
          new OwnProgram("selectOfOneChannelTwice", SelectPrograms::sameChannelTwice),
          new OwnProgram("selectMeetsClose", SelectPrograms::meetsClose),
          new OwnProgram("selectIsCancelled", SelectPrograms::isCancelled),
          new OwnProgram("selectTimesOut", SelectPrograms::timesOut),
          new OwnProgram("selectOtherwise", SelectPrograms::otherwise));

  private SelectPrograms() {}

  private static int receiveFrom(Channel<Integer> one, Channel<Integer> other)
      throws InterruptedException {
    return Select.of(one.onReceive(value -> value), other.onReceive(value -> value));
  }

  private static void receives() throws Exception {
    Channel<Integer> one = Channel.rendezvous();
    Channel<Integer> two = Channel.buffered(1);
    Party party = new Party();
    AtomicInteger sum = new AtomicInteger();
    party.go("sender 1", () -> one.send(1));
    party.go("sender 2", () -> two.send(2));
    party.go("selector", () -> sum.addAndGet(receiveFrom(one, two)));
    sum.addAndGet(receiveFrom(two, one));
    party.join();
    equal(sum.get(), 3, "the sum of what was received");
  }

  /** Two selects that can each serve the other: both do the same clause, from its two ends. */
  private static void selectsMeet() throws Exception {
    Channel<Integer> left = Channel.rendezvous();
    Channel<Integer> right = Channel.rendezvous();
    Party party = new Party();
    AtomicInteger balance = new AtomicInteger();
    for (int i = 0; i < 2; i++) {
      Channel<Integer> mine = i == 0 ? left : right;
      Channel<Integer> other = i == 0 ? right : left;
      party.go(
          "selector " + i,
          () -> {
            int change = Select.of(mine.onSend(1, () -> 1), other.onReceive(value -> -value));
            balance.addAndGet(change);
          });
    }
    party.join();
    equal(balance.get(), 0, "sends without receives");
  }

  private static void sameChannelTwice() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Party party = new Party();
    AtomicInteger chosen = new AtomicInteger();
    party.go(
        "selector",
        () ->
            chosen.addAndGet(
                Select.of(
                    channel.onReceive(value -> value),
                    channel.onReceive(value -> value),
                    channel.onSend(10, () -> 20),
                    Select.timeout(MOMENT.multipliedBy(2), () -> 0))));
    party.go("sender", () -> channel.send(1, MOMENT));
    party.go("receiver", () -> chosen.addAndGet(channel.receive(MOMENT).orElse(0)));
    party.join();
    // the selector or the receiver has received 1, or the selector has sent 10 to the receiver
    int sum = chosen.get();
    check(sum == 1 || sum == 30, "the sum is " + sum);
  }

  private static void meetsClose() throws Exception {
    Channel<Integer> one = Channel.buffered(1);
    Channel<Integer> two = Channel.rendezvous();
    Party party = new Party();
    AtomicInteger received = new AtomicInteger();
    party.go(
        "sender",
        () -> {
          one.send(1);
          one.close();
        });
    party.go("closer", two::close);
    party.go(
        "selector",
        () -> {
          boolean first = true;
          boolean second = true;
          while (first || second) {
            int value =
                Select.of(
                    Select.when(first, one.onReceive(v -> v, () -> -1)),
                    Select.when(second, two.onReceive(v -> v, () -> -2)));
            first &= value != -1;
            second &= value != -2;
            received.addAndGet(Math.max(value, 0));
          }
        });
    party.join();
    equal(received.get(), 1, "received before the end");
  }

  private static void isCancelled() throws Exception {
    Channel<Integer> one = Channel.rendezvous();
    Channel<Integer> two = Channel.rendezvous();
    Party party = new Party();
    AtomicInteger sum = new AtomicInteger();
    Fiber<Void> victim = party.go("victim", () -> sum.addAndGet(receiveFrom(one, two)));
    party.go("canceller", victim::cancel);
    party.go("sender 1", () -> one.send(1));
    party.go("sender 2", () -> two.send(2));
    sum.addAndGet(receiveFrom(one, two));
    int last =
        Select.of(
            one.onReceive(value -> value),
            two.onReceive(value -> value),
            Select.timeout(Duration.ofHours(1), () -> 0));
    party.join();
    equal(sum.get() + last, 3, "the sum of what was received");
  }

  private static void timesOut() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Party party = new Party();
    AtomicInteger received = new AtomicInteger();
    AtomicInteger sent = new AtomicInteger();
    party.go(
        "sender",
        () -> {
          Fiber.sleep(MOMENT);
          sent.addAndGet(channel.send(1, MOMENT) ? 1 : 0);
        });
    party.go(
        "selector",
        () ->
            received.addAndGet(
                Select.of(channel.onReceive(value -> value), Select.timeout(MOMENT, () -> 0))));
    party.go("second", () -> received.addAndGet(channel.receive(MOMENT.multipliedBy(2)).orElse(0)));
    party.join();
    equal(received.get(), sent.get(), "received of what was sent");
  }

  private static void otherwise() throws Exception {
    Channel<Integer> one = Channel.buffered(1);
    Channel<Integer> two = Channel.rendezvous();
    Party party = new Party();
    AtomicInteger received = new AtomicInteger();
    party.go("sender", () -> one.send(1));
    party.go("giver", () -> two.send(2));
    party.go(
        "looker",
        () ->
            received.addAndGet(
                Select.of(
                    one.onReceive(value -> value),
                    two.onReceive(value -> value),
                    Select.otherwise(() -> 0))));
    Fiber.sleep(MOMENT);
    while (received.get() < 3) {
      received.addAndGet(receiveFrom(one, two));
    }
    party.join();
    equal(received.get(), 3, "the sum of what was received");
  }
}
