package dev.weft.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsServer;
import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Filter;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** The fiber that accepts goes on, whatever fails: the port has no other. */
@Feature("A2")
class AcceptorTest {
  /** Fibers move the deadlines of their connections while the acceptor compares them. */
  @Test
  void deadlinesMayMoveWhileConnectionsMakeRoom() throws Exception {
    HttpServer facade = HttpServer.create();
    Server server = new Server(facade, false, HttpLimits.fromProperties());
    List<Connection> connections = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      connections.add(new Connection(server, new WebSockets.Memory()));
    }
    AtomicBoolean enough = new AtomicBoolean();
    Thread mover =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; !enough.get(); i++) {
                    Connection moved = connections.get((int) (i * 7919L % connections.size()));
                    if (i / 3 % 2 == 0) {
                      moved.drainHasBegun();
                    } else {
                      moved.setNoLimit();
                    }
                  }
                });
    try {
      for (int i = 0; i < 500; i++) {
        assertThat(Server.idlest(connections)).hasSize(16);
      }
    } finally {
      enough.set(true);
      mover.join();
    }
  }

  /** A log that throws is one of many things that a loop over connections cannot foresee. */
  @Test
  void aFailureOfOneConnectionIsNotThatOfThePort() throws Exception {
    HttpsServer server =
        new WeftHttpServerProvider()
            .createHttpsServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start(); // without a certificate: each connection is refused, and the log told
    Logger log = Logger.getLogger("dev.weft.http");
    AtomicBoolean thrown = new AtomicBoolean();
    Filter filter =
        message -> {
          if (thrown.compareAndSet(false, true)) {
            throw new IllegalStateException("for a test");
          }
          return false;
        };
    log.setFilter(filter);
    try {
      for (int i = 0; i < 3; i++) {
        try (RawClient client = new RawClient(server.getAddress())) {
          assertThat(client.hasEnded()).as("connection %d has been accepted", i).isTrue();
        }
      }
      assertThat(thrown).isTrue();
    } finally {
      log.setFilter(null);
      server.stop(0);
    }
  }
}
