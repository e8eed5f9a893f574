package dev.weft.bench.echo;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A virtual thread for each connection, in blocking style. How many threads carry them is a flag of
 * the JVM.
 */
final class VirtualThreadServer implements EchoServer {
  @Override
  public int start(int threads, int buffer) throws IOException {
    int given = Integer.getInteger("jdk.virtualThreadScheduler.parallelism", -1);
    if (given != threads) {
      throw new IllegalStateException(
          "the JVM has parallelism " + given + ", not " + threads + ": start it with the flags");
    }
    ServerSocket listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    Thread.startVirtualThread(() -> acceptAll(listener, buffer));
    return listener.getLocalPort();
  }

  private static void acceptAll(ServerSocket listener, int buffer) {
    try {
      while (true) {
        Socket socket = listener.accept();
        Thread.startVirtualThread(() -> echo(socket, buffer));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot accept", e);
    }
  }

  private static void echo(Socket socket, int size) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      byte[] buffer = new byte[size];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // the other side has hung up
    }
  }
}
