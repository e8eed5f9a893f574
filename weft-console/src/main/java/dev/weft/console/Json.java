package dev.weft.console;

import dev.weft.internal.JsonText;
import java.util.Locale;

/** Writes JSON. Commas are set by the writer: a value after a value gets one. */
final class Json {
  private final StringBuilder out = new StringBuilder(4096);
  private boolean needsComma;

  Json object() {
    return open('{');
  }

  Json array() {
    return open('[');
  }

  private Json open(char bracket) {
    separate();
    out.append(bracket);
    needsComma = false;
    return this;
  }

  Json endObject() {
    return close('}');
  }

  Json endArray() {
    return close(']');
  }

  private Json close(char bracket) {
    out.append(bracket);
    needsComma = true;
    return this;
  }

  Json key(String name) {
    separate();
    out.append(JsonText.quote(name)).append(':');
    needsComma = false;
    return this;
  }

  Json value(String text) {
    separate();
    out.append(JsonText.quote(text));
    return this;
  }

  Json value(long number) {
    separate();
    out.append(number);
    return this;
  }

  Json value(boolean flag) {
    separate();
    out.append(flag);
    return this;
  }

  /** Writes nanoseconds as milliseconds. */
  Json millis(long nanos) {
    separate();
    if (nanos % 1_000_000 == 0) {
      out.append(nanos / 1_000_000);
    } else {
      out.append(String.format(Locale.ROOT, "%.2f", nanos / 1e6));
    }
    return this;
  }

  Json field(String name, String text) {
    return key(name).value(text);
  }

  Json field(String name, long number) {
    return key(name).value(number);
  }

  Json field(String name, boolean flag) {
    return key(name).value(flag);
  }

  private void separate() {
    if (needsComma) {
      out.append(',');
    }
    needsComma = true;
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
