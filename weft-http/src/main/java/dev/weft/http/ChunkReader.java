package dev.weft.http;

import java.io.IOException;

/**
 * The lines between the chunks of a request's body, RFC 9112, section 7.1: sizes, extensions and
 * trailers. It is as strict as the grammar, because a proxy that reads a malformed line differently
 * would see other requests than this server does.
 *
 * <pre>
 *   chunk-size [ BWS ";" BWS name [ BWS "=" BWS value ] ]… CRLF  data  CRLF
 *   …
 *   0 [ extensions ] CRLF  [ name ":" value CRLF ]…  CRLF
 * </pre>
 *
 * <p>Extensions and trailers are checked and dropped.
 */
final class ChunkReader {
  /** The longest line that tells the size of a chunk; the JDK's server reads 2,050. */
  private static final int MOST_OF_LINE = 2048;

  /** Digits of a size that cannot overflow. */
  private static final int MOST_DIGITS = 15;

  /**
   * Bytes of lines beyond what chunks of usual size need. A client that sends long extensions with
   * tiny chunks would make the server read much and get little; Go's net/http has the same limit.
   */
  private static final int MOST_OVERHEAD = 16 * 1024;

  private static final int USUAL_OVERHEAD = 16;

  private final Input input;
  private final HttpLimits limits;
  private boolean first = true;
  private long overhead;
  private int lineLength;

  ChunkReader(Input input, HttpLimits limits) {
    this.input = input;
    this.limits = limits;
  }

  /**
   * Reads up to the data of the next chunk; the data of the last one have been taken.
   *
   * @return how many bytes follow; 0 at the end of the body, behind the trailers
   * @throws Rejected if the client has broken the rules; nothing can be read after that
   */
  long next() throws IOException, Rejected {
    if (!first) {
      expect('\r', "a chunk is longer than its size says");
      expect('\n', "a chunk is longer than its size says");
    }
    first = false;
    lineLength = 0;
    long size = size();
    overhead = Math.max(0, overhead + lineLength - USUAL_OVERHEAD - 2 * Math.min(size, 1 << 20));
    if (overhead > MOST_OVERHEAD) {
      throw bad("the chunks have more extensions than data");
    }
    if (size == 0) {
      skipTrailers();
    }
    return size;
  }

  // ---- the size, and extensions ----

  private long size() throws IOException, Rejected {
    long size = 0;
    int digits = 0;
    int next = nextOfLine();
    for (int digit = hexDigit(next); digit >= 0; digit = hexDigit(next)) {
      if (++digits > MOST_DIGITS) {
        throw bad("the size of a chunk has more than " + MOST_DIGITS + " digits");
      }
      size = 16 * size + digit;
      next = nextOfLine();
    }
    if (digits == 0) {
      throw bad("the size of a chunk is no number");
    }
    next = skipExtensions(next);
    if (next != '\r') {
      throw bad("there is something behind the size of a chunk that is no extension");
    }
    expect('\n', "a line between chunks ends with a carriage return alone");
    return size;
  }

  private static int hexDigit(int c) {
    return c < 128 ? Character.digit(c, 16) : -1;
  }

  /** Skips extensions, of which the first byte has been taken; returns the byte behind them. */
  private int skipExtensions(int taken) throws IOException, Rejected {
    int next = taken;
    while (next == ';' || isBlank(next)) {
      next = skipBlanks(next);
      if (next != ';') {
        throw bad("a line between chunks has spaces that no extension follows");
      }
      next = skipToken(skipBlanks(nextOfLine()));
      int behind = skipBlanks(next);
      if (behind == '=') {
        next = skipBlanks(nextOfLine());
        next = next == '"' ? skipQuoted() : skipToken(next);
      } else if (isBlank(next) && behind != ';') {
        throw bad("a line between chunks has spaces that no extension follows");
      } else {
        next = behind;
      }
    }
    return next;
  }

  private static boolean isBlank(int c) {
    return c == ' ' || c == '\t';
  }

  private int skipBlanks(int taken) throws IOException, Rejected {
    int next = taken;
    while (isBlank(next)) {
      next = nextOfLine();
    }
    return next;
  }

  private int skipToken(int taken) throws IOException, Rejected {
    int next = taken;
    if (!RequestHead.isToken(next)) {
      throw bad("an extension of a chunk is not NAME or NAME=VALUE");
    }
    while (RequestHead.isToken(next)) {
      next = nextOfLine();
    }
    return next;
  }

  /** Skips the rest of a quoted string, RFC 9110, section 5.6.4; returns the byte behind it. */
  private int skipQuoted() throws IOException, Rejected {
    for (int next = nextOfLine(); next != '"'; next = nextOfLine()) {
      if (!RequestHead.isValue(next == '\\' ? nextOfLine() : next)) {
        throw bad("an extension of a chunk has a character that is not allowed");
      }
    }
    return nextOfLine();
  }

  // ---- trailers ----

  private void skipTrailers() throws IOException, Rejected {
    int bytes = 0;
    for (int lines = 0; ; lines++) {
      int next = input.readByte();
      if (next == '\r') {
        expect('\n', "a line behind the last chunk ends with a carriage return alone");
        return;
      }
      if (lines == limits.headers()) {
        throw new Rejected(Status.HEADERS_TOO_LARGE, "there are too many trailers");
      }
      int name = 0;
      for (; RequestHead.isToken(next); name++) {
        checkTrailers(++bytes);
        next = input.readByte();
      }
      if (name == 0 || next != ':') {
        throw bad("a trailer is not NAME: VALUE");
      }
      for (next = input.readByte(); RequestHead.isValue(next); next = input.readByte()) {
        checkTrailers(++bytes);
      }
      if (next != '\r') {
        throw bad("a trailer has a character that is not allowed");
      }
      expect('\n', "a trailer has a character that is not allowed");
    }
  }

  private void checkTrailers(int bytes) throws Rejected {
    if (bytes > limits.headBytes()) {
      throw new Rejected(Status.HEADERS_TOO_LARGE, "the trailers are too long");
    }
  }

  // ---- bytes ----

  private int nextOfLine() throws IOException, Rejected {
    if (++lineLength > MOST_OF_LINE) {
      throw bad("a line between chunks is too long");
    }
    return input.readByte();
  }

  private void expect(int wanted, String otherwise) throws IOException, Rejected {
    if (input.readByte() != wanted) {
      throw bad(otherwise);
    }
  }

  private static Rejected bad(String why) {
    return new Rejected(Status.BAD_REQUEST, why);
  }
}
