package dev.weft.bench.im;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Clients that mean harm, until they are told to stop. */
final class Attack implements AutoCloseable {
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final Duration DRIP = Duration.ofSeconds(3);
  private static final int HISTORIES = 500;

  /** One connection after another, in a fiber. */
  private interface Attacker {
    void attack(int number) throws IOException, InterruptedException;
  }

  private interface Opener {
    LineSocket open() throws IOException;
  }

  private final List<Fiber<Void>> fibers = new ArrayList<>();
  private volatile boolean over;

  private Attack(Scheduler scheduler, int connections, Attacker attacker) {
    for (int i = 0; i < connections; i++) {
      int number = i;
      fibers.add(
          scheduler.go(
              () -> {
                while (!over) {
                  try {
                    attacker.attack(number);
                  } catch (IOException e) {
                    Fiber.sleep(PAUSE); // dropped: again
                  }
                }
              }));
    }
  }

  /** Many connections that guess passwords. */
  static Attack wrongLogins(Scheduler scheduler, InetSocketAddress server, int connections) {
    return new Attack(
        scheduler,
        connections,
        number -> {
          try (LineSocket socket = LineSocket.lines(server)) {
            for (int i = 0; i < 5; i++) {
              socket.send("LOGIN nobody%d wrong-password".formatted(i));
              socket.receive();
            }
          }
        });
  }

  /** Sockets that send a byte now and then and never end a line. */
  static Attack slowLines(Scheduler scheduler, InetSocketAddress server, int connections) {
    return drips(scheduler, connections, () -> LineSocket.lines(server));
  }

  /** Sockets at the port of the page that send most of a request at once, and never its end. */
  static Attack slowRequests(Scheduler scheduler, InetSocketAddress server, int connections) {
    return drips(scheduler, connections, () -> LineSocket.halfRequest(server));
  }

  private static Attack drips(Scheduler scheduler, int connections, Opener opener) {
    return new Attack(
        scheduler,
        connections,
        number -> {
          try (LineSocket socket = opener.open()) {
            drip(socket);
          }
        });
  }

  private static void drip(LineSocket socket) throws IOException, InterruptedException {
    while (true) {
      socket.drip();
      Fiber.sleep(DRIP);
    }
  }

  /** Connections of one user that ask for much history and read none of it. */
  static Attack historyBomb(
      Scheduler scheduler, InetSocketAddress server, int connections, int user) throws IOException {
    String room = "bombs";
    try (LineSocket socket = LineSocket.lines(server)) {
      socket.send("RESUME " + Population.token(user));
      socket.send("JOIN " + room);
      for (int i = 0; i < 100; i++) {
        socket.send("SAY " + room + " " + "x".repeat(4096));
      }
      socket.send("PING loaded");
      while (!socket.receive().equals("OK PING loaded")) {
        // answers and messages
      }
    }
    return new Attack(
        scheduler,
        connections,
        number -> {
          try (LineSocket socket = LineSocket.lines(server)) {
            socket.send("RESUME " + Population.token(user));
            for (int i = 0; i < HISTORIES; i++) {
              socket.send("HISTORY " + room + " 999999999 100");
            }
            Fiber.sleep(Duration.ofMinutes(5)); // reads nothing
          }
        });
  }

  @Override
  public void close() {
    over = true;
    fibers.forEach(Fiber::cancel);
    for (Fiber<Void> fiber : fibers) {
      try {
        fiber.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (RuntimeException e) {
        // cancelled
      }
    }
  }
}
