package dev.weft.bench.echo;

import dev.weft.Body;
import dev.weft.bench.run.Carriers;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The program of blocking sockets on the JDK's own scheduler. How many threads carry it is a flag
 * of the JVM.
 */
final class VirtualThreadServer implements EchoServer {
  @Override
  public void start(int threads, int buffer) {
    if (Carriers.here() != threads) {
      throw new IllegalStateException(
          "the JVM has " + Carriers.here() + " carriers, not " + threads + ": start it with flags");
    }
    Thread.startVirtualThread(() -> serve(buffer));
  }

  @Override
  public void compute(Body body) {
    Thread.startVirtualThread(
        () -> {
          try {
            body.run();
          } catch (Exception e) {
            throw new IllegalStateException("cannot compute", e);
          }
        });
  }

  private static void serve(int buffer) {
    try {
      SocketProgram.main(String.valueOf(buffer));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot accept", e);
    }
  }
}
