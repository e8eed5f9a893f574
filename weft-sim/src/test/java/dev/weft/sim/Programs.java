package dev.weft.sim;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;

/** What several simulated programs do alike. */
@SuppressWarnings("AddressSelection") // a simulated host has one address
final class Programs {
  private Programs() {}

  /** Sends back what clients send, to one after the other. */
  static void echo(int port) throws IOException {
    try (ServerSocket server = new ServerSocket(port)) {
      while (true) {
        try (Socket client = server.accept()) {
          client.getInputStream().transferTo(client.getOutputStream());
        } catch (SocketException e) {
          // the next one
        }
      }
    }
  }

  /** Connects when the port is listened at. */
  static Socket connect(String host, int port) throws Exception {
    Thread.sleep(1);
    return new Socket(host, port);
  }

  /** Sleeps in a fiber that no code interrupts. */
  static void sleep(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
