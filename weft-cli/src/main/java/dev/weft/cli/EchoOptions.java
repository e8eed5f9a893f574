package dev.weft.cli;

/**
 * The command line of {@code ./weft echo}, taken apart; by hand, as {@link RunOptions} is.
 *
 * @param address the address to listen at
 * @param port the port there; 0 takes a free port
 * @param poller epoll or nio; empty for the best there is
 * @param reusePort whether each thread has a listener of its own, instead of one for all
 */
record EchoOptions(
    String address, int port, int threads, boolean udp, String poller, boolean reusePort) {
  private static final int DEFAULT_PORT = 7007;
  private static final String USAGE =
      "usage: ./weft echo [--port P] [--bind ADDRESS] [--threads N] [--udp] [--poller epoll|nio]"
          + " [--reuse-port]";

  static EchoOptions parse(String[] args) {
    String address = "localhost";
    int port = DEFAULT_PORT;
    int threads = Runtime.getRuntime().availableProcessors();
    boolean udp = false;
    boolean reusePort = false;
    String poller = "";
    Arguments arguments = new Arguments(args, USAGE, "--port", "--bind", "--threads", "--poller");
    while (arguments.next()) {
      switch (arguments.option()) {
        case "--port" -> port = arguments.number(0, 65_535);
        case "--bind" -> address = arguments.value();
        case "--threads" -> threads = arguments.number(1, 10_000);
        case "--udp" -> udp = true;
        case "--reuse-port" -> reusePort = true;
        case "--poller" -> {
          poller = arguments.value();
          if (!poller.equals("epoll") && !poller.equals("nio")) {
            throw UserMistake.usage("poller must be epoll or nio, not " + poller);
          }
        }
        default -> throw arguments.unknown();
      }
    }
    return new EchoOptions(address, port, threads, udp, poller, reusePort);
  }
}
