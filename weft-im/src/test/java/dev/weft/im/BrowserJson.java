package dev.weft.im;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** As much of JSON as WebDriver needs: maps, lists, strings, numbers as doubles, booleans, null. */
final class BrowserJson {
  private final String text;
  private int at;

  private BrowserJson(String text) {
    this.text = text;
  }

  static @Nullable Object parse(String text) {
    return new BrowserJson(text).value();
  }

  static String quote(String string) {
    StringBuilder result = new StringBuilder("\"");
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      if (c < ' ' || c == '"' || c == '\\') {
        result.append(String.format("\\u%04x", (int) c));
      } else {
        result.append(c);
      }
    }
    return result.append('"').toString();
  }

  private @Nullable Object value() {
    return switch (peek()) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      default -> word();
    };
  }

  private Map<String, @Nullable Object> object() {
    Map<String, @Nullable Object> result = new LinkedHashMap<>();
    at++;
    while (peek() != '}') {
      String key = string();
      expect(':');
      result.put(key, value());
      skipComma();
    }
    at++;
    return result;
  }

  private List<@Nullable Object> array() {
    List<@Nullable Object> result = new ArrayList<>();
    at++;
    while (peek() != ']') {
      result.add(value());
      skipComma();
    }
    at++;
    return result;
  }

  private String string() {
    expect('"');
    StringBuilder result = new StringBuilder();
    for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
      result.append(c == '\\' ? escaped() : c);
    }
    return result.toString();
  }

  private char escaped() {
    char c = text.charAt(at++);
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'u' -> {
        at += 4;
        yield (char) Integer.parseInt(text, at - 4, at, 16);
      }
      default -> c;
    };
  }

  private @Nullable Object word() {
    int start = at;
    while (at < text.length() && ",]} \n\r\t".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    String word = text.substring(start, at);
    return switch (word) {
      case "null" -> null;
      case "true", "false" -> word.equals("true");
      default -> Double.valueOf(word);
    };
  }

  private char peek() {
    while (Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return text.charAt(at);
  }

  private void expect(char c) {
    if (peek() != c) {
      throw new IllegalArgumentException("no " + c + " at " + at + " of " + text);
    }
    at++;
  }

  private void skipComma() {
    if (peek() == ',') {
      at++;
    }
  }
}
