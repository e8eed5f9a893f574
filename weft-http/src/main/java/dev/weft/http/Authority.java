package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.net.Inet6Address;
import java.util.regex.Pattern;

/**
 * The value of a Host header: {@code uri-host [ ":" port ]}, RFC 9110, section 7.2, and RFC 3986,
 * section 3.2.2. It may be empty.
 */
final class Authority {
  private static final boolean[] HOST = RequestHead.charactersOf("-._~!$&'()*+,;=");
  private static final Pattern FUTURE_LITERAL =
      Pattern.compile("[vV][0-9a-fA-F]+\\.[\\w.~!$&'()*+,;=:-]+");
  private static final int MOST_PORT = 65_535;

  private Authority() {}

  /** Returns whether these bytes, which have no spaces around them, are one. */
  static boolean isValid(byte[] bytes, int start, int end) {
    int at = start;
    if (at < end && bytes[at] == '[') {
      at = endOfLiteral(bytes, at + 1, end);
    } else {
      while (at < end && HOST[bytes[at] & 0xFF]) {
        at++;
      }
      if (at < end && bytes[at] == '%') {
        at = endOfEncoded(bytes, at, end);
      }
    }
    return at == end || (at >= 0 && bytes[at] == ':' && isPort(bytes, at + 1, end));
  }

  /** Returns the index behind the bracket that ends an IP address, or -1 if it is none. */
  private static int endOfLiteral(byte[] bytes, int start, int end) {
    int close = start;
    while (close < end && bytes[close] != ']') {
      close++;
    }
    if (close == end) {
      return -1;
    }
    String literal = new String(bytes, start, close - start, ISO_8859_1);
    return isIpv6(literal) || FUTURE_LITERAL.matcher(literal).matches() ? close + 1 : -1;
  }

  private static boolean isIpv6(String literal) {
    try {
      return literal.indexOf('%') < 0 && Inet6Address.ofLiteral(literal) != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Like the loop over usual characters, where some are percent-encoded; -1 if one is not so. */
  private static int endOfEncoded(byte[] bytes, int start, int end) {
    int at = start;
    while (at < end && (HOST[bytes[at] & 0xFF] || bytes[at] == '%')) {
      if (bytes[at] == '%') {
        if (at + 2 >= end || !isHex(bytes[at + 1]) || !isHex(bytes[at + 2])) {
          return -1;
        }
        at += 2;
      }
      at++;
    }
    return at;
  }

  private static boolean isHex(byte b) {
    return b > 0 && Character.digit(b, 16) >= 0;
  }

  private static boolean isPort(byte[] bytes, int start, int end) {
    int port = 0;
    for (int i = start; i < end; i++) {
      if (bytes[i] < '0' || bytes[i] > '9') {
        return false;
      }
      port = Math.min(MOST_PORT + 1, 10 * port + bytes[i] - '0');
    }
    return port <= MOST_PORT;
  }
}
