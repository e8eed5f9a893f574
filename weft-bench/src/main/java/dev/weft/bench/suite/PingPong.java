package dev.weft.bench.suite;

import dev.weft.Body;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.SynchronousQueue;

/** Two players without a call of Weft: each returns what it gets, in the JDK's blocking style. */
final class PingPong {
  private PingPong() {}

  /** Returns players that hand a value to and fro. */
  static List<Body> overQueues(int trips) {
    SynchronousQueue<Integer> ping = new SynchronousQueue<>();
    SynchronousQueue<Integer> pong = new SynchronousQueue<>();
    return List.of(
        () -> {
          for (int i = 0; i < trips; i++) {
            ping.put(1);
            pong.take();
          }
        },
        () -> {
          for (int i = 0; i < trips; i++) {
            pong.put(ping.take());
          }
        });
  }

  /** Two ends of a connection over the loopback address. */
  record Ends(Socket one, Socket other) {
    static Ends connect() throws IOException {
      try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        Socket one = new Socket(listener.getInetAddress(), listener.getLocalPort());
        Socket other = listener.accept();
        one.setTcpNoDelay(true);
        other.setTcpNoDelay(true);
        return new Ends(one, other);
      }
    }
  }

  /** Returns players that send a byte to and fro. */
  static List<Body> overSockets(Ends ends, int trips) {
    return List.of(
        () -> {
          InputStream in = ends.one.getInputStream();
          OutputStream out = ends.one.getOutputStream();
          for (int i = 0; i < trips; i++) {
            out.write(1);
            check(in.read());
          }
        },
        () -> {
          InputStream in = ends.other.getInputStream();
          OutputStream out = ends.other.getOutputStream();
          for (int i = 0; i < trips; i++) {
            check(in.read());
            out.write(1);
          }
        });
  }

  private static void check(int read) {
    if (read != 1) {
      throw new IllegalStateException("1 was sent, " + read + " has arrived");
    }
  }
}
