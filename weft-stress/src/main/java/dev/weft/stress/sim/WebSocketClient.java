package dev.weft.stress.sim;

import static dev.weft.stress.sim.Party.equal;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A client's end of a WebSocket (RFC 6455): short texts in ASCII, each in a frame. */
@SuppressWarnings("AddressSelection") // a simulated host has one address
final class WebSocketClient implements AutoCloseable {
  private static final int TEXT = 0x81;
  private static final int MASKED = 0x80;

  private final Socket socket;
  private final DataInputStream in;

  @SuppressWarnings("resource") // the caller closes it, or the failure does
  WebSocketClient(String host, int port, String path) throws IOException {
    socket = new Socket(host, port);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    try {
      socket.setSoTimeout(60_000);
      upgrade(host, path);
    } catch (Throwable e) {
      socket.close();
      throw e;
    }
  }

  private void upgrade(String host, String path) throws IOException {
    String request =
        """
        GET %s HTTP/1.1
        Host: %s
        Connection: Upgrade
        Upgrade: websocket
        Sec-WebSocket-Version: 13
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==

        """
            .formatted(path, host)
            .replace("\n", "\r\n");
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    equal(line().substring(0, 12), "HTTP/1.1 101", "the status");
    while (!line().isEmpty()) {
      // the other headers
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.readUnsignedByte(); next != '\n'; next = in.readUnsignedByte()) {
      line.append((char) next);
    }
    return line.toString().strip();
  }

  void send(String text) throws IOException {
    byte[] payload = text.getBytes(StandardCharsets.US_ASCII);
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.write(TEXT);
    frame.write(MASKED | payload.length);
    frame.write(new byte[4]); // a mask that changes nothing
    frame.write(payload);
    socket.getOutputStream().write(frame.toByteArray());
  }

  /**
   * Waits for the next text.
   *
   * @throws IOException if the server closes, or the connection breaks
   */
  String receive() throws IOException {
    if (in.readUnsignedByte() != TEXT) {
      throw new EOFException("the server closes");
    }
    byte[] payload = new byte[in.readUnsignedByte()];
    in.readFully(payload);
    return new String(payload, StandardCharsets.US_ASCII);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
