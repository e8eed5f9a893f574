package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.weft.http.WebSocketFrames.Frame;
import dev.weft.http.WebSocketFrames.Violation;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.math.BigInteger;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * What the fuzzer calls: the parsers of what clients send. The first byte of an input chooses one:
 * {@code h} for the head of a request, {@code c} for chunks, {@code f} for the frames of a
 * WebSocket, {@code e} for the extensions that a WebSocket's client offers. Those that read from a
 * connection are given the same bytes twice, in long pieces and byte by byte, and have to come to
 * the same result. What they accept has to be what the RFC accepts, which is written here a second
 * time: as a pattern, or, for frames, as a reader of whole arrays.
 *
 * <p>In this package because the parsers are not public.
 */
public final class FuzzTargets {
  private static final int MOST_OF_MESSAGE = 300;
  private static final HttpLimits LIMITS =
      new HttpLimits(1_000, 10, 2_000, 0, 1, false, 1, 0, 0, 0, 0, 0);

  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]++";
  private static final String BLANKS = "[ \\t]*+";
  private static final String VALUE = "[\\t\\x20-\\x7E\\x80-\\xFF]*+";
  private static final String QUOTED =
      "\"(?:[\\t\\x20-\\x21\\x23-\\x5B\\x5D-\\x7E\\x80-\\xFF]|\\\\[\\t\\x20-\\x7E\\x80-\\xFF])*+\"";
  private static final String FIELDS = "(?:" + TOKEN + ":" + VALUE + "\\r\\n)*+\\r\\n";
  private static final Pattern HEAD =
      Pattern.compile(
          "(?:\\r\\n)*+" + TOKEN + " [!-~&&[^#\"<>\\\\^`{|}]]++ HTTP/1\\.[0-9]\\r\\n" + FIELDS);
  private static final Pattern SIZE =
      Pattern.compile(
          "([0-9A-Fa-f]++)(?:%1$s;%1$s%2$s(?:%1$s=%1$s(?:%2$s|%3$s))?+)*+\\r\\n"
              .formatted(BLANKS, TOKEN, QUOTED));
  private static final Pattern TRAILERS = Pattern.compile(FIELDS);
  private static final String QUOTED_TOKEN = "\"(?:\\\\?+[!#$%&'*+.^_`|~0-9A-Za-z-])++\"";
  private static final Pattern PARAMETER =
      Pattern.compile(
          "%1$s;%1$s(%2$s)(?:%1$s=%1$s(%2$s|%3$s))?+".formatted(BLANKS, TOKEN, QUOTED_TOKEN));
  private static final Pattern OFFER =
      Pattern.compile("(?:^|,)" + BLANKS + "(" + TOKEN + ")((?:" + PARAMETER + ")*+)");
  private static final Pattern EXTENSIONS =
      Pattern.compile(
          "%1$s(?:%2$s)?+%1$s(?:,%1$s(?:%2$s)?+%1$s)*+"
              .formatted(BLANKS, TOKEN + "(?:" + PARAMETER + ")*+"));
  private static final Pattern ACCEPTABLE =
      Pattern.compile(
          "permessage-deflate \\{(?:client_max_window_bits=(?:|[89]|1[0-5])(?:, |}))?+"
              + "(?:client_no_context_takeover=(?:, |}))?+"
              + "(?:server_max_window_bits=15(?:, |}))?+"
              + "(?:server_no_context_takeover=)?+}?+");
  private static final Pattern LINE_END = Pattern.compile("\\r\\n");

  private FuzzTargets() {}

  /** Called by the fuzzer. */
  public static void fuzzerTestOneInput(byte[] data) {
    if (data.length > 0) {
      byte[] rest = Arrays.copyOfRange(data, 1, data.length);
      switch (data[0]) {
        case 'h' -> checkHead(rest);
        case 'c' -> checkChunks(rest);
        case 'f' -> checkFrames(rest);
        case 'e' -> checkExtensions(new String(rest, ISO_8859_1));
        default -> {}
      }
    }
  }

  /** A parser on some input; returns its result in words. */
  private interface Parser {
    String parse(Input input) throws IOException, Rejected;
  }

  private static String sameInAnyPieces(byte[] data, Parser parser) {
    String whole = result(new Input(new Pieces(data, Integer.MAX_VALUE)), parser);
    String bytes = result(new Input(new Pieces(data, 1)), parser);
    check(whole.equals(bytes), "in one piece: " + whole + ", byte by byte: " + bytes);
    return whole;
  }

  private static String result(Input input, Parser parser) {
    try {
      return parser.parse(input);
    } catch (Rejected | EOFException e) {
      return "refused";
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  // ---- heads ----

  private static void checkHead(byte[] data) {
    String result = sameInAnyPieces(data, FuzzTargets::parseHead);
    if (result.startsWith("left ")) {
      int taken = data.length - Integer.parseInt(result.substring(5, result.indexOf(':')));
      String text = new String(data, 0, taken, ISO_8859_1);
      check(HEAD.matcher(text).matches(), "no head of a request, but accepted");
    }
  }

  private static String parseHead(Input input) throws IOException, Rejected {
    while (!RequestHead.hasBegun(input)) {
      if (!input.more()) {
        return "none";
      }
    }
    RequestHead head = RequestHead.read(input, LIMITS, () -> {});
    String said =
        "%s %s %s %s %d %s"
            .formatted(
                head.method(),
                head.uri(),
                head.protocol(),
                head.headers(),
                head.bodyLength(),
                head.keepsAlive());
    check(head.path().startsWith("/") || head.path().equals("*"), "no path: " + head.path());
    boolean chunked = head.headers().containsKey("Transfer-Encoding");
    check(!chunked || !head.headers().containsKey("Content-Length"), "two lengths");
    check(head.http10() || head.headers().get("Host").size() == 1, "not one host");
    checkLength(head.bodyLength(), chunked, head.headers().get("Content-Length"));
    return "left " + left(input) + ": " + said;
  }

  private static void checkLength(
      long length, boolean chunked, @Nullable List<String> contentLength) {
    long told =
        chunked
            ? RequestHead.CHUNKED
            : contentLength == null ? 0 : new BigInteger(contentLength.getFirst()).longValueExact();
    check(contentLength == null || contentLength.size() == 1, "not one Content-Length");
    check(length == told, "a body of " + length + " bytes, but the headers say " + told);
    check(chunked || (told >= 0 && told <= LIMITS.bodyBytes()), "a body of " + told + " bytes");
  }

  private static int left(Input input) throws IOException {
    int count = 0;
    while (input.read() >= 0) {
      count++;
    }
    return count;
  }

  // ---- chunks ----

  private static void checkChunks(byte[] data) {
    String result = sameInAnyPieces(data, FuzzTargets::parseChunks);
    if (!result.equals("refused")) {
      String expected = expectedOfChunks(new String(data, ISO_8859_1));
      check(result.equals(expected), result + ", but the grammar says " + expected);
    }
  }

  private static String parseChunks(Input input) throws IOException, Rejected {
    ChunkReader chunks = new ChunkReader(input, LIMITS);
    StringBuilder body = new StringBuilder();
    for (long size = chunks.next(); size > 0; size = chunks.next()) {
      if (size > LIMITS.bodyBytes()) {
        return "refused"; // as RequestBody does
      }
      byte[] some = new byte[(int) size];
      input.readFully(some, 0, some.length);
      body.append(new String(some, ISO_8859_1));
    }
    return left(input) + " " + body;
  }

  /** Does the same with patterns. */
  private static String expectedOfChunks(String text) {
    StringBuilder body = new StringBuilder();
    int at = 0;
    while (true) {
      Matcher line = SIZE.matcher(text).region(at, text.length());
      check(line.lookingAt(), "no size of a chunk at " + at);
      int size = Integer.parseInt(line.group(1), 16);
      at = line.end();
      if (size == 0) {
        break;
      }
      body.append(text, at, at + size);
      Matcher end = LINE_END.matcher(text).region(at + size, text.length());
      check(end.lookingAt(), "no end of a chunk at " + at);
      at = end.end();
    }
    Matcher trailers = TRAILERS.matcher(text).region(at, text.length());
    check(trailers.lookingAt(), "no trailers at " + at);
    return text.length() - trailers.end() + " " + body;
  }

  // ---- frames ----

  private static String parseFrames(Input input) throws IOException {
    Output nowhere = new Output((bytes, offset, length) -> {});
    WebSocketFrames frames = new WebSocketFrames(input, nowhere, MOST_OF_MESSAGE, 1);
    StringBuilder all = new StringBuilder();
    try {
      for (Frame frame = frames.read(); frame != null; frame = frames.read()) {
        byte[] payload = frame.payload();
        int most = frame.opcode() >= WebSocketFrames.CLOSE ? 125 : MOST_OF_MESSAGE;
        check(payload.length <= most, payload.length + " bytes");
        check(frame.opcode() != WebSocketFrames.TEXT || isText(payload), "no text");
        if (frame.opcode() == WebSocketFrames.CLOSE) {
          all.append(WebSocketClose.of(payload));
        }
        all.append(frame.opcode()).append(HexFormat.of().formatHex(payload)).append(' ');
      }
      return all + "end";
    } catch (Violation e) {
      return all.toString() + e.close();
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

  private static void checkFrames(byte[] data) {
    String result = sameInAnyPieces(data, FuzzTargets::parseFrames);
    String expected = new ReferenceFrames(data).all();
    check(
        oneReason(result).equals(oneReason(expected)), result + ", but RFC 6455 says " + expected);
  }

  /** Of a message that is both malformed and too long either may be said. */
  private static String oneReason(String result) {
    return result.replace(
        ReferenceFrames.cannotBeInflated().close().toString(),
        ReferenceFrames.tooLarge().close().toString());
  }

  /**
   * A second reader of frames, as simple as RFC 6455, section 5.2, and RFC 7692, section 7.2.2: all
   * bytes are there, one at a time is unmasked, and a message is inflated by a stream of the JDK.
   */
  private static final class ReferenceFrames {
    private final byte[] data;
    private final StringBuilder said = new StringBuilder();
    private final ByteArrayOutputStream message = new ByteArrayOutputStream();
    private int kind;
    private boolean compressed;
    private int at;

    ReferenceFrames(byte[] data) {
      this.data = data;
    }

    /** Returns what {@link #parseFrames} has to say. */
    String all() {
      try {
        while (at < data.length) {
          frame();
        }
        return kind == 0 ? said + "end" : "refused";
      } catch (Violation e) {
        return said.toString() + e.close();
      } catch (EOFException e) {
        return "refused"; // it ends in the middle
      }
    }

    private int next() throws EOFException {
      if (at == data.length) {
        throw new EOFException();
      }
      return data[at++] & 0xFF;
    }

    private void frame() throws EOFException, Violation {
      int first = next();
      int second = next();
      int opcode = first & 0x0F;
      boolean fin = (first & 0x80) != 0;
      boolean isControl = opcode >= 8;
      boolean begins = opcode == 1 || opcode == 2;
      require((first & (begins ? 0x30 : 0x70)) == 0, "a frame has reserved bits set");
      require((second & 0x80) != 0, "a frame is not masked");
      require(
          opcode <= 2 || (isControl && opcode <= 10), "a frame has the reserved opcode " + opcode);
      require(opcode != 0 || kind != 0, "a continuation continues nothing");
      require(!begins || kind == 0, "a message begins inside another one");
      require(!isControl || fin, "a control frame is fragmented");
      long length = second & 0x7F;
      require(!isControl || length <= 125, "a control frame has more than 125 bytes");
      int bytesOfLength = length == 126 ? 2 : length == 127 ? 8 : 0;
      byte[] head = taken(bytesOfLength + 4);
      if (bytesOfLength > 0) {
        BigInteger told = new BigInteger(1, Arrays.copyOf(head, bytesOfLength));
        require(told.bitLength() < 64, "a frame has a length of 64 bits");
        length = told.longValueExact();
        require(
            length >= (bytesOfLength == 2 ? 126 : 65_536),
            "a frame tells its length in more bytes than it needs");
      }
      if (begins) {
        compressed = (first & 0x40) != 0;
      }
      long most = compressed ? MOST_OF_MESSAGE + MOST_OF_MESSAGE / 256 + 64 : MOST_OF_MESSAGE;
      if (!isControl && length > most - message.size()) {
        throw tooLarge();
      }
      if (begins) {
        kind = opcode;
      }
      byte[] key = Arrays.copyOfRange(head, bytesOfLength, head.length);
      ByteArrayOutputStream target = isControl ? new ByteArrayOutputStream() : message;
      for (int i = 0; i < length; i++) {
        target.write(next() ^ key[i % 4]);
        checkText(!isControl && !compressed && kind == 1, target.toByteArray(), false);
      }
      if (isControl) {
        say(opcode, target.toByteArray());
      } else if (fin) {
        byte[] payload = message.toByteArray();
        if (compressed) {
          payload = inflated(payload);
        }
        checkText(kind == 1, payload, true);
        say(kind, payload);
        message.reset();
        kind = 0;
      }
    }

    private byte[] taken(int count) throws EOFException {
      byte[] bytes = new byte[count];
      for (int i = 0; i < count; i++) {
        bytes[i] = (byte) next();
      }
      return bytes;
    }

    private void say(int opcode, byte[] payload) throws Violation {
      if (opcode == WebSocketFrames.CLOSE) {
        said.append(WebSocketClose.of(payload));
      }
      said.append(opcode).append(HexFormat.of().formatHex(payload)).append(' ');
    }

    /** Checks what has come so far; a character may be incomplete unless that is all. */
    private static void checkText(boolean isText, byte[] bytes, boolean all) throws Violation {
      boolean isFine = !isText || isText(bytes);
      for (int count = 1; !isFine && !all && count <= 3; count++) {
        byte[] longer = Arrays.copyOf(bytes, bytes.length + count);
        for (int continuation : new int[] {0x80, 0xBF}) {
          Arrays.fill(longer, bytes.length, longer.length, (byte) continuation);
          isFine |= isText(longer);
        }
      }
      if (!isFine) {
        throw new Violation(WebSocketClose.NOT_UTF_8, "a text is not UTF-8");
      }
    }

    /** Feeds one byte at a time: what is behind the payload must not add any content. */
    private static byte[] inflated(byte[] payload) throws Violation {
      byte[] all = Arrays.copyOf(payload, payload.length + 9);
      System.arraycopy(new byte[] {0, 0, -1, -1, 1, 0, 0, -1, -1}, 0, all, payload.length, 9);
      ByteArrayOutputStream result = new ByteArrayOutputStream();
      byte[] one = new byte[1];
      Inflater inflater = new Inflater(true);
      try {
        int streams = 1;
        for (int i = 0; i < all.length; i++) {
          if (inflater.finished()) {
            inflater.reset();
            streams++;
          }
          inflater.setInput(all, i, 1);
          while (inflater.inflate(one) > 0) {
            result.write(one[0]);
            if (result.size() > MOST_OF_MESSAGE) {
              throw tooLarge();
            }
            if (i >= payload.length) {
              throw cannotBeInflated();
            }
          }
        }
        if (!inflater.finished() || streams > 16) {
          throw cannotBeInflated();
        }
      } catch (DataFormatException e) {
        throw cannotBeInflated();
      } finally {
        inflater.end();
      }
      return result.toByteArray();
    }

    private static Violation tooLarge() {
      return new Violation(
          WebSocketClose.TOO_LARGE, "a message has more than " + MOST_OF_MESSAGE + " bytes");
    }

    private static Violation cannotBeInflated() {
      return new Violation(WebSocketClose.PROTOCOL_ERROR, "a message cannot be decompressed");
    }

    private static void require(boolean holds, String otherwise) throws Violation {
      if (!holds) {
        throw new Violation(WebSocketClose.PROTOCOL_ERROR, otherwise);
      }
    }
  }

  // ---- extensions ----

  private static void checkExtensions(String line) {
    List<String> expected = new ArrayList<>();
    boolean isMalformed = !EXTENSIONS.matcher(line).matches();
    Matcher offers = OFFER.matcher(line);
    while (!isMalformed && offers.find()) {
      Map<String, String> parameters = new TreeMap<>();
      Matcher each = PARAMETER.matcher(offers.group(2));
      while (each.find()) {
        String value = each.group(2) == null ? "" : each.group(2);
        value = value.startsWith("\"") ? value.substring(1, value.length() - 1) : value;
        isMalformed |= parameters.put(lower(each.group(1)), value.replace("\\", "")) != null;
      }
      expected.add(lower(offers.group(1)) + " " + parameters);
    }
    boolean isAcceptable = expected.stream().anyMatch(one -> ACCEPTABLE.matcher(one).matches());
    try {
      List<String> parsed =
          WebSocketExtensions.parse(List.of(line)).stream()
              .map(offer -> offer.name() + " " + new TreeMap<>(offer.parameters()))
              .toList();
      check(!isMalformed, "malformed, but read as " + parsed);
      check(parsed.equals(expected), parsed + ", but the grammar says " + expected);
      boolean accepted = WebSocketDeflate.answer(List.of(line)).isPresent();
      check(accepted == isAcceptable, "accepted: " + accepted + ", of " + expected);
    } catch (ProtocolException e) {
      check(isMalformed, "refused, but the grammar says " + expected);
    }
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  // ---- where the bytes come from ----

  /** Bytes in memory that come in pieces. */
  private static final class Pieces implements Input.Source {
    private final byte[] bytes;
    private final int most;
    private int at;

    Pieces(byte[] bytes, int most) {
      this.bytes = Arrays.copyOf(bytes, bytes.length);
      this.most = most;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      if (at == bytes.length) {
        return -1;
      }
      int count = Math.min(most, Math.min(length, bytes.length - at));
      System.arraycopy(bytes, at, target, offset, count);
      at += count;
      return count;
    }
  }
}
