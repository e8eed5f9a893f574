package dev.weft.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The time as headers have it, made once a second. */
final class HttpDate {
  private static final DateTimeFormatter FORM =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private record Made(long second, String text) {}

  private static volatile Made last = make(0);

  private HttpDate() {}

  static String now() {
    long second = System.currentTimeMillis() / 1000;
    Made known = last;
    if (known.second != second) {
      known = make(second);
      last = known;
    }
    return known.text;
  }

  private static Made make(long second) {
    return new Made(second, FORM.format(Instant.ofEpochSecond(second)));
  }
}
