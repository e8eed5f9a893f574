package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A client that sends exactly what it is told, and reads responses as they come. */
final class RawClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 20_000;

  /** A response; header names in small letters. */
  record Response(int status, Map<String, String> headers, String body) {}

  private final Socket socket;
  private final InputStream input;

  RawClient(InetSocketAddress address) throws IOException {
    socket = new Socket(address.getAddress(), address.getPort());
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    input = new BufferedInputStream(socket.getInputStream());
  }

  /** Sends text, with \n for the end of a line. */
  RawClient send(String text) throws IOException {
    return sendExactly(text.replace("\n", "\r\n"));
  }

  RawClient sendExactly(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(ISO_8859_1));
    return this;
  }

  /** Sends each byte in a packet of its own, unless the server is slower than this client. */
  RawClient sendByteByByte(String text) throws IOException {
    for (byte one : text.getBytes(ISO_8859_1)) {
      socket.getOutputStream().write(one);
    }
    return this;
  }

  RawClient end() throws IOException {
    socket.shutdownOutput();
    return this;
  }

  /** Reads the next response. */
  Response receive() throws IOException {
    return receive(false);
  }

  /** Reads the next response; one to HEAD has no body. */
  Response receive(boolean toHead) throws IOException {
    String statusLine = line();
    int status = Integer.parseInt(statusLine.substring(9, 12));
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.merge(
          line.substring(0, colon).toLowerCase(Locale.ROOT),
          line.substring(colon + 1).strip(),
          (a, b) -> a + ", " + b);
    }
    boolean noBody = toHead || status < 200 || status == 204 || status == 304;
    return new Response(status, headers, noBody ? "" : body(headers));
  }

  private String body(Map<String, String> headers) throws IOException {
    if (headers.containsKey("content-length")) {
      int length = Integer.parseInt(headers.get("content-length"));
      return new String(input.readNBytes(length), ISO_8859_1);
    }
    if (!headers.containsKey("transfer-encoding")) {
      return new String(input.readAllBytes(), ISO_8859_1);
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int size = chunkSize(); size > 0; size = chunkSize()) {
      all.write(input.readNBytes(size));
      line();
    }
    line();
    return all.toString(ISO_8859_1);
  }

  private int chunkSize() throws IOException {
    return Integer.parseInt(line(), 16);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = input.read(); c != '\n'; c = input.read()) {
      if (c < 0) {
        throw new IOException("the connection has ended after: " + line);
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  /** Returns whether nothing more comes: it waits for the end, and for nothing else. */
  boolean hasEnded() throws IOException {
    try {
      return input.read() < 0;
    } catch (java.net.SocketException e) {
      return true; // reset: it had sent what nobody read
    }
  }

  /** Returns whether the next that comes is the end: not a byte, and no reset. */
  boolean hasEndedCleanly() throws IOException {
    return input.read() < 0;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
