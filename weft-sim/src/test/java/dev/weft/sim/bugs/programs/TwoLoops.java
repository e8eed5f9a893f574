package dev.weft.sim.bugs.programs;

import dev.weft.channel.Channel;
import dev.weft.channel.Select;
import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Two loops send to each other: each waits until the other one receives.
 *
 * <p>After GoKer cockroach/2448.
 */
final class TwoLoops {
  static final KnownBug BUG =
      KnownBug.of(
          TwoLoops.class,
          "GoKer cockroach/2448",
          Kind.COMMUNICATION,
          () -> run(new Raft()),
          () -> run(new FixedRaft()));

  private TwoLoops() {}

  private static void run(Raft raft) throws Exception {
    Together.run(raft, Raft::propose, Raft::apply);
    Check.equal(2, raft.callbacksSeen, "callbacks");
  }

  private static class Raft {
    final Channel<Integer> events = Channel.rendezvous();
    final Channel<Integer> callbacks = Channel.rendezvous();
    int callbacksSeen;

    void propose() throws InterruptedException {
      events.send(1);
      if (callbacks.tryReceive().isPresent()) {
        callbacksSeen = callbacksSeen + 1;
      }
      events.send(2);
      awaitCallbacks();
    }

    void awaitCallbacks() throws InterruptedException {
      while (callbacksSeen < 2) {
        callbacks.receive();
        callbacksSeen = callbacksSeen + 1;
      }
    }

    void apply() throws InterruptedException {
      for (int i = 0; i < 2; i++) {
        callbacks.send(events.receive());
      }
    }
  }

  private static final class FixedRaft extends Raft {
    @Override
    void propose() throws InterruptedException {
      int sent = 0;
      while (sent < 2) {
        if (Select.of(events.onSend(sent, () -> true), callbacks.onReceive(_ -> false))) {
          sent = sent + 1;
        } else {
          callbacksSeen = callbacksSeen + 1;
        }
      }
      awaitCallbacks();
    }
  }
}
