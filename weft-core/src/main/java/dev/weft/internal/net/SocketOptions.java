package dev.weft.internal.net;

import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.Map;

/**
 * The socket options that Weft supports, on every poller, in one table: how Linux numbers each, how
 * its value is written, and where it has no effect.
 */
final class SocketOptions {
  /** How a value is written for Linux. */
  enum Format {
    /** An int that is 0 or 1. */
    FLAG(1) {
      @Override
      int[] encode(Row row, Object value) {
        return new int[] {(Boolean) value ? 1 : 0};
      }

      @Override
      Object decode(int[] value) {
        return value[0] != 0;
      }
    },
    /** An int. */
    NUMBER(1) {
      @Override
      int[] encode(Row row, Object value) {
        return notNegative(row, (Integer) value);
      }

      @Override
      Object decode(int[] value) {
        return value[0];
      }
    },
    /** An int that Linux doubles when it is set, and returns doubled. */
    DOUBLED_NUMBER(1) {
      @Override
      int[] encode(Row row, Object value) {
        return notNegative(row, (Integer) value);
      }

      @Override
      Object decode(int[] value) {
        return value[0] / 2;
      }
    },
    /** {@code struct linger}: whether to linger, and for how many seconds; negative is off. */
    LINGER(2) {
      @Override
      int[] encode(Row row, Object value) {
        int seconds = (Integer) value;
        return new int[] {seconds < 0 ? 0 : 1, Math.max(0, seconds)};
      }

      @Override
      Object decode(int[] value) {
        return value[0] == 0 ? -1 : value[1];
      }
    };

    final int ints;

    Format(int ints) {
      this.ints = ints;
    }

    abstract int[] encode(Row row, Object value);

    abstract Object decode(int[] value);

    private static int[] notNegative(Row row, int number) {
      if (number < 0) {
        throw new IllegalArgumentException(row + " must be 0 or more, not " + number);
      }
      return new int[] {number};
    }
  }

  /**
   * An option.
   *
   * @param ignoredOnUnix whether a Unix socket takes it without effect; the JDK's refuse it
   */
  record Row(String title, int level, int number, Format format, boolean ignoredOnUnix) {
    Row(String title, int level, int number, Format format) {
      this(title, level, number, format, false);
    }

    int[] encode(Object value) {
      return format.encode(this, value);
    }

    <T> T decode(SocketOption<T> option, int[] value) {
      return option.type().cast(format.decode(value));
    }

    @Override
    public String toString() {
      return title;
    }
  }

  private static final int SOCKET = 1;
  private static final int TCP = 6;
  private static final int IPV6 = 41;

  static final Row ERROR = new Row("SO_ERROR", SOCKET, 4, Format.NUMBER);
  static final Row IPV6_ONLY = new Row("IPV6_V6ONLY", IPV6, 26, Format.FLAG);

  private static final Map<SocketOption<?>, Row> TABLE =
      Map.of(
          StandardSocketOptions.SO_REUSEADDR, new Row("SO_REUSEADDR", SOCKET, 2, Format.FLAG),
          StandardSocketOptions.SO_BROADCAST, new Row("SO_BROADCAST", SOCKET, 6, Format.FLAG),
          StandardSocketOptions.SO_SNDBUF, new Row("SO_SNDBUF", SOCKET, 7, Format.DOUBLED_NUMBER),
          StandardSocketOptions.SO_RCVBUF, new Row("SO_RCVBUF", SOCKET, 8, Format.DOUBLED_NUMBER),
          StandardSocketOptions.SO_KEEPALIVE, new Row("SO_KEEPALIVE", SOCKET, 9, Format.FLAG, true),
          StandardSocketOptions.SO_LINGER, new Row("SO_LINGER", SOCKET, 13, Format.LINGER),
          StandardSocketOptions.SO_REUSEPORT, new Row("SO_REUSEPORT", SOCKET, 15, Format.FLAG),
          StandardSocketOptions.TCP_NODELAY, new Row("TCP_NODELAY", TCP, 1, Format.FLAG));

  private SocketOptions() {}

  /** Returns the row of an option; refuses an option that has none. */
  static Row of(SocketOption<?> option) {
    Row row = TABLE.get(option);
    if (row == null) {
      throw new UnsupportedOperationException(
          option + " is not supported; these are: " + TABLE.values());
    }
    return row;
  }
}
