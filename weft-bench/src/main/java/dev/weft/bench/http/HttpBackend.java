package dev.weft.bench.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The server that handlers ask: it sends back what it gets, a virtual thread a connection. */
final class HttpBackend {
  private HttpBackend() {}

  /** Starts one that lives as long as this process; returns its port. */
  static int start() throws IOException {
    ServerSocket listener = new ServerSocket(0, 4096, InetAddress.getLoopbackAddress());
    Thread.ofPlatform()
        .daemon()
        .name("backend")
        .start(
            () -> {
              try {
                while (true) {
                  Socket socket = listener.accept();
                  Thread.startVirtualThread(() -> serve(socket));
                }
              } catch (IOException e) {
                throw new IllegalStateException("the backend cannot accept", e);
              }
            });
    return listener.getLocalPort();
  }

  private static void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream input = socket.getInputStream();
      OutputStream output = socket.getOutputStream();
      byte[] bytes = new byte[1024];
      for (int count = input.read(bytes); count >= 0; count = input.read(bytes)) {
        output.write(bytes, 0, count);
      }
    } catch (IOException e) {
      // it has hung up
    }
  }
}
