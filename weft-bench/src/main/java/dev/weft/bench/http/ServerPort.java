package dev.weft.bench.http;

import java.io.BufferedReader;
import java.io.IOException;

/** The port of a server in another process, which prints it. */
public final class ServerPort {
  /** Starts the line that says at which port it serves. */
  static final String LINE = "@port ";

  private ServerPort() {}

  /** Waits for the line in the output of a server; reads and drops what follows. */
  public static int read(BufferedReader output) throws IOException {
    StringBuilder said = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(LINE)) {
        Thread.ofPlatform().daemon().start(() -> output.lines().forEach(rest -> {}));
        return Integer.parseInt(line.substring(LINE.length()));
      }
      said.append(line).append('\n');
    }
    throw new IOException("the server has ended instead of telling its port: " + said);
  }
}
