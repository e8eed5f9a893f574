package dev.weft.sim.bugs.programs;

import dev.weft.channel.Channel;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A writer looks whether a channel is open and sends; it was closed between.
 *
 * <p>After GoKer grpc/1687, serving/5865.
 */
final class SendOnClosed {
  static final KnownBug BUG =
      KnownBug.of(
          SendOnClosed.class,
          "GoKer grpc/1687, serving/5865",
          Kind.COMMUNICATION,
          () -> run(new Transport()),
          () -> run(new FixedTransport()));

  private SendOnClosed() {}

  private static void run(Transport transport) throws Exception {
    Together.run(transport, Transport::write, Transport::close);
  }

  private static class Transport {
    final Channel<String> writes = Channel.buffered(2);

    void write() throws InterruptedException {
      if (!writes.isClosed()) {
        writes.send("data");
      }
    }

    void close() {
      writes.close();
    }
  }

  private static final class FixedTransport extends Transport {
    @Override
    synchronized void write() throws InterruptedException {
      super.write();
    }

    @Override
    synchronized void close() {
      super.close();
    }
  }
}
