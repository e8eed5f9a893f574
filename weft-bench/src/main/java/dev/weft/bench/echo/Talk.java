package dev.weft.bench.echo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.SplittableRandom;

/**
 * What a load sends to a server, and what it gets for it.
 *
 * @param request the bytes of one
 * @param replyStart how each reply begins
 * @param replySize how long each is
 */
@SuppressWarnings("ArrayRecordComponent") // no code changes or compares them
record Talk(byte[] request, byte[] replyStart, int replySize) {
  private static final long SEED = 42;
  private static final byte[] GET =
      """
      GET /hello?name=weft HTTP/1.1\r
      Host: localhost\r
      User-Agent: weft-bench\r
      Accept: text/plain, */*\r
      Accept-Encoding: identity\r
      \r
      """
          .getBytes(ISO_8859_1);

  /** A message that comes back as it is. */
  static Talk echo(int size) {
    byte[] bytes = new byte[size];
    new SplittableRandom(SEED).nextBytes(bytes);
    return new Talk(bytes, bytes, size);
  }

  /** A request for a short text; how long the response is with its headers, the server tells. */
  static Talk http(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write(GET);
      InputStream input = socket.getInputStream();
      StringBuilder head = new StringBuilder();
      while (!head.toString().endsWith("\r\n\r\n")) {
        int next = input.read();
        if (next < 0) {
          throw new IllegalStateException("the server has closed the connection after: " + head);
        }
        head.append((char) next);
      }
      byte[] status = "HTTP/1.1 200 OK\r\n".getBytes(ISO_8859_1);
      return new Talk(GET, status, head.length() + HttpHello.TEXT.length());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
