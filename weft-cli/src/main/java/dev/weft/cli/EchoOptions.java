package dev.weft.cli;

import java.util.List;

/**
 * The command line of {@code ./weft echo}, taken apart; by hand, as {@link RunOptions} is.
 *
 * @param port where to listen; 0 takes a free port
 * @param poller epoll or nio; empty for the best there is
 * @param reusePort whether each thread has a listener of its own, instead of one for all
 */
record EchoOptions(int port, int threads, boolean udp, String poller, boolean reusePort) {
  private static final int DEFAULT_PORT = 7007;
  private static final String USAGE =
      "usage: ./weft echo [--port P] [--threads N] [--udp] [--poller epoll|nio] [--reuse-port]";

  static EchoOptions parse(String[] args) {
    int port = DEFAULT_PORT;
    int threads = Runtime.getRuntime().availableProcessors();
    boolean udp = false;
    boolean reusePort = false;
    String poller = "";
    for (int i = 0; i < args.length; i++) {
      String[] parts = args[i].split("=", 2);
      boolean takesValue = List.of("--port", "--threads", "--poller").contains(parts[0]);
      String value = "";
      if (takesValue) {
        if (parts.length < 2 && i + 1 == args.length) {
          throw UserMistake.usage("option " + parts[0] + " needs a value; " + USAGE);
        }
        value = parts.length == 2 ? parts[1] : args[++i];
      }
      switch (takesValue ? parts[0] : args[i]) {
        case "--port" -> port = number("port", value, 0, 65_535);
        case "--threads" -> threads = number("threads", value, 1, 10_000);
        case "--udp" -> udp = true;
        case "--reuse-port" -> reusePort = true;
        case "--poller" -> {
          if (!value.equals("epoll") && !value.equals("nio")) {
            throw UserMistake.usage("poller must be epoll or nio, not " + value);
          }
          poller = value;
        }
        default -> throw UserMistake.usage("unknown option " + args[i] + "; " + USAGE);
      }
    }
    return new EchoOptions(port, threads, udp, poller, reusePort);
  }

  private static int number(String name, String value, int least, int most) {
    try {
      int number = Integer.parseInt(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw UserMistake.usage(
        "%s must be a number from %d to %d, not %s".formatted(name, least, most, value));
  }
}
