package dev.weft.bench.echo;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * An echo server as it is usually written on the JDK's sockets: blocking style, a virtual thread
 * for each connection. It has no call of Weft. The thread that calls {@link #main} decides which
 * scheduler the others get: that of Weft if it is a fiber, else the JDK's.
 */
final class SocketProgram {
  private SocketProgram() {}

  /** Serves for ever; takes the size of a buffer. */
  public static void main(String... args) throws IOException {
    int size = Integer.parseInt(args[0]);
    try (ServerSocket listener =
        new ServerSocket(0, EchoServer.BACKLOG, InetAddress.getLoopbackAddress())) {
      EchoServer.tellPort(listener.getLocalPort());
      while (true) {
        Socket socket = listener.accept();
        Thread.startVirtualThread(() -> echo(socket, size));
      }
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
