package dev.weft.http;

import static dev.weft.http.WebSocketFrames.BINARY;
import static dev.weft.http.WebSocketFrames.CONTINUATION;
import static dev.weft.http.WebSocketFrames.PING;
import static dev.weft.http.WebSocketFrames.TEXT;
import static dev.weft.http.WebSockets.FIN;
import static dev.weft.http.WebSockets.bytes;
import static dev.weft.http.WebSockets.frame;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.net.httpserver.HttpServer;
import dev.weft.http.WebSockets.Memory;
import dev.weft.testkit.Feature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compressed messages, RFC 7692, and texts that are checked while they come. */
@Feature("A3")
class WebSocketDeflateTest {
  private static final int RSV1 = 0x40;
  private static final int LIMIT = 100_000;

  private static byte[] hex(String digits) {
    return HexFormat.of().parseHex(digits.replace(" ", ""));
  }

  /** Compresses as a client does. */
  private static byte[] deflated(byte[] payload) {
    Deflater deflater = new Deflater(9, true);
    deflater.setInput(payload);
    byte[] result = new byte[payload.length + 1000];
    int size = deflater.deflate(result, 0, result.length, Deflater.SYNC_FLUSH);
    deflater.end();
    return Arrays.copyOf(result, size - 4);
  }

  private static WebSocket.Message receive(byte[]... frames) throws IOException {
    return new Memory(frames).socket(LIMIT, 100).receive().orElseThrow();
  }

  private static void assertRefused(int code, String why, byte[]... frames) throws IOException {
    Memory memory = new Memory(frames);
    WebSocket socket = memory.socket(LIMIT, 100);
    assertThatExceptionOfType(ProtocolException.class).isThrownBy(socket::receive).withMessage(why);
    assertThat(memory.sent()).hasToString("close " + code + " " + why);
  }

  // ---- agreeing ----

  @ParameterizedTest
  @CsvSource({
    "true, permessage-deflate",
    "true, Permessage-Deflate ; client_max_window_bits",
    "true, permessage-deflate; client_max_window_bits=10; server_no_context_takeover",
    "true, permessage-deflate; server_max_window_bits=15",
    "true, 'permessage-deflate; server_max_window_bits=\"15\"'",
    "true, 'permessage-deflate; server_max_window_bits=10, permessage-deflate'",
    "true, 'x-other, permessage-deflate; client_no_context_takeover'",
    "false, permessage-deflate; server_max_window_bits=10",
    "false, permessage-deflate; server_max_window_bits",
    "false, permessage-deflate; client_max_window_bits=16",
    "false, permessage-deflate; client_max_window_bits=08",
    "false, permessage-deflate; server_no_context_takeover=1",
    "true, 'permessage-deflate; client_max_window_bits=\"1\\0\"'",
    "true, 'x; y=\"a\\b\" ; z , , permessage-deflate'",
    "false, permessage-deflate; unknown",
    "false, permessage-bzip2",
  })
  void anOfferIsAcceptedIfItCanBeKept(boolean accepted, String offers) throws Exception {
    for (List<String> lines :
        List.of(List.of(offers), Arrays.asList(offers.split(", ", -1)))) { // in one line or several
      assertAnswer(accepted, lines);
    }
  }

  private static void assertAnswer(boolean accepted, List<String> lines) throws Exception {
    assertThat(WebSocketDeflate.answer(lines))
        .isEqualTo(
            accepted
                ? Optional.of(
                    "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
                : Optional.empty());
  }

  /** RFC 6455, section 9.1: a server fails the connection if a value is malformed. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "permessage-deflate; client_max_window_bits=",
        "permessage-deflate; client_max_window_bits=\"\"",
        "permessage-deflate; server_no_context_takeover=\"\"",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; x=\"a, permessage-deflate",
        "x; y=\"a, permessage-deflate, b\"",
        "x; y=\"a; permessage-deflate\"",
        "permessage-deflate;",
        "permessage-deflate; =10",
        "permessage-deflate x",
        "permessage deflate",
        "; server_no_context_takeover",
        "permessage-deflate; x=a b",
        "permessage-deflate; x=\"a\"b",
        "permessage-deflate; x=\"a\\",
      })
  void anOfferThatIsMalformedIsRefused(String offers) throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", WebSocket.handler(socket -> {}));
    server.start();
    try (RawClient client = new RawClient(server.getAddress())) {
      RawClient.Response response =
          client
              .send(
                  "GET / HTTP/1.1\nHost: x\nUpgrade: websocket\nConnection: Upgrade\n"
                      + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"
                      + "Sec-WebSocket-Version: 13\n"
                      + "Sec-WebSocket-Extensions: "
                      + offers
                      + "\n\n")
              .receive();
      assertThat(response.status()).isEqualTo(400);
      assertThat(response.body()).containsAnyOf("Sec-WebSocket-Extensions", "twice");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void aClientThatOffersItIsSentCompressedMessages() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/", WebSocket.handler(socket -> socket.send(socket.receiveText().orElseThrow())));
    server.start();
    String text = "all work and no play ".repeat(100);
    for (String offer : new String[] {"Sec-WebSocket-Extensions: permessage-deflate\r\n", ""}) {
      try (Socket socket =
          new Socket(server.getAddress().getAddress(), server.getAddress().getPort())) {
        socket
            .getOutputStream()
            .write(
                bytes(
                    "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                        + "Sec-WebSocket-Version: 13\r\n"
                        + offer
                        + "\r\n"));
        socket
            .getOutputStream()
            .write(
                offer.isEmpty()
                    ? frame(FIN | TEXT, bytes(text))
                    : frame(FIN | RSV1 | TEXT, deflated(bytes(text))));
        byte[] all = socket.getInputStream().readAllBytes();
        String head = new String(all, StandardCharsets.ISO_8859_1);
        head = head.substring(0, head.indexOf("\r\n\r\n") + 4);
        assertThat(head.contains("permessage-deflate")).isEqualTo(!offer.isEmpty());
        int first = all[head.length()] & 0xFF;
        assertThat(first).isEqualTo(FIN | TEXT | (offer.isEmpty() ? 0 : RSV1));
        assertThat(all.length - head.length() < 200).isEqualTo(!offer.isEmpty());
      }
    }
    server.stop(0);
  }

  @Test
  void aThresholdThatIsNoNumberIsRefused() {
    System.setProperty("weft.http.deflateFrom", "-1");
    try {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> WebSocket.handler(socket -> {}))
          .withMessage(
              "-Dweft.http.deflateFrom must be a number of bytes from 0 to 2147483647, not -1");
    } finally {
      System.clearProperty("weft.http.deflateFrom");
    }
  }

  // ---- receiving ----

  /** The examples of RFC 7692, section 7.2.3. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "f2 48 cd c9 c9 07 00", // one block
        "00 05 00 fa ff 48 65 6c 6c 6f 00", // not compressed
        "f3 48 cd c9 c9 07 00 00", // the last block of a stream
        "f2 48 05 00 00 00 ff ff ca c9 c9 07 00" // two blocks
      })
  void theExamplesOfTheRfcAreUnderstood(String payload) throws Exception {
    byte[] all = hex(payload);
    assertThat(receive(frame(FIN | RSV1 | TEXT, all))).isEqualTo(new WebSocket.Text("Hello"));
    assertThat(
            receive(
                frame(RSV1 | TEXT, Arrays.copyOf(all, 3)),
                frame(FIN | PING, bytes("between")),
                frame(FIN | CONTINUATION, Arrays.copyOfRange(all, 3, all.length))))
        .isEqualTo(new WebSocket.Text("Hello"));
  }

  /** A message that lacks its last bytes is not a shorter one. */
  @Test
  void aMessageThatIsCutShortIsRefused() throws Exception {
    Random random = new Random(4);
    StringBuilder words = new StringBuilder();
    for (int i = 0; i < 300; i++) {
      words.append(Integer.toString(random.nextInt(1000), 36)).append(' ');
    }
    for (byte[] whole :
        new byte[][] {
          hex("f2 48 cd c9 c9 07 00"),
          hex("00 05 00 fa ff 48 65 6c 6c 6f 00"),
          hex("f3 48 cd c9 c9 07 00 00"),
          deflated(bytes(words.toString())),
          deflated(new byte[50_000]),
        }) {
      assertThat(receive(frame(FIN | RSV1 | BINARY, whole))).isNotNull();
      int first = whole[0] == 0 ? 2 : 0; // 00 is an empty message
      for (int length = first; length < whole.length; length++) {
        assertRefused(
            1002,
            "a message cannot be decompressed",
            frame(FIN | RSV1 | BINARY, Arrays.copyOf(whole, length)));
      }
    }
  }

  /** RFC 7692, section 7.2.3.6: no bytes are not what an empty message is compressed to. */
  @Test
  void anEmptyMessageIsAnEmptyBlock() throws Exception {
    for (String empty : new String[] {"00", "02 00", "03 00 00"}) {
      assertThat(receive(frame(FIN | RSV1 | TEXT, hex(empty)))).isEqualTo(new WebSocket.Text(""));
    }
    assertRefused(1002, "a message cannot be decompressed", frame(FIN | RSV1 | TEXT, new byte[0]));
  }

  @Test
  void withoutALimitCompressedMessagesAreTaken() throws Exception {
    byte[] payload = new byte[1000];
    assertThat(
            new Memory(frame(FIN | RSV1 | BINARY, deflated(payload)))
                .socket(Integer.MAX_VALUE, 100)
                .receive())
        .contains(new WebSocket.Binary(payload));
  }

  @Test
  void messagesOfAnySizeAreInflatedAndOthersTakenAsTheyAre() throws Exception {
    Random random = new Random(1);
    for (int length : new int[] {0, 1, 255, 256, 257, 5_000, 65_536, LIMIT}) {
      byte[] noise = new byte[length];
      random.nextBytes(noise);
      for (byte[] payload : new byte[][] {noise, new byte[length]}) {
        assertThat(receive(frame(FIN | RSV1 | BINARY, deflated(payload))))
            .isEqualTo(new WebSocket.Binary(payload));
        assertThat(receive(frame(FIN | BINARY, payload))).isEqualTo(new WebSocket.Binary(payload));
      }
    }
  }

  @Test
  void messagesThatInflateBeyondTheLimitAreRefused() throws Exception {
    String why = "a message has more than " + LIMIT + " bytes";
    assertRefused(1009, why, frame(FIN | RSV1 | BINARY, deflated(new byte[LIMIT + 1])));
    byte[] bomb = deflated(new byte[50_000_000]);
    assertThat(bomb.length).isLessThan(LIMIT);
    assertRefused(1009, why, frame(FIN | RSV1 | BINARY, bomb));
    assertRefused(1009, why, frame(FIN | RSV1 | BINARY, new byte[LIMIT + LIMIT / 100]));
  }

  @Test
  void brokenCompressionAndReservedBitsAreRefused() throws Exception {
    String broken = "a message cannot be decompressed";
    assertRefused(1002, broken, frame(FIN | RSV1 | BINARY, hex("ff ff ff ff")));
    assertRefused(1002, broken, frame(FIN | RSV1 | BINARY, hex("03 00".repeat(100))));
    assertRefused(1007, "a text is not UTF-8", frame(FIN | RSV1 | TEXT, deflated(hex("61 80"))));
    String bits = "a frame has reserved bits set";
    assertRefused(1002, bits, frame(FIN | RSV1 | PING, bytes("x")));
    assertRefused(1002, bits, frame(FIN | 0x20 | TEXT, bytes("x")));
    assertRefused(
        1002,
        bits,
        frame(RSV1 | TEXT, hex("f2 48 cd")),
        frame(FIN | RSV1 | CONTINUATION, hex("c9 c9 07 00")));
    WebSocket plain = new Memory(frame(FIN | RSV1 | TEXT, hex("f248cdc9c90700"))).socket(LIMIT);
    assertThatExceptionOfType(ProtocolException.class).isThrownBy(plain::receive).withMessage(bits);
  }

  // ---- sending ----

  @Test
  void messagesThatGetShorterAreSentCompressed() throws Exception {
    Random random = new Random(2);
    for (int length : new int[] {0, 99, 100, 101, 1_000, 70_000}) {
      byte[] noise = new byte[length];
      random.nextBytes(noise);
      for (byte[] payload : new byte[][] {noise, new byte[length]}) {
        Memory memory = new Memory();
        memory.socket(LIMIT, 100).send(payload);
        byte[] sent = memory.written();
        boolean compressed = (sent[0] & RSV1) != 0;
        assertThat(compressed).isEqualTo(payload != noise && length >= 100);
        if (compressed) {
          assertThat(sent.length).isLessThan(payload.length);
          int header = (sent[1] & 0xFF) == 126 ? 4 : 2;
          assertThat(inflated(Arrays.copyOfRange(sent, header, sent.length))).isEqualTo(payload);
        }
      }
    }
  }

  /** Inflates as a client does. */
  private static byte[] inflated(byte[] compressed) throws Exception {
    Inflater inflater = new Inflater(true);
    byte[] all = WebSockets.join(compressed, hex("00 00 ff ff"));
    inflater.setInput(all);
    ByteArrayOutputStream result = new ByteArrayOutputStream();
    byte[] some = new byte[1000];
    for (int count = inflater.inflate(some); count > 0; count = inflater.inflate(some)) {
      result.write(some, 0, count);
    }
    inflater.end();
    return result.toByteArray();
  }

  // ---- UTF-8 ----

  /** The frame announces more than comes: the client is not waited for. */
  @ParameterizedTest
  @ValueSource(strings = {"61 80", "c0", "ed a0", "f4 90", "f5", "e0 9f", "e2 82 28", "ff"})
  void aTextIsRefusedAtTheFirstByteThatIsNotUtf8(String payload) throws Exception {
    byte[] whole = frame(TEXT, Arrays.copyOf(hex(payload), 100));
    byte[] begun = Arrays.copyOf(whole, 6 + hex(payload).length);
    assertRefused(1007, "a text is not UTF-8", begun);
    assertRefused(
        1007, "a text is not UTF-8", frame(TEXT, bytes("fine \u20AC")), frame(0, hex(payload)));
  }

  @Test
  void aTextThatEndsInACharacterIsRefused() throws Exception {
    assertRefused(1007, "a text is not UTF-8", frame(FIN | TEXT, hex("61 e2 82")));
    assertRefused(
        1007,
        "a text is not UTF-8",
        frame(TEXT, hex("61 e2 82")),
        frame(FIN | CONTINUATION, new byte[0]));
  }

  /** Whatever the pieces: it agrees with the JDK's decoder. */
  @Test
  void theCheckIsThatOfTheJdk() {
    Random random = new Random(3);
    for (int round = 0; round < 300_000; round++) {
      byte[] bytes = new byte[random.nextInt(12)];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] =
            switch (random.nextInt(4)) {
              case 0 -> (byte) random.nextInt(128);
              case 1 -> (byte) (0x80 | random.nextInt(64));
              case 2 -> (byte) (0xC0 | random.nextInt(64));
              default ->
                  new byte[] {(byte) 0xE0, (byte) 0xED, (byte) 0xF0, (byte) 0xF4, (byte) 0xA0}
                      [random.nextInt(5)];
            };
      }
      Utf8Check check = new Utf8Check();
      boolean accepted = true;
      for (int at = 0; accepted && at < bytes.length; ) {
        int count = Math.min(1 + random.nextInt(9), bytes.length - at);
        accepted = check.accepts(bytes, at, count);
        at += count;
      }
      if ((accepted && check.isComplete()) != isText(bytes)) {
        throw new AssertionError(HexFormat.of().formatHex(bytes));
      }
    }
  }

  private static boolean isText(byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
