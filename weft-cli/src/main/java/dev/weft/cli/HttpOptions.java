package dev.weft.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The command line of {@code ./weft http}, taken apart.
 *
 * @param address where to listen
 * @param port there; 0 takes a free port
 * @param folder whose files are served
 * @param quiet whether requests are not shown
 */
record HttpOptions(String address, int port, int threads, Path folder, boolean quiet) {
  private static final int DEFAULT_PORT = 8080;
  private static final String USAGE =
      "usage: ./weft http [--port P] [--bind ADDRESS] [--threads N] [--quiet] [FOLDER]";

  static HttpOptions parse(String[] args) {
    String address = "localhost";
    int port = DEFAULT_PORT;
    int threads = Runtime.getRuntime().availableProcessors();
    boolean quiet = false;
    String folder = "";
    Arguments arguments = new Arguments(args, USAGE, "--port", "--bind", "--threads");
    while (arguments.next()) {
      switch (arguments.option()) {
        case "--port" -> port = arguments.number(0, 65_535);
        case "--bind" -> address = arguments.value();
        case "--threads" -> threads = arguments.number(1, 10_000);
        case "--quiet" -> quiet = true;
        default -> {
          if (arguments.option().startsWith("-") || !folder.isEmpty()) {
            throw arguments.unknown();
          }
          folder = arguments.option();
        }
      }
    }
    Path served = Path.of(folder.isEmpty() ? "." : folder).toAbsolutePath().normalize();
    if (!Files.isDirectory(served) || !Files.isReadable(served)) {
      throw UserMistake.usage("no folder that can be read: " + served);
    }
    return new HttpOptions(address, port, threads, served, quiet);
  }
}
