package dev.weft.http;

/**
 * What clients may do at most. By system properties, those of the JDK's server where it has one.
 *
 * @param headBytes of a request line and its headers
 * @param headers how many header lines a request has
 * @param bodyBytes of a request
 * @param drainBytes of a request that are read to keep the connection, if the handler did not
 * @param connections open at once
 * @param idleConnections kept open without a request
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
    int idleConnections,
    int idleSeconds,
    int headSeconds,
    int requestSeconds,
    int responseSeconds) {
  /** Stands for no limit of a time. */
  static final int NONE = 0;

  private static final int SECONDS_PER_DAY = 86_400;

  /**
   * Reads them.
   *
   * @throws IllegalArgumentException if a property is no number
   */
  static HttpLimits fromProperties() {
    return new HttpLimits(
        orMost(property("sun.net.httpserver.maxReqHeaderSize", 380 * 1024)),
        orMost(property("sun.net.httpserver.maxReqHeaders", 200)),
        orMost(property("weft.http.maxBody", 0), Long.MAX_VALUE),
        Math.max(0, property("sun.net.httpserver.drainAmount", 64 * 1024)),
        orMost(property("jdk.httpserver.maxConnections", 0)),
        orMost(property("sun.net.httpserver.maxIdleConnections", 0)),
        seconds(property("sun.net.httpserver.idleInterval", 30)),
        seconds(property("weft.http.maxHeadTime", 30)),
        seconds(property("sun.net.httpserver.maxReqTime", 0)),
        seconds(property("sun.net.httpserver.maxRspTime", 0)));
  }

  /** As in the JDK's server, what is not positive is no limit. */
  private static long orMost(long value, long most) {
    return value > 0 ? value : most;
  }

  private static int orMost(long value) {
    return (int) Math.min(orMost(value, Integer.MAX_VALUE), Integer.MAX_VALUE);
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
      return Long.parseLong(value.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("-D" + name + " must be a whole number, not " + value, e);
    }
  }
}
