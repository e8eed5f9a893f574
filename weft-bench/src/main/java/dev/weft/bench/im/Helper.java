package dev.weft.bench.im;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;

/** A PostgreSQL or Redis that {@code bin/servers} runs, until this process ends. */
record Helper(Process script, String url) implements AutoCloseable {
  static Helper start(Path root, String name) throws IOException {
    Process script =
        new ProcessBuilder(root.resolve("bin").resolve("servers").toString(), name)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader output = script.inputReader();
    String line = output.readLine();
    if (line == null) {
      throw new IOException("there is no " + name + ": run 'bin/servers install' as root");
    }
    return new Helper(script, line.split(" ", -1)[2]);
  }

  @Override
  public void close() throws IOException {
    script.getOutputStream().close();
    script.onExit().join();
  }
}
