package dev.weft.bench.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedDeque;

/** What a handler does before it answers. */
enum HttpWork {
  /** Nothing. */
  PLAIN,
  /** It waits for 5 ms. */
  SLEEP,
  /** It asks another server and waits for the answer, on a connection that it keeps. */
  ROUND_TRIP;

  static final String TEXT = "hello, world";
  static final byte[] BYTES = TEXT.getBytes(StandardCharsets.ISO_8859_1);
  static final int SLEEP_MILLIS = 5;

  /** The port of the other server, a {@link HttpBackend}. */
  static final String BACKEND = "weft.bench.http.backend";

  private static final ConcurrentLinkedDeque<Socket> IDLE = new ConcurrentLinkedDeque<>();

  /** Does it, in blocking style: by a fiber, or by a thread that may wait. */
  void run() {
    try {
      switch (this) {
        case PLAIN -> {}
        case SLEEP -> Thread.sleep(SLEEP_MILLIS);
        case ROUND_TRIP -> ask();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void ask() throws IOException {
    Socket socket = IDLE.pollLast();
    if (socket == null) {
      socket = new Socket(InetAddress.getLoopbackAddress(), Integer.getInteger(BACKEND));
      socket.setTcpNoDelay(true);
    }
    socket.getOutputStream().write(BYTES);
    byte[] answer = socket.getInputStream().readNBytes(BYTES.length);
    if (answer.length < BYTES.length) {
      throw new IOException("the other server has ended");
    }
    IDLE.addLast(socket);
  }
}
