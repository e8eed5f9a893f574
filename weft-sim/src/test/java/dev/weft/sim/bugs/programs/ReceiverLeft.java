package dev.weft.sim.bugs.programs;

import dev.weft.channel.Channel;
import dev.weft.channel.Select;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * The caller of a request leaves when it is cancelled; the worker sends its result to nobody.
 *
 * <p>After GoKer grpc/660, kubernetes/5316.
 */
final class ReceiverLeft {
  static final KnownBug BUG =
      KnownBug.of(
          ReceiverLeft.class,
          "GoKer grpc/660, kubernetes/5316",
          Kind.COMMUNICATION,
          () -> run(new Request(Channel.rendezvous())),
          () -> run(new Request(Channel.buffered(1))));

  private ReceiverLeft() {}

  private static void run(Request request) throws Exception {
    Together.run(request, Request::work, Request::await, Request::cancel);
  }

  private static final class Request {
    private final Channel<String> result;
    private final Channel<String> cancelled = Channel.buffered(1);

    Request(Channel<String> result) {
      this.result = result;
    }

    void work() throws InterruptedException {
      result.send("done");
    }

    void await() throws InterruptedException {
      Select.<String>of(result.onReceive(r -> r), cancelled.onReceive(r -> r));
    }

    void cancel() throws InterruptedException {
      cancelled.send("cancelled");
    }
  }
}
