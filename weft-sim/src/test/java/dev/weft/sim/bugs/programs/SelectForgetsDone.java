package dev.weft.sim.bugs.programs;

import dev.weft.channel.Channel;
import dev.weft.channel.Select;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A node answers requests until it is stopped; a request that comes later waits for an answer
 * without looking whether the node is done.
 *
 * <p>After GoKer etcd/6857.
 */
final class SelectForgetsDone {
  static final KnownBug BUG =
      KnownBug.of(
          SelectForgetsDone.class,
          "GoKer etcd/6857",
          Kind.COMMUNICATION,
          () -> run(new Node()),
          () -> run(new FixedNode()));

  private SelectForgetsDone() {}

  private static void run(Node node) throws Exception {
    Together.run(node, Node::loop, Node::status, Node::stop);
  }

  private static class Node {
    final Channel<String> requests = Channel.rendezvous();
    final Channel<String> done = Channel.rendezvous();
    private final Channel<String> stop = Channel.rendezvous();

    void loop() throws InterruptedException {
      boolean stopped = false;
      while (!stopped) {
        stopped = Select.of(requests.onReceive(_ -> false), stop.onReceive(_ -> true));
      }
      done.close();
    }

    void status() throws InterruptedException {
      requests.send("status");
    }

    void stop() throws InterruptedException {
      stop.send("stop");
    }
  }

  private static final class FixedNode extends Node {
    @Override
    void status() throws InterruptedException {
      Select.of(requests.onSend("status", () -> true), done.onReceive(_ -> false, () -> false));
    }
  }
}
