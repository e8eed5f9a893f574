package dev.weft.http;

import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The value of Sec-WebSocket-Extensions, RFC 6455, section 9.1: what a client offers, in its order.
 *
 * <pre>
 *   extension { "," extension }     extension = name { ";" name [ "=" ( token | quoted token ) ] }
 * </pre>
 *
 * <p>As in other lists of RFC 9110, section 5.6.1, elements may be empty, and blanks may stand
 * around separators. Anything else is refused, as section 9.1 demands.
 */
final class WebSocketExtensions {
  /**
   * One offer.
   *
   * @param name in small letters
   * @param parameters by name in small letters; an empty value means none was given, because a
   *     value that is given is not empty
   */
  record Offer(String name, Map<String, String> parameters) {}

  private final String line;
  private int at;

  private WebSocketExtensions(String line) {
    this.line = line;
  }

  /**
   * Returns the offers in the lines of the header; none if there is no such header.
   *
   * @throws ProtocolException if a line is malformed, or a parameter is there twice
   */
  static List<Offer> parse(@Nullable List<String> lines) throws ProtocolException {
    List<Offer> all = new ArrayList<>();
    for (String line : lines == null ? List.<String>of() : lines) {
      new WebSocketExtensions(line).addTo(all);
    }
    return all;
  }

  private void addTo(List<Offer> all) throws ProtocolException {
    do {
      skipBlanks();
      if (at < line.length() && line.charAt(at) != ',') {
        all.add(offer());
      }
    } while (takes(','));
    if (at < line.length()) {
      throw malformed();
    }
  }

  private Offer offer() throws ProtocolException {
    String name = token().toLowerCase(Locale.ROOT);
    Map<String, String> parameters = new HashMap<>();
    while (takes(';')) {
      skipBlanks();
      String parameter = token().toLowerCase(Locale.ROOT);
      if (parameters.put(parameter, takes('=') ? value() : "") != null) {
        throw new ProtocolException("an extension has the parameter " + parameter + " twice");
      }
    }
    return new Offer(name, parameters);
  }

  private String value() throws ProtocolException {
    skipBlanks();
    return at < line.length() && line.charAt(at) == '"' ? quoted() : token();
  }

  private String token() throws ProtocolException {
    int start = at;
    while (at < line.length() && RequestHead.isToken(line.charAt(at))) {
      at++;
    }
    if (at == start) {
      throw malformed();
    }
    return line.substring(start, at);
  }

  /** Takes a quoted string, of which the value has to be a token. */
  private String quoted() throws ProtocolException {
    StringBuilder value = new StringBuilder();
    for (at++; at < line.length() && line.charAt(at) != '"'; at++) {
      if (line.charAt(at) == '\\' && at + 1 < line.length()) {
        at++;
      }
      if (!RequestHead.isToken(line.charAt(at))) {
        throw malformed();
      }
      value.append(line.charAt(at));
    }
    if (at == line.length() || value.isEmpty()) {
      throw malformed();
    }
    at++;
    return value.toString();
  }

  /** Takes a separator, with the blanks before it, if it comes next. */
  private boolean takes(char separator) {
    skipBlanks();
    if (at < line.length() && line.charAt(at) == separator) {
      at++;
      return true;
    }
    return false;
  }

  private void skipBlanks() {
    while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) {
      at++;
    }
  }

  private static ProtocolException malformed() {
    return new ProtocolException("Sec-WebSocket-Extensions is no list of NAME; PARAMETER=VALUE");
  }
}
