package dev.weft.internal.net;

import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.Map;
import java.util.Set;

/** The options of sockets as Linux numbers them. */
final class FdOptions {
  /** An option, whose value is so many ints. */
  record Native(String title, int level, int name, int ints) {
    @Override
    public String toString() {
      return title;
    }
  }

  private static final int SOCKET = 1;
  private static final int TCP = 6;
  private static final int IPV6 = 41;

  static final Native ERROR = new Native("SO_ERROR", SOCKET, 4, 1);
  static final Native IPV6_ONLY = new Native("IPV6_V6ONLY", IPV6, 26, 1);

  private static final Map<SocketOption<?>, Native> KNOWN =
      Map.of(
          StandardSocketOptions.SO_REUSEADDR, new Native("SO_REUSEADDR", SOCKET, 2, 1),
          StandardSocketOptions.SO_BROADCAST, new Native("SO_BROADCAST", SOCKET, 6, 1),
          StandardSocketOptions.SO_SNDBUF, new Native("SO_SNDBUF", SOCKET, 7, 1),
          StandardSocketOptions.SO_RCVBUF, new Native("SO_RCVBUF", SOCKET, 8, 1),
          StandardSocketOptions.SO_KEEPALIVE, new Native("SO_KEEPALIVE", SOCKET, 9, 1),
          StandardSocketOptions.SO_LINGER, new Native("SO_LINGER", SOCKET, 13, 2),
          StandardSocketOptions.SO_REUSEPORT, new Native("SO_REUSEPORT", SOCKET, 15, 1),
          StandardSocketOptions.TCP_NODELAY, new Native("TCP_NODELAY", TCP, 1, 1));

  /** What Linux doubles when it is set, and tells doubled. */
  private static final Set<SocketOption<?>> DOUBLED =
      Set.of(StandardSocketOptions.SO_SNDBUF, StandardSocketOptions.SO_RCVBUF);

  private FdOptions() {}

  static Native of(SocketOption<?> option) {
    Native known = KNOWN.get(option);
    if (known == null) {
      throw new UnsupportedOperationException(
          option + " is not supported; these are: " + KNOWN.values());
    }
    return known;
  }

  static int[] encode(SocketOption<?> option, Object value) {
    if (option.equals(StandardSocketOptions.SO_LINGER)) {
      int seconds = (Integer) value; // negative: off
      return new int[] {seconds < 0 ? 0 : 1, Math.max(0, seconds)};
    }
    if (value instanceof Boolean on) {
      return new int[] {on ? 1 : 0};
    }
    int number = (Integer) value;
    if (number < 0) {
      throw new IllegalArgumentException(option + " must be 0 or more, not " + number);
    }
    return new int[] {number};
  }

  static <T> T decode(SocketOption<T> option, int[] value) {
    Object decoded;
    if (option.equals(StandardSocketOptions.SO_LINGER)) {
      decoded = value[0] == 0 ? -1 : value[1];
    } else if (option.type() == Boolean.class) {
      decoded = value[0] != 0;
    } else {
      decoded = DOUBLED.contains(option) ? value[0] / 2 : value[0];
    }
    return option.type().cast(decoded);
  }
}
