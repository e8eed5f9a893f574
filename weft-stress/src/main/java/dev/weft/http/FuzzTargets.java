package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.weft.http.WebSocketFrames.Frame;
import dev.weft.http.WebSocketFrames.Violation;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the fuzzer calls: the parsers of what clients send. The first byte of an input chooses one:
 * {@code h} for the head of a request, {@code c} for chunks, {@code f} for the frames of a
 * WebSocket. It is given the same bytes twice, in long pieces and byte by byte, and has to come to
 * the same result; what it accepts has to be what the grammar of the RFC accepts, which is written
 * here a second time, as a pattern.
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
  private static final Pattern LINE_END = Pattern.compile("\\r\\n");

  private FuzzTargets() {}

  /** Called by the fuzzer. */
  public static void fuzzerTestOneInput(byte[] data) {
    if (data.length > 0) {
      byte[] rest = Arrays.copyOfRange(data, 1, data.length);
      switch (data[0]) {
        case 'h' -> checkHead(rest);
        case 'c' -> checkChunks(rest);
        case 'f' -> sameInAnyPieces(rest, FuzzTargets::parseFrames);
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
    return "left " + left(input) + ": " + said;
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
