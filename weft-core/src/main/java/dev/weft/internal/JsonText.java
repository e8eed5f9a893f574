package dev.weft.internal;

/**
 * Writes strings as JSON (RFC 8259, section 7). Escaped are also the other control characters, so
 * that a terminal can show the text; surrogates, which may be alone; and the separators of lines
 * and paragraphs, which JavaScript before 2019 did not take in a string.
 */
public final class JsonText {
  private static final char LINE = '\u2028';
  private static final char PARAGRAPH = '\u2029';

  private JsonText() {}

  /** Returns the text as a JSON string, with its quotes. */
  public static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> out.append('\\').append(c);
        case '\n' -> out.append("\\n");
        default -> {
          if (Character.isISOControl(c)
              || Character.isSurrogate(c)
              || c == LINE
              || c == PARAGRAPH) {
            out.append("\\u%04x".formatted((int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    return out.append('"').toString();
  }
}
