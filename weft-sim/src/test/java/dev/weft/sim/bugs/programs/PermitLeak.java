package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.Semaphore;

/**
 * A call takes a permit and returns early when the client is closed, without giving the permit
 * back.
 *
 * <p>After GoKer etcd/5509, grpc/795.
 */
final class PermitLeak {
  static final KnownBug BUG =
      KnownBug.of(
          PermitLeak.class,
          "GoKer etcd/5509, grpc/795",
          Kind.DEADLOCK,
          () -> run(new Client()),
          () -> run(new FixedClient()));

  private PermitLeak() {}

  private static void run(Client client) throws Exception {
    Together.run(client, Client::call, Client::call, Client::close);
  }

  private static class Client {
    final Semaphore permits = new Semaphore(1);
    private volatile boolean closed;

    void call() throws InterruptedException {
      permits.acquire();
      if (send()) {
        permits.release();
      }
    }

    boolean send() {
      return !closed;
    }

    void close() {
      closed = true;
    }
  }

  private static final class FixedClient extends Client {
    @Override
    void call() throws InterruptedException {
      permits.acquire();
      try {
        send();
      } finally {
        permits.release();
      }
    }
  }
}
