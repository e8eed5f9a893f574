package dev.weft.http;

import static dev.weft.http.WebSocketFrames.BINARY;
import static dev.weft.http.WebSocketFrames.CLOSE;
import static dev.weft.http.WebSocketFrames.CONTINUATION;
import static dev.weft.http.WebSocketFrames.PING;
import static dev.weft.http.WebSocketFrames.PONG;
import static dev.weft.http.WebSocketFrames.TEXT;
import static dev.weft.http.WebSockets.FIN;
import static dev.weft.http.WebSockets.bytes;
import static dev.weft.http.WebSockets.close;
import static dev.weft.http.WebSockets.closePayload;
import static dev.weft.http.WebSockets.frame;
import static dev.weft.http.WebSockets.join;
import static dev.weft.http.WebSockets.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.management.ThreadMXBean;
import dev.weft.http.WebSocketFrames.Frame;
import dev.weft.http.WebSocketFrames.Violation;
import dev.weft.http.WebSockets.Memory;
import dev.weft.http.WebSockets.Sent;
import dev.weft.testkit.Feature;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.management.ManagementFactory;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The rules of RFC 6455, on a connection in memory. */
@Feature("A3")
class WebSocketFramesTest {
  private static final int LIMIT = 100_000;
  private static final byte[] NOTHING = {};

  private static WebSocket.Message receiveOnly(byte[]... input) throws IOException {
    Memory memory = new Memory(input);
    WebSocket socket = memory.socket(LIMIT);
    WebSocket.Message message = socket.receive().orElseThrow();
    assertThat(memory.written()).isEmpty();
    assertThat(socket.isOpen()).isTrue();
    return message;
  }

  /** Checks that a client that sends this is told why it is closed, and so is the receiver. */
  private static void assertRefused(int code, String why, byte[]... input) throws IOException {
    Memory memory = new Memory(input);
    WebSocket socket = memory.socket(LIMIT);
    assertThatExceptionOfType(ProtocolException.class).isThrownBy(socket::receive).withMessage(why);
    assertThat(memory.sent()).hasToString("close " + code + " " + why);
    assertThat(socket.isOpen()).isFalse();
    assertThat(socket.closeCode()).hasValue(code);
    assertThat(socket.closeReason()).isEqualTo(why);
    assertThat(memory.isClosed()).isTrue();
    assertThat(socket.receive()).isEmpty();
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> socket.send("late"))
        .withMessageContaining("it was closed with " + code);
  }

  // ---- what is right ----

  @Test
  void textAndBinaryOfEveryFormOfLength() throws Exception {
    for (int length : new int[] {0, 1, 7, 8, 9, 125, 126, 127, 8191, 65_535, 65_536, LIMIT}) {
      byte[] payload = new byte[length];
      new Random(length).nextBytes(payload);
      assertThat(receiveOnly(frame(FIN | BINARY, payload)))
          .isEqualTo(new WebSocket.Binary(payload));
      String letters = "x".repeat(length);
      assertThat(receiveOnly(text(letters))).isEqualTo(new WebSocket.Text(letters));
    }
  }

  @Test
  void fragmentsAreJoinedAlsoInTheMiddleOfACharacter() throws Exception {
    byte[] smile = bytes("\uD83D\uDE42");
    assertThat(
            receiveOnly(
                frame(TEXT, Arrays.copyOf(smile, 1)),
                frame(CONTINUATION, NOTHING),
                frame(CONTINUATION, Arrays.copyOfRange(smile, 1, 3)),
                frame(FIN | CONTINUATION, Arrays.copyOfRange(smile, 3, 4))))
        .isEqualTo(new WebSocket.Text("\uD83D\uDE42"));
  }

  @Test
  void aReplacementCharacterThatWasSentIsText() throws Exception {
    assertThat(receiveOnly(text("a\uFFFDb"))).isEqualTo(new WebSocket.Text("a\uFFFDb"));
  }

  @Test
  void pingsAreAnsweredAlsoBetweenFragmentsAndPongsIgnored() throws Exception {
    Memory memory =
        new Memory(
            frame(BINARY, bytes("ab")),
            frame(FIN | PING, bytes("are you there")),
            frame(FIN | PONG, bytes("nobody asked")),
            frame(FIN | CONTINUATION, bytes("c")));
    assertThat(memory.socket(LIMIT).receive()).contains(new WebSocket.Binary(bytes("abc")));
    assertThat(memory.sent()).hasToString("pong are you there");
  }

  @Test
  void aMessageThatIsSentIsOneFrameInOneWrite() throws Exception {
    Memory memory = new Memory();
    WebSocket socket = memory.socket(LIMIT);
    socket.send("hello");
    assertThat(memory.written()).isEqualTo(join(new byte[] {(byte) 0x81, 5}, bytes("hello")));
    assertThat(memory.writes()).isEqualTo(1);
    for (int length : new int[] {0, 125, 126, 65_535, 65_536, 3_000_000}) {
      Memory other = new Memory();
      byte[] payload = new byte[length];
      new Random(length).nextBytes(payload);
      other.socket(LIMIT).send(payload);
      assertThat(other.sent().opcode()).isEqualTo(BINARY);
      assertThat(other.sent().payload()).isEqualTo(payload);
    }
    Memory third = new Memory();
    third.socket(LIMIT).ping(bytes("still there"));
    assertThat(third.sent()).hasToString("ping still there");
  }

  @Test
  void maskingIsTheSameAtEveryPlaceAndLength() {
    byte[] original = new byte[80];
    new Random(1).nextBytes(original);
    int key = 0x8899_AABB;
    for (int offset = 0; offset < 9; offset++) {
      for (int count = 0; count < 64; count++) {
        byte[] expected = original.clone();
        for (int i = 0; i < count; i++) {
          expected[offset + i] ^= (byte) (key >>> (8 * (i % 4)));
        }
        byte[] masked = original.clone();
        WebSocketFrames.mask(masked, offset, count, key);
        assertThat(masked).isEqualTo(expected);
      }
    }
  }

  // ---- what is wrong ----

  @Test
  void framesThatAreNotMasked() throws Exception {
    assertRefused(1002, "a frame is not masked", new byte[] {(byte) (FIN | TEXT), 1, 'x'});
  }

  @Test
  void reservedBits() throws Exception {
    for (int bit : new int[] {0x40, 0x20, 0x10}) {
      assertRefused(1002, "a frame has reserved bits set", frame(FIN | bit | TEXT, bytes("x")));
    }
  }

  @Test
  void reservedOpcodes() throws Exception {
    for (int opcode : new int[] {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
      assertRefused(
          1002, "a frame has the reserved opcode " + opcode, frame(FIN | opcode, NOTHING));
    }
  }

  @Test
  void controlFramesThatAreLongOrFragmented() throws Exception {
    for (int opcode : new int[] {CLOSE, PING, PONG}) {
      assertRefused(
          1002, "a control frame has more than 125 bytes", frame(FIN | opcode, new byte[126]));
      assertRefused(1002, "a control frame is fragmented", frame(opcode, NOTHING));
    }
  }

  @Test
  void fragmentsOutOfOrder() throws Exception {
    assertRefused(1002, "a continuation continues nothing", frame(CONTINUATION, bytes("x")));
    assertRefused(1002, "a continuation continues nothing", frame(FIN | CONTINUATION, NOTHING));
    assertRefused(
        1002, "a message begins inside another one", frame(TEXT, NOTHING), text("another"));
    assertRefused(
        1002,
        "a message begins inside another one",
        frame(BINARY, bytes("x")),
        frame(FIN | PONG, NOTHING),
        frame(BINARY, bytes("y")));
  }

  @Test
  void lengthsThatAreNotTheShortest() throws Exception {
    String why = "a frame tells its length in more bytes than it needs";
    byte first = (byte) (FIN | BINARY);
    assertRefused(1002, why, new byte[] {first, (byte) 0xFE, 0, 125, 0, 0, 0, 0});
    assertRefused(1002, why, new byte[] {first, (byte) 0xFF, 0, 0, 0, 0, 0, 0, -1, -1, 0, 0, 0, 0});
  }

  @Test
  void lengthsOf64Bits() throws Exception {
    assertRefused(
        1002,
        "a frame has a length of 64 bits",
        new byte[] {(byte) (FIN | BINARY), -1, (byte) 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  }

  @Test
  void messagesOverTheLimit() throws Exception {
    String why = "a message has more than 100000 bytes";
    assertRefused(1009, why, frame(FIN | BINARY, new byte[LIMIT + 1]));
    assertRefused(
        1009, why, frame(BINARY, new byte[LIMIT]), frame(FIN | CONTINUATION, new byte[1]));
    assertRefused(
        1009,
        why,
        new byte[] {(byte) (FIN | BINARY), -1, 0x7F, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0});
  }

  @Test
  void textThatIsNotUtf8() throws Exception {
    for (byte[] bad :
        new byte[][] {
          {(byte) 0x80}, // a continuation without a beginning
          {(byte) 0xC3}, // cut off
          {(byte) 0xC0, (byte) 0xAF}, // too long a form
          {(byte) 0xED, (byte) 0xA0, (byte) 0x80}, // a surrogate
          {(byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80}, // beyond the last
          {'a', (byte) 0xFF, 'b'}
        }) {
      assertRefused(1007, "a text is not UTF-8", frame(FIN | TEXT, bad));
      assertRefused(1007, "a text is not UTF-8", frame(FIN | CLOSE, closePayload(1000, bad)));
    }
  }

  @Test
  void closeFramesWithABadCode() throws Exception {
    assertRefused(1002, "a close frame has half a code", frame(FIN | CLOSE, new byte[1]));
    for (int code :
        new int[] {0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535}) {
      assertRefused(1002, "a close frame has the code " + code, close(code, "x"));
    }
  }

  // ---- the end ----

  @Test
  void anIncomingCloseIsAnsweredWithItsCode() throws Exception {
    for (int code : new int[] {1000, 1001, 1002, 1003, 1007, 1008, 1011, 1014, 3000, 4999}) {
      Memory memory = new Memory(close(code, "so be it"), text("too late"));
      WebSocket socket = memory.socket(LIMIT);
      assertThat(socket.isOpen()).isTrue();
      assertThat(socket.closeCode()).isEmpty();
      assertThat(socket.closeReason()).isEmpty();
      assertThat(socket.receive()).isEmpty();
      assertThat(memory.sent()).hasToString("close " + code + " so be it");
      assertThat(socket.closeCode()).hasValue(code);
      assertThat(socket.closeReason()).isEqualTo("so be it");
      assertThat(memory.isClosed()).isTrue();
      assertThat(socket.receive()).isEmpty();
    }
  }

  @Test
  void anIncomingCloseWithoutACodeIs1005() throws Exception {
    Memory memory = new Memory(frame(FIN | CLOSE, NOTHING));
    WebSocket socket = memory.socket(LIMIT);
    assertThat(socket.receive()).isEmpty();
    assertThat(socket.closeCode()).hasValue(1005);
    assertThat(memory.sent()).hasToString("close");
  }

  @Test
  void closeIsSentOnceAndWhatComesBeforeTheAnswerIsDropped() throws Exception {
    Memory memory =
        new Memory(
            text("dropped"),
            frame(FIN | PING, bytes("not answered")),
            close(1000, ""),
            text("never read"));
    WebSocket socket = memory.socket(LIMIT);
    socket.close(4000, "enough");
    socket.close(4001, "again");
    socket.close();
    assertThat(memory.sent()).hasToString("close 4000 enough");
    assertThat(socket.closeCode()).hasValue(4000);
    assertThat(socket.receive()).isEmpty();
    assertThat(memory.isClosed()).isTrue();
  }

  @Test
  void theEndWithoutACloseIs1006() throws Exception {
    Memory memory = new Memory(text("last"));
    WebSocket socket = memory.socket(LIMIT);
    assertThat(socket.receive()).contains(new WebSocket.Text("last"));
    assertThat(socket.receive()).isEmpty();
    assertThat(socket.closeCode()).hasValue(1006);
    assertThat(memory.written()).isEmpty();
  }

  @Test
  void theEndInTheMiddleIsAnError() throws Exception {
    byte[] all = join(frame(BINARY, new byte[300]), frame(FIN | CONTINUATION, new byte[300]));
    for (int length = 1; length < all.length; length++) {
      WebSocket socket = new Memory(Arrays.copyOf(all, length)).socket(LIMIT);
      assertThatExceptionOfType(EOFException.class)
          .isThrownBy(socket::receive)
          .withMessageStartingWith("the other side has ended in the middle");
      assertThat(socket.closeCode()).hasValue(1006);
      assertThat(socket.receive()).isEmpty();
    }
  }

  @Test
  void aFailureWhileSendingIsTheEnd() {
    Memory memory = new Memory();
    memory.close();
    WebSocket socket = memory.socket(LIMIT);
    assertThatExceptionOfType(EOFException.class).isThrownBy(() -> socket.send("x"));
    assertThat(socket.closeCode()).hasValue(1006);
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> socket.send("x"))
        .withMessageContaining("cannot send to WebSocket /memory of ")
        .withMessageContaining("it was closed with 1006");
  }

  // ---- what the caller must not do ----

  @Test
  void argumentsThatCannotBeSent() throws Exception {
    Memory memory = new Memory();
    WebSocket socket = memory.socket(LIMIT);
    for (int code : new int[] {0, 999, 1004, 1005, 1006, 1015, 2999, 5000}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> socket.close(code, ""))
          .withMessageEndingWith("not " + code);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> socket.close(1000, "\u00E4".repeat(62)))
        .withMessage("the reason of a close takes at most 123 bytes in UTF-8, not 124");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> socket.ping(new byte[126]))
        .withMessage("a ping has at most 125 bytes, not 126");
    assertThat(memory.written()).isEmpty();
    assertThat(socket.isOpen()).isTrue();
    socket.close(1000, "r".repeat(123));
    assertThat(memory.sent().payload()).hasSize(125);
  }

  @Test
  void subprotocolsAndTheLimitAreCheckedWhenAHandlerIsMade() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> WebSocket.handler(List.of("chat", "two words"), socket -> {}))
        .withMessageContaining("\"two words\"");
    for (String bad : List.of("0", "-1", "much", "2147483648")) {
      System.setProperty("weft.http.maxMessage", bad);
      try {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> WebSocket.handler(socket -> {}))
            .withMessage(
                "-Dweft.http.maxMessage must be a number of bytes from 1 to 2147483647, not "
                    + bad);
      } finally {
        System.clearProperty("weft.http.maxMessage");
      }
    }
  }

  @Test
  void theAnswerToAKeyIsThatOfTheRfc() {
    assertThat(WebSocketUpgrade.accept("dGhlIHNhbXBsZSBub25jZQ=="))
        .isEqualTo("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  }

  // ---- what it costs ----

  @Test
  void memoryIsForWhatHasComeNotForWhatIsAnnounced() {
    byte[] announced = {
      (byte) (FIN | BINARY), -1, 0, 0, 0, 0, 0x7F, -1, -1, -1, 0, 0, 0, 0, 'a', 'b', 'c'
    };
    WebSocketFrames frames = new Memory(announced).frames(Integer.MAX_VALUE);
    long before = allocated();
    assertThatExceptionOfType(EOFException.class).isThrownBy(frames::read);
    assertThat(allocated() - before).isLessThan(5_000_000);
  }

  @Test
  void manyShortFragmentsCostNoMoreThanOneLongOne() throws Exception {
    int count = 100_000;
    byte[] one = frame(CONTINUATION, bytes("x"));
    byte[][] input = new byte[count][];
    Arrays.fill(input, one);
    input[0] = frame(TEXT, bytes("x"));
    input[count - 1] = frame(FIN | CONTINUATION, bytes("x"));
    WebSocketFrames frames = new Memory(input).frames(count);
    long before = allocated();
    Frame frame = frames.read();
    assertThat(allocated() - before).isLessThan(5_000_000);
    assertThat(frame).isNotNull();
    assertThat(frame.payload()).hasSize(count).containsOnly('x');
  }

  private static long allocated() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  // ---- whatever comes ----

  @Test
  void messagesInRandomFragmentsAndPieces() throws Exception {
    Random random = new Random(20_251);
    for (int round = 0; round < 300; round++) {
      List<String> expected = new ArrayList<>();
      ByteArrayOutputStream input = new ByteArrayOutputStream();
      for (int i = 0; i < 5; i++) {
        byte[] payload = randomText(random);
        boolean isText = random.nextBoolean();
        writeInFragments(random, isText ? TEXT : BINARY, payload, input, expected);
        expected.add((isText ? TEXT : BINARY) + new String(payload, StandardCharsets.UTF_8));
      }
      boolean interrupts = random.nextBoolean();
      WebSocketFrames frames = new Memory(random, interrupts, input.toByteArray()).frames(LIMIT);
      List<String> read = new ArrayList<>();
      for (Optional<Frame> next = retry(frames); next.isPresent(); next = retry(frames)) {
        Frame frame = next.get();
        read.add(frame.opcode() + new String(frame.payload(), StandardCharsets.UTF_8));
      }
      assertThat(read).as("round %d", round).isEqualTo(expected);
    }
  }

  /** Reads again until it is not interrupted. */
  private static Optional<Frame> retry(WebSocketFrames frames) throws IOException {
    while (true) {
      try {
        return Optional.ofNullable(frames.read());
      } catch (InterruptedIOException e) {
        // it goes on where it was
      }
    }
  }

  private static byte[] randomText(Random random) {
    int length = random.nextInt(random.nextInt(10) == 0 ? 30_000 : 200);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.appendCodePoint(
          random.nextBoolean() ? 'a' + random.nextInt(26) : 0x1F600 + random.nextInt(64));
    }
    return bytes(text.toString());
  }

  private static void writeInFragments(
      Random random,
      int opcode,
      byte[] payload,
      ByteArrayOutputStream output,
      List<String> expected) {
    int first = opcode;
    int at = 0;
    while (random.nextInt(3) > 0) {
      int length = random.nextInt(payload.length - at + 1);
      byte[] part = Arrays.copyOfRange(payload, at, at + length);
      output.writeBytes(frame(first, part, random.nextInt()));
      at += length;
      first = CONTINUATION;
      if (random.nextBoolean()) {
        byte[] ping = bytes("p".repeat(random.nextInt(126)));
        output.writeBytes(frame(FIN | PING, ping, random.nextInt()));
        expected.add(PING + new String(ping, StandardCharsets.UTF_8));
      }
    }
    byte[] rest = Arrays.copyOfRange(payload, at, payload.length);
    output.writeBytes(frame(FIN | first, rest, random.nextInt()));
  }

  @Test
  void randomBytesAreAProtocolErrorOrTheEndAndNothingElse() throws Exception {
    Random random = new Random(6455);
    int violations = 0;
    int ends = 0;
    for (int round = 0; round < 50_000; round++) {
      byte[] input = random.nextBoolean() ? randomBytes(random) : damagedFrames(random);
      Memory memory = new Memory(random, false, input);
      WebSocket socket = memory.socket(1000);
      try {
        while (socket.receive().isPresent()) {
          assertThat(socket.isOpen()).isTrue();
        }
        ends++;
      } catch (Violation e) {
        violations++;
        assertThat(lastSent(memory).opcode()).isEqualTo(CLOSE);
        assertThat(socket.closeReason()).isEqualTo(e.getMessage());
      } catch (EOFException e) {
        ends++;
      }
      assertThat(socket.isOpen()).isFalse();
      assertThat(memory.isClosed()).isTrue();
    }
    assertThat(violations).isGreaterThan(10_000);
    assertThat(ends).isGreaterThan(1_000);
  }

  private static byte[] randomBytes(Random random) {
    byte[] input = new byte[random.nextInt(100)];
    random.nextBytes(input);
    return input;
  }

  private static byte[] damagedFrames(Random random) {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    for (int i = 0; i < 3; i++) {
      byte[] payload = bytes("m".repeat(random.nextInt(300)));
      writeInFragments(random, TEXT, payload, output, new ArrayList<>());
    }
    output.writeBytes(close(1000, "end"));
    byte[] input = output.toByteArray();
    for (int i = random.nextInt(3); i > 0; i--) {
      input[random.nextInt(input.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return input;
  }

  private static Sent lastSent(Memory memory) throws IOException {
    ByteArrayInputStream all = new ByteArrayInputStream(memory.written());
    Sent last = Sent.read(all);
    while (all.available() > 0) {
      last = Sent.read(all);
    }
    return last;
  }
}
