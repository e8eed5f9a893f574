package dev.weft.bench.frameworks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * The service that handlers ask, in another process than theirs: it answers every request at once.
 * Each connection has a virtual thread of the JDK.
 */
final class AskedService {
  private static final byte[] ANSWER =
      """
      HTTP/1.1 200 OK\r
      Content-Type: text/plain\r
      Content-Length: 12\r
      \r
      hello, world"""
          .getBytes(StandardCharsets.US_ASCII);

  /** What ends a request without a body, as a number. */
  private static final int BLANK_LINE = 0x0d0a0d0a;

  private AskedService() {}

  /** Starts it for the life of this process; returns its port. */
  static int start() throws IOException {
    ServerSocket listener = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("asked-service").start(() -> accept(listener));
    return listener.getLocalPort();
  }

  private static void accept(ServerSocket listener) {
    try {
      while (true) {
        Socket socket = listener.accept();
        Thread.startVirtualThread(() -> serve(socket));
      }
    } catch (IOException e) {
      throw new IllegalStateException("the asked service cannot accept", e);
    }
  }

  private static void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream input = socket.getInputStream();
      OutputStream output = socket.getOutputStream();
      byte[] bytes = new byte[4096];
      int last = 0; // the last four bytes
      for (int count = input.read(bytes); count >= 0; count = input.read(bytes)) {
        for (int i = 0; i < count; i++) {
          last = (last << Byte.SIZE) | (bytes[i] & 0xff);
          if (last == BLANK_LINE) {
            output.write(ANSWER);
          }
        }
      }
    } catch (IOException e) {
      // the handler's client has hung up
    }
  }
}
