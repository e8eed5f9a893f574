package dev.weft.bench.echo;

import dev.weft.console.Console;
import java.nio.file.Files;
import java.nio.file.Path;

/** The main class of a server process with a console, whose URL it writes to a file. */
final class WatchedServerMain {
  private WatchedServerMain() {}

  /** Takes the file, then what {@link ServerMain} takes. */
  public static void main(String[] args) throws Exception {
    Files.writeString(Path.of(args[0]), Console.start(0).url().toString());
    String[] others = new String[args.length - 1];
    System.arraycopy(args, 1, others, 0, others.length);
    ServerMain.main(others);
  }
}
