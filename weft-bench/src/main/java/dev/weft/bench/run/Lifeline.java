package dev.weft.bench.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * What ties a child process to its parent: the pipe that is its standard input. The system closes
 * it when the parent ends, even if that was killed, and then the child ends too.
 */
public final class Lifeline {
  private Lifeline() {}

  /** Ends this process when its input does; until then each line is a command. */
  public static void hold(Consumer<String> command) {
    Thread.ofPlatform()
        .daemon()
        .name("lifeline")
        .start(
            () -> {
              try (BufferedReader lines =
                  new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                  command.accept(line);
                }
              } catch (IOException e) {
                // as good as its end
              } finally {
                Runtime.getRuntime().halt(1);
              }
            });
  }
}
