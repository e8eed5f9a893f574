package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * As many connections as the heap allows by default, each with as much as a client that has not
 * logged in can make the server keep: they fit, and the first one that does not ends the process.
 */
@Feature("A4")
@DisabledOnOs(OS.WINDOWS) // there is no env
class ImMemoryTest {
  /** A heap of 64 MB has 1,000 connections, and had 2,000 when each had 32 KB of it. */
  private static final int LINES = 2100;

  private static final int WEB_SOCKETS = 1000;

  /** A heap of 80 MB has 400 connections with TLS. */
  private static final int ENCRYPTED_SOCKETS = 750;

  private static final byte[] LINE = bytes("x".repeat(Command.MOST_BYTES));
  private static final byte[] HEAD = bytes(filled("GET / HTTP/1.1\r\nHost: x\r\nA: ", 8190));
  private static final String UPGRADE =
      """
      GET /chat HTTP/1.1\r
      Host: x\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
      """;

  /** The beginning of an encrypted record that has 16 KB and does not end. */
  private static final byte[] RECORD = longRecord();

  @TempDir Path folder;

  private final List<Socket> sockets = new ArrayList<>();

  @AfterEach
  void closeAll() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static String filled(String text, int length) {
    return text + "x".repeat(length - text.length());
  }

  private static byte[] longRecord() {
    byte[] record = new byte[16 << 10];
    System.arraycopy(new byte[] {0x17, 3, 3, 0x40, 0}, 0, record, 0, 5);
    return record;
  }

  /** Returns the frame of a message that has as many bytes as one may have, but for the last. */
  private static byte[] unfinishedMessage() {
    byte[] frame = new byte[8 + (16 << 10) - 1];
    Arrays.fill(frame, (byte) 'x');
    frame[0] = (byte) 0x81;
    frame[1] = (byte) (0x80 | 126);
    frame[2] = 0x40;
    frame[3] = 0;
    return frame;
  }

  private static ServerNode start(String heap, String... more) throws Exception {
    String options = "JDK_JAVA_OPTIONS=-Xmx%s -XX:+ExitOnOutOfMemoryError".formatted(heap);
    String database = "jdbc:h2:mem:memory;DB_CLOSE_DELAY=-1";
    return ServerNode.startInside(List.of("env", options), database, more);
  }

  private Socket open(InetSocketAddress address) throws IOException {
    Socket socket = new Socket(address.getAddress(), address.getPort());
    sockets.add(socket);
    return socket;
  }

  /** Sends what the server may refuse by closing the connection for a newer one. */
  private static void send(Socket socket, byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      // closed
    }
  }

  @Test
  void linesAndHeadsThatDoNotEnd() throws Exception {
    try (ServerNode node = start("64m");
        ImClient ann = ImClient.connect(node.address())) {
      assertThat(ann.ask("REGISTER ann " + ImClient.PASSWORD)).startsWith("OK ");
      for (int i = 0; i < LINES; i++) {
        send(open(node.address()), LINE);
        send(open(node.webAddress()), HEAD);
      }
      others(ann, node);
    }
  }

  @Test
  void messagesThatDoNotEnd() throws Exception {
    StringBuilder upgrade = new StringBuilder(UPGRADE);
    for (int i = 100; i < 280; i++) { // a map takes many times the bytes
      upgrade.append(i).append(":v\r\n");
    }
    byte[] request = bytes(upgrade.append("\r\n").toString());
    byte[] message = unfinishedMessage();
    try (ServerNode node = start("64m");
        ImClient ann = ImClient.connect(node.address())) {
      assertThat(ann.ask("REGISTER ann " + ImClient.PASSWORD)).startsWith("OK ");
      for (int i = 0; i < WEB_SOCKETS; i++) {
        Socket socket = open(node.webAddress());
        send(socket, request);
        assertThat(ImClient.readLine(socket.getInputStream())).startsWith("HTTP/1.1 101 ");
        send(socket, message);
      }
      others(ann, node);
    }
  }

  @Test
  @Timeout(180) // a thousand handshakes, on a machine that may be busy
  void linesAndHeadsThatDoNotEndOverTls() throws Exception {
    SSLContext client = ImTlsTest.clientOf(ImTlsTest.makePair(folder, "ec", "EC"));
    String certificate = folder.resolve("ec.crt").toString();
    String key = folder.resolve("ec.key").toString();
    try (ServerNode node = start("80m", "--tls", certificate, key)) {
      for (int i = 0; i < ENCRYPTED_SOCKETS; i++) {
        sendEncrypted(client, open(node.address()), LINE);
        sendEncrypted(client, open(node.webAddress()), HEAD);
      }
      Socket other = encrypted(client, open(node.address()));
      send(other, bytes("PING still here\n"));
      assertThat(ImClient.readLine(other.getInputStream())).isEqualTo("OK PING still here");
    }
  }

  /** Of TLS 1.2, which computes no keys for a client that comes back. */
  private static SSLSocket encrypted(SSLContext client, Socket socket) throws IOException {
    String host = socket.getInetAddress().getHostAddress();
    SSLSocket encrypted =
        (SSLSocket) client.getSocketFactory().createSocket(socket, host, socket.getPort(), true);
    encrypted.setEnabledProtocols(new String[] {"TLSv1.2"});
    return encrypted;
  }

  /** Sends some bytes encrypted, and then a record that does not end. */
  private static void sendEncrypted(SSLContext client, Socket socket, byte[] bytes)
      throws IOException {
    send(encrypted(client, socket), bytes);
    send(socket, RECORD);
  }

  /** A user and a visitor of the page notice nothing. */
  private void others(ImClient ann, ServerNode node) throws Exception {
    for (int i = 0; i < 20; i++) {
      assertThat(ann.ask("TELL ann number " + i)).startsWith("OK TELL ");
    }
    Socket visitor = open(node.webAddress());
    send(visitor, bytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    assertThat(ImClient.readLine(visitor.getInputStream())).startsWith("HTTP/1.1 200 ");
  }
}
