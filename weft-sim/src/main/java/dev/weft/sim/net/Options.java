package dev.weft.sim.net;

import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.Map;

/** Socket options. They are kept and returned; only {@code SO_LINGER} has an effect. */
final class Options {
  /** SOL_SOCKET of Linux; the simulation uses its numbers for Weft's own sockets everywhere. */
  static final int SOCKET = 1;

  static final int LINGER = 13;
  private static final int SEND_BUFFER = 7;
  private static final int RECEIVE_BUFFER = 8;
  private static final int BUFFER = 64 * 1024;

  private static final Map<SocketOption<?>, Integer> NUMBERS =
      Map.of(
          StandardSocketOptions.SO_REUSEADDR, 2,
          StandardSocketOptions.SO_BROADCAST, 6,
          StandardSocketOptions.SO_SNDBUF, SEND_BUFFER,
          StandardSocketOptions.SO_RCVBUF, RECEIVE_BUFFER,
          StandardSocketOptions.SO_KEEPALIVE, 9,
          StandardSocketOptions.SO_LINGER, LINGER,
          StandardSocketOptions.SO_REUSEPORT, 15,
          StandardSocketOptions.TCP_NODELAY, 1_001);

  private Options() {}

  static int byDefault(int level, int option) {
    if (level != SOCKET) {
      return 0;
    }
    return switch (option) {
      case SEND_BUFFER, RECEIVE_BUFFER -> BUFFER;
      case LINGER -> -1;
      default -> 0;
    };
  }

  static int number(SocketOption<?> option) {
    Integer number = NUMBERS.get(option);
    if (number == null) {
      throw new UnsupportedOperationException(
          option + " is not supported; these are: " + NUMBERS.keySet());
    }
    return number;
  }
}
