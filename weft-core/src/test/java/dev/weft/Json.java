package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Just enough of a JSON parser to check that a text is JSON. */
public final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Returns maps, lists, strings, doubles and booleans. */
  public static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value();
    assertThat(json.at).as("nothing may follow").isEqualTo(text.length());
    return value;
  }

  private Object value() {
    return switch (peek()) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      case 't' -> literal("true", true);
      case 'f' -> literal("false", false);
      default -> number();
    };
  }

  private Map<String, Object> object() {
    Map<String, Object> fields = new LinkedHashMap<>();
    expect('{');
    while (peek() != '}') {
      String key = string();
      expect(':');
      fields.put(key, value());
      if (peek() == ',') {
        expect(',');
      }
    }
    expect('}');
    return fields;
  }

  private List<Object> array() {
    List<Object> values = new ArrayList<>();
    expect('[');
    while (peek() != ']') {
      values.add(value());
      if (peek() == ',') {
        expect(',');
      }
    }
    expect(']');
    return values;
  }

  private String string() {
    StringBuilder out = new StringBuilder();
    expect('"');
    while (text.charAt(at) != '"') {
      char c = text.charAt(at++);
      assertThat(c).as("control characters must be escaped").isGreaterThanOrEqualTo(' ');
      if (c == '\\') {
        char escaped = text.charAt(at++);
        switch (escaped) {
          case '"', '\\' -> out.append(escaped);
          case 'n' -> out.append('\n');
          case 'u' -> {
            out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
            at += 4;
          }
          default -> throw new AssertionError("no such escape: " + escaped);
        }
      } else {
        out.append(c);
      }
    }
    expect('"');
    return out.toString();
  }

  private Double number() {
    int start = at;
    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return Double.valueOf(text.substring(start, at));
  }

  private Object literal(String word, Object value) {
    assertThat(text.substring(at)).startsWith(word);
    at += word.length();
    return value;
  }

  private char peek() {
    while (Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return text.charAt(at);
  }

  private void expect(char c) {
    assertThat(peek()).isEqualTo(c);
    at++;
  }
}
