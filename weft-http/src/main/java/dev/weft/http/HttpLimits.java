package dev.weft.http;

/**
 * What clients may do at most. By system properties, those of the JDK's server where it has one. A
 * value that limits a client of the JDK's server limits it here at least as much, so 0 means what
 * it means there.
 *
 * @param headBytes of a request line and its headers; {@link RequestHead} counts as the JDK does
 * @param headers how many header lines a request has
 * @param bodyBytes of a request
 * @param drainBytes of a request that are read to keep the connection, if the handler did not
 * @param connections open at once
 * @param dropsIdle whether a connection that waits for a request makes room for a new connection,
 *     if there are so many; else the new connection waits
 * @param idleConnections kept open without a request
 * @param firstSeconds from the connection to the first byte of its first request
 * @param idleSeconds without a request
 * @param headSeconds from the first byte of a request to the last of its headers
 * @param requestSeconds from the first byte of a request to the end of its body
 * @param responseSeconds from there to the end of the response
 */
record HttpLimits(
    int headBytes,
    int headers,
    long bodyBytes,
    long drainBytes,
    int connections,
    boolean dropsIdle,
    int idleConnections,
    int firstSeconds,
    int idleSeconds,
    int headSeconds,
    int requestSeconds,
    int responseSeconds) {
  /** Stands for no limit of a time. */
  static final int NONE = 0;

  private static final int SECONDS_PER_DAY = 86_400;
  private static final int USUAL_IDLE_SECONDS = 30;
  private static final int USUAL_HEADERS = 200;

  /**
   * Reads the limits from the system properties.
   *
   * @throws IllegalArgumentException if a property is no number
   */
  static HttpLimits fromProperties() {
    long idle = property("sun.net.httpserver.idleInterval", USUAL_IDLE_SECONDS);
    int idleSeconds = seconds(idle > 0 ? idle : USUAL_IDLE_SECONDS);
    int requestSeconds = seconds(property("sun.net.httpserver.maxReqTime", NONE));
    return new HttpLimits(
        orElse(property("sun.net.httpserver.maxReqHeaderSize", 380 * 1024), Integer.MAX_VALUE),
        orElse(property("sun.net.httpserver.maxReqHeaders", USUAL_HEADERS), USUAL_HEADERS),
        positiveOr(property("weft.http.maxBody", 0), Long.MAX_VALUE),
        Math.max(0, property("sun.net.httpserver.drainAmount", 64 * 1024)),
        orElse(property("jdk.httpserver.maxConnections", 0), Integer.MAX_VALUE),
        false,
        orElse(property("sun.net.httpserver.maxIdleConnections", Integer.MAX_VALUE), 0),
        shorter(idleSeconds, requestSeconds),
        idleSeconds,
        shorter(seconds(property("weft.http.maxHeadTime", 30)), requestSeconds),
        requestSeconds,
        seconds(property("sun.net.httpserver.maxRspTime", NONE)));
  }

  /** Returns these, with a head of so many bytes at most. */
  HttpLimits withHeadBytes(int most) {
    return new HttpLimits(
        Math.min(most, headBytes),
        headers,
        bodyBytes,
        drainBytes,
        connections,
        dropsIdle,
        idleConnections,
        firstSeconds,
        idleSeconds,
        headSeconds,
        requestSeconds,
        responseSeconds);
  }

  /** Returns these, with so many connections at most, of which idle ones make room for new ones. */
  HttpLimits withConnections(int most) {
    return new HttpLimits(
        headBytes,
        headers,
        bodyBytes,
        drainBytes,
        Math.min(most, connections),
        true,
        idleConnections,
        firstSeconds,
        idleSeconds,
        headSeconds,
        requestSeconds,
        responseSeconds);
  }

  private static long positiveOr(long value, long otherwise) {
    return value > 0 ? value : otherwise;
  }

  private static int orElse(long value, int otherwise) {
    return (int) Math.min(positiveOr(value, otherwise), Integer.MAX_VALUE);
  }

  /** Returns the shorter of two times, either of which may be {@link #NONE}. */
  private static int shorter(int seconds, int others) {
    return seconds == NONE || others == NONE
        ? Math.max(seconds, others)
        : Math.min(seconds, others);
  }

  private static int seconds(long value) {
    return Math.clamp(value, NONE, SECONDS_PER_DAY);
  }

  private static long property(String name, long otherwise) {
    String value = System.getProperty(name);
    if (value == null) {
      return otherwise;
    }
    try {
      return Long.decode(value.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("-D" + name + " must be a whole number, not " + value, e);
    }
  }
}
