package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A request up to its body: the request line and what its headers mean for the connection.
 *
 * <p>As strict as RFC 9112 wants it of a server at the end of a chain: what two servers could
 * understand differently (two lengths, a length and chunks, folded lines, bare line feeds, spaces
 * before a colon, no host or two) is refused.
 */
final class RequestHead {
  /** Of a body whose length its chunks tell. */
  static final long CHUNKED = -1;

  /** What a request for a response without content begins with. */
  private static final String HEAD = "HEAD ";

  private static final int CR = '\r';
  private static final int LF = '\n';

  /** Characters of methods and of the names of headers. */
  private static final boolean[] TOKEN = charactersOf("!#$%&'*+-.^_`|~");

  /** Characters of a target that is a valid URI whatever their order, after a single slash. */
  private static final boolean[] PLAIN = charactersOf("/?-._~!$&'()*+,;=:@");

  /** All characters of a target. A target has no fragment: RFC 9112, section 3.2. */
  private static final boolean[] TARGET = charactersOf("/?-._~!$&'()*+,;=:@%[]");

  /**
   * What the JDK's server counts for a line beside its characters, so that its limit holds here.
   */
  private static final int OVERHEAD_OF_LINE = 31;

  private final String method;
  private final String target;
  private final boolean http10;
  private final RequestHeaders headers;
  private @Nullable URI uri;
  private long bodyLength;
  private boolean expectsContinue;
  private boolean wantsClose;
  private boolean wantsKeepAlive;

  // while it is parsed
  private boolean hostSeen;
  private boolean lengthSeen;
  private @Nullable String encodings;

  private RequestHead(String method, String target, boolean http10, RequestHeaders headers) {
    this.method = method;
    this.target = target;
    this.http10 = http10;
    this.headers = headers;
  }

  /** Returns whether a character may be in a method, the name of a header, a token. */
  static boolean isToken(int c) {
    return c < TOKEN.length && TOKEN[c];
  }

  /** Returns whether a character may be in the value of a header. */
  static boolean isValue(int c) {
    return (c >= ' ' && c != 127) || c == '\t';
  }

  static boolean[] charactersOf(String others) {
    boolean[] set = new boolean[256];
    for (char c = '0'; c <= 'z'; c++) {
      set[c] = Character.isLetterOrDigit(c);
    }
    others.chars().forEach(c -> set[c] = true);
    return set;
  }

  // ---- reading ----

  /**
   * Returns whether the first byte of a request is there, without a wait. Takes empty lines before
   * it: old clients send one too many after a body, RFC 9112, section 2.2.
   */
  static boolean hasBegun(Input input) {
    while (input.end() - input.start() >= 2
        && input.bytes()[input.start()] == CR
        && input.bytes()[input.start() + 1] == LF) {
      input.take(2);
    }
    return !input.isEmpty()
        && (input.bytes()[input.start()] != CR || input.end() - input.start() > 1);
  }

  /**
   * Reads the next request head, which {@linkplain #hasBegun has begun}.
   *
   * @param whenIncomplete called once, if it has to wait for more of it
   */
  static RequestHead read(Input input, HttpLimits limits, Runnable whenIncomplete)
      throws IOException, Rejected {
    try {
      int length = find(input, limits, whenIncomplete);
      RequestHead head = parse(input.bytes(), input.start(), input.start() + length, limits);
      input.take(length);
      return head;
    } catch (Rejected e) {
      int there = Math.min(HEAD.length(), input.end() - input.start());
      String first = new String(input.bytes(), input.start(), there, ISO_8859_1);
      throw e.toHead(first.equals(HEAD));
    }
  }

  /** Waits until the empty line behind the headers is there; returns the length up to there. */
  private static int find(Input input, HttpLimits limits, Runnable whenIncomplete)
      throws IOException, Rejected {
    int seen = 0;
    while (true) {
      byte[] bytes = input.bytes();
      int start = input.start();
      int end = input.end();
      for (int i = start + seen; i < end; i++) {
        if (bytes[i] == LF) {
          if (i == start || bytes[i - 1] != CR) {
            throw bad("a line ends with a line feed alone");
          }
          if (i - start >= 3 && bytes[i - 2] == LF && bytes[i - 3] == CR) {
            return i + 1 - start;
          }
        }
      }
      if (end - start > limits.headBytes()) {
        throw tooLarge(bytes, start, start + limits.headBytes());
      }
      if (seen == 0) {
        if (!TOKEN[bytes[start] & 0xFF]) {
          throw bad(
              "the request does not begin with a method"); // it may be TLS: no wait for a line
        }
        whenIncomplete.run();
      }
      seen = end - start;
      if (!input.more(limits.headBytes())) {
        throw new Rejected(Status.BAD_REQUEST, "the request ends in the middle of its headers");
      }
    }
  }

  /** Tells what is too large, the request line or the headers, by where the limit is. */
  private static Rejected tooLarge(byte[] bytes, int start, int limit) {
    return indexOf(bytes, start, limit, LF) == limit
        ? new Rejected(Status.URI_TOO_LONG, "the request line is too long")
        : new Rejected(Status.HEADERS_TOO_LARGE, "the headers are too long");
  }

  // ---- parsing ----

  private static RequestHead parse(byte[] bytes, int start, int end, HttpLimits limits)
      throws Rejected {
    int firstSpace = indexOf(bytes, start, end, ' ');
    int secondSpace = indexOf(bytes, firstSpace + 1, end, ' ');
    int lineEnd = indexOf(bytes, start, end, CR);
    if (firstSpace == start
        || secondSpace >= lineEnd
        || secondSpace == firstSpace + 1
        || bytes[lineEnd + 1] != LF) {
      throw bad("the request line is not METHOD TARGET VERSION");
    }
    for (int i = start; i < firstSpace; i++) {
      if (!TOKEN[bytes[i] & 0xFF]) {
        throw bad("the method has a character that is not allowed");
      }
    }
    boolean http10 = isHttp10(bytes, secondSpace + 1, lineEnd);
    int headersStart = lineEnd + 2;
    int headersEnd = end - 2;
    RequestHead head =
        new RequestHead(
            methodOf(bytes, start, firstSpace),
            new String(bytes, firstSpace + 1, secondSpace - firstSpace - 1, ISO_8859_1),
            http10,
            new RequestHeaders(Arrays.copyOfRange(bytes, headersStart, headersEnd)));
    if (!isPlain(bytes, firstSpace + 1, secondSpace) || head.method.equals("CONNECT")) {
      head.parseTarget();
    }
    int lines = head.parseHeaders(bytes, headersStart, headersEnd, limits);
    if (end - start + (long) OVERHEAD_OF_LINE * (lines + 1) > limits.headBytes()) {
      throw tooLarge(bytes, start, start + Math.min(limits.headBytes(), end - start));
    }
    head.checkFraming(limits);
    return head;
  }

  /** The usual ones are not made anew each time. */
  private static String methodOf(byte[] bytes, int start, int end) {
    if (end - start == 3 && bytes[start] == 'G' && bytes[start + 1] == 'E') {
      return bytes[start + 2] == 'T' ? "GET" : new String(bytes, start, 3, ISO_8859_1);
    }
    return new String(bytes, start, end - start, ISO_8859_1);
  }

  private static boolean isHttp10(byte[] bytes, int start, int end) throws Rejected {
    boolean http1 =
        end - start == 8
            && bytes[start] == 'H'
            && bytes[start + 1] == 'T'
            && bytes[start + 2] == 'T'
            && bytes[start + 3] == 'P'
            && bytes[start + 4] == '/'
            && bytes[start + 6] == '.'
            && isDigit(bytes[start + 5])
            && isDigit(bytes[start + 7]);
    if (!http1) {
      throw bad("the request line does not end with the version, as in HTTP/1.1");
    }
    if (bytes[start + 5] != '1') {
      throw new Rejected(Status.VERSION_NOT_SUPPORTED, "only HTTP/1.1 and HTTP/1.0 are spoken");
    }
    return bytes[start + 7] == '0';
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  /** Most targets need not be parsed to know that they can be. */
  private static boolean isPlain(byte[] bytes, int start, int end) {
    if (bytes[start] != '/' || (end - start > 1 && bytes[start + 1] == '/')) {
      return false;
    }
    for (int i = start; i < end; i++) {
      if (!PLAIN[bytes[i] & 0xFF]) {
        return false;
      }
    }
    return true;
  }

  /** Parses a target of any of the four forms of RFC 9112, section 3.2. */
  private void parseTarget() throws Rejected {
    if (method.equals("CONNECT")) {
      throw new Rejected(Status.NOT_IMPLEMENTED, "this server is no proxy: it does not CONNECT");
    }
    if (!target.chars().allMatch(c -> TARGET[c])) {
      throw bad("the target has a character that is not allowed");
    }
    if (target.startsWith("//")) { // URI would take the first segment for a host
      throw bad("the target begins with two slashes");
    }
    URI parsed;
    try {
      parsed = new URI(target);
    } catch (URISyntaxException e) {
      throw bad("the target is not a URI: " + e.getReason());
    }
    uri = parsed;
    if (target.startsWith("/") || (target.equals("*") && method.equals("OPTIONS"))) {
      return;
    }
    if (!"http".equalsIgnoreCase(parsed.getScheme())
        && !"https".equalsIgnoreCase(parsed.getScheme())) {
      throw bad("the target is neither a path nor a URI of http or https");
    }
    String authority = parsed.getRawAuthority();
    if (authority == null
        || authority.startsWith(":")
        || !Authority.isValid(authority.getBytes(ISO_8859_1), 0, authority.length())) {
      throw bad("the target has no host, or a user before it");
    }
    headers.host(authority);
  }

  /** Checks each header line and notes those that matter here; returns how many there are. */
  private int parseHeaders(byte[] bytes, int start, int end, HttpLimits limits) throws Rejected {
    int count = 0;
    for (int at = start; at < end; ) {
      int colon = at;
      while (TOKEN[bytes[colon] & 0xFF]) {
        colon++;
      }
      if (bytes[colon] != ':' || colon == at) {
        throw bad("a header line is not NAME: VALUE");
      }
      int lineEnd = colon + 1;
      while (isValue(bytes[lineEnd] & 0xFF)) {
        lineEnd++;
      }
      if (bytes[lineEnd] != CR || bytes[lineEnd + 1] != LF) {
        throw bad("a header has a character that is not allowed");
      }
      if (++count > limits.headers()) {
        throw new Rejected(
            Status.HEADERS_TOO_LARGE, "there are more than " + limits.headers() + " headers");
      }
      parseHeader(bytes, at, colon, lineEnd);
      at = lineEnd + 2;
    }
    return count;
  }

  /** Checks what only all headers together tell. */
  private void checkFraming(HttpLimits limits) throws Rejected {
    if (!hostSeen && !http10) {
      throw bad("the request has no Host");
    }
    if (encodings != null) {
      bodyLength = CHUNKED;
      checkEncodings(encodings);
      if (lengthSeen) {
        throw bad("the request has a Content-Length and a Transfer-Encoding");
      }
    }
    if (bodyLength > limits.bodyBytes()) {
      throw new Rejected(
          Status.CONTENT_TOO_LARGE, "the body is longer than " + limits.bodyBytes() + " bytes");
    }
  }

  /** RFC 9112, section 6.3: without chunked at the end the end of the body cannot be known. */
  private static void checkEncodings(String encodings) throws Rejected {
    List<String> codings =
        Arrays.stream(encodings.split(",", -1))
            .map(coding -> coding.strip().toLowerCase(Locale.ROOT))
            .filter(coding -> !coding.isEmpty())
            .toList();
    if (codings.isEmpty() || codings.indexOf("chunked") != codings.size() - 1) {
      throw bad("the Transfer-Encoding does not end with chunked, once");
    }
    if (codings.size() > 1) {
      throw new Rejected(
          Status.NOT_IMPLEMENTED, "the only Transfer-Encoding that is known is chunked");
    }
  }

  /** Takes note of what a header says to the server; its length tells most of them apart. */
  private void parseHeader(byte[] bytes, int start, int colon, int end) throws Rejected {
    switch (colon - start) {
      case 4 -> {
        if (is("host", bytes, start)) {
          if (hostSeen) {
            throw bad("the request has two Hosts");
          }
          hostSeen = true;
          checkHost(bytes, colon + 1, end);
        }
      }
      case 6 -> {
        if (is("expect", bytes, start)) {
          if (!"100-continue".equalsIgnoreCase(value(bytes, colon, end))) {
            throw new Rejected(Status.EXPECTATION_FAILED, "only 100-continue can be expected");
          }
          expectsContinue = !http10;
        }
      }
      case 10 -> {
        if (is("connection", bytes, start)) {
          for (String option : value(bytes, colon, end).split(",", -1)) {
            wantsClose |= "close".equalsIgnoreCase(option.strip());
            wantsKeepAlive |= "keep-alive".equalsIgnoreCase(option.strip());
          }
        }
      }
      case 14 -> {
        if (is("content-length", bytes, start)) {
          if (lengthSeen) {
            throw bad("the request has two Content-Lengths");
          }
          lengthSeen = true;
          bodyLength = length(value(bytes, colon, end));
        }
      }
      case 17 -> {
        if (is("transfer-encoding", bytes, start)) {
          String value = value(bytes, colon, end);
          encodings = encodings == null ? value : encodings + "," + value;
        }
      }
      default -> {}
    }
  }

  private static void checkHost(byte[] bytes, int from, int to) throws Rejected {
    int start = from;
    int end = to;
    while (start < end && (bytes[start] == ' ' || bytes[start] == '\t')) {
      start++;
    }
    while (start < end && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t')) {
      end--;
    }
    if (!Authority.isValid(bytes, start, end)) {
      throw bad("the Host is not NAME or NAME:PORT");
    }
  }

  /** Returns whether a name is this one, which is in small letters and of the same length. */
  private static boolean is(String name, byte[] bytes, int start) {
    for (int i = 0; i < name.length(); i++) {
      int c = bytes[start + i];
      if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != name.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private static String value(byte[] bytes, int colon, int end) {
    return new String(bytes, colon + 1, end - colon - 1, ISO_8859_1).strip();
  }

  private static long length(String value) throws Rejected {
    if (value.isEmpty() || value.length() > 18 || !value.chars().allMatch(c -> isDigit((byte) c))) {
      throw bad("the Content-Length is no number of bytes");
    }
    return Long.parseLong(value);
  }

  private static int indexOf(byte[] bytes, int start, int end, int wanted) {
    int at = start;
    while (at < end && bytes[at] != wanted) {
      at++;
    }
    return at;
  }

  private static Rejected bad(String why) {
    return new Rejected(Status.BAD_REQUEST, why);
  }

  // ---- what it says ----

  String method() {
    return method;
  }

  boolean isHead() {
    return method.equals("HEAD");
  }

  URI uri() {
    URI known = uri;
    if (known == null) {
      known = URI.create(target);
      uri = known;
    }
    return known;
  }

  /** The decoded path, which contexts are found by; a URI that has none means the root. */
  String path() {
    URI known = uri;
    if (known != null) {
      return known.getPath().isEmpty() ? "/" : known.getPath();
    }
    int query = target.indexOf('?');
    return query < 0 ? target : target.substring(0, query);
  }

  boolean http10() {
    return http10;
  }

  String protocol() {
    return http10 ? "HTTP/1.0" : "HTTP/1.1";
  }

  RequestHeaders headers() {
    return headers;
  }

  /** How many bytes follow, or {@link #CHUNKED}. */
  long bodyLength() {
    return bodyLength;
  }

  boolean expectsContinue() {
    return expectsContinue;
  }

  /**
   * Whether another request may follow. None may follow chunks of HTTP/1.0, which does not know
   * them: RFC 9112, section 6.1.
   */
  boolean keepsAlive() {
    return !wantsClose && (!http10 || (wantsKeepAlive && encodings == null));
  }
}
