package dev.weft.cli;

import com.sun.net.httpserver.Headers;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What of a file a request is to get: conditions and ranges of RFC 9110, sections 13 and 14.
 *
 * @param modified when the file was changed last
 * @param size of the file, in bytes
 * @param now the time of the request
 */
record HttpConditions(Instant modified, long size, Instant now) {
  /** The answer to a request for a file. */
  sealed interface Answer permits Nothing, Part {}

  /** A response without a body. */
  record Nothing(int status) implements Answer {}

  /** Bytes of the file. */
  record Part(int status, long first, long length) implements Answer {}

  /**
   * How long a file must not have been changed for its date to be a strong validator. A date has
   * seconds, in which a file may change twice, and clocks of file servers differ: RFC 9110, section
   * 8.8.2.2, asks for a second, RFC 7232 asked for a minute.
   */
  private static final Duration SETTLED = Duration.ofMinutes(1);

  private static final String DAYS = "EEE, dd MMM uuuu HH:mm:ss 'GMT'";
  private static final DateTimeFormatter FIXED = DateTimeFormatter.ofPattern(DAYS, Locale.US);

  /** One range: first and last, first, or how many at the end. A list of them is not served. */
  private static final Pattern RANGE =
      Pattern.compile("bytes=\\s*(?:(\\d{1,18})-(\\d{1,18})?|-(\\d{1,18}))\\s*");

  /** The three forms that a recipient must know, section 5.6.7. */
  private static List<DateTimeFormatter> forms() {
    int century = LocalDate.now(ZoneOffset.UTC).getYear() - 49; // of a year in two digits
    return List.of(
        FIXED,
        new DateTimeFormatterBuilder()
            .appendPattern("EEEE, dd-MMM-")
            .appendValueReduced(ChronoField.YEAR, 2, 2, century)
            .appendPattern(" HH:mm:ss 'GMT'")
            .toFormatter(Locale.US),
        DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.US));
  }

  /** Returns a strong validator: it changes whenever the file does. */
  String tag() {
    long nanos = ChronoUnit.NANOS.between(Instant.EPOCH, modified);
    return "\"" + Long.toHexString(nanos) + "-" + Long.toHexString(size) + "\"";
  }

  /** Returns the time of the last change as headers have it. */
  String lastModified() {
    return FIXED.format(LocalDateTime.ofInstant(modified, ZoneOffset.UTC));
  }

  /** Looks at the conditions in the order of section 13.2.2. */
  Answer answer(Headers request, boolean isGet) {
    if (request.containsKey("If-Match")) {
      if (!names(request.get("If-Match"), false)) {
        return new Nothing(412);
      }
    } else if (date(request, "If-Unmodified-Since").filter(this::isModifiedSince).isPresent()) {
      return new Nothing(412);
    }
    if (request.containsKey("If-None-Match")) {
      if (names(request.get("If-None-Match"), true)) {
        return new Nothing(304);
      }
    } else if (date(request, "If-Modified-Since")
        .filter(since -> !isModifiedSince(since))
        .isPresent()) {
      return new Nothing(304);
    }
    List<String> ranges = request.get("Range");
    if (!isGet || ranges == null || ranges.size() != 1 || !mayBeInParts(request)) {
      return new Part(200, 0, size);
    }
    return part(ranges.getFirst());
  }

  /** Returns whether a list of tags, or *, has that of this file. */
  private boolean names(List<String> lines, boolean weak) {
    return lines.stream()
        .flatMap(line -> Arrays.stream(line.split(",", -1)))
        .map(String::strip)
        .map(tag -> weak && tag.startsWith("W/") ? tag.substring(2) : tag)
        .anyMatch(tag -> tag.equals("*") || tag.equals(tag()));
  }

  private boolean isModifiedSince(Instant since) {
    return modified.truncatedTo(ChronoUnit.SECONDS).isAfter(since);
  }

  /** A client that has a part of a file that has changed since gets the whole: section 13.1.5. */
  private boolean mayBeInParts(Headers request) {
    String validator = request.getFirst("If-Range");
    return validator == null
        || validator.strip().equals(tag())
        || (validator.strip().equals(lastModified()) && modified.plus(SETTLED).isBefore(now));
  }

  private Answer part(String range) {
    Matcher matcher = RANGE.matcher(range);
    if (!matcher.matches()) {
      return new Part(200, 0, size); // as if it were not there: section 14.2
    }
    long first;
    long last = size - 1;
    if (matcher.group(3) != null) {
      first = Math.max(0, size - Long.parseLong(matcher.group(3)));
    } else {
      first = Long.parseLong(matcher.group(1));
      if (matcher.group(2) != null) {
        long told = Long.parseLong(matcher.group(2));
        if (told < first) {
          return new Part(200, 0, size);
        }
        last = Math.min(last, told);
      }
    }
    return first > last ? new Nothing(416) : new Part(206, first, last - first + 1);
  }

  /** Returns the date of a header; one that cannot be read is as if it were not there. */
  private static Optional<Instant> date(Headers request, String name) {
    String text = request.getFirst(name);
    if (text != null) {
      for (DateTimeFormatter form : forms()) {
        try {
          return Optional.of(LocalDateTime.parse(text.strip(), form).toInstant(ZoneOffset.UTC));
        } catch (DateTimeException e) {
          // perhaps the next
        }
      }
    }
    return Optional.empty();
  }
}
