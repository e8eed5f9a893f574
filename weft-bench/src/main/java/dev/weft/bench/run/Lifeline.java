package dev.weft.bench.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Ties a child process to its parent by the pipe that is the child's standard input. The system
 * closes the pipe when the parent ends, even if the parent was killed; then the child ends too.
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
                // counts as the end of the input
              } finally {
                Runtime.getRuntime().halt(1);
              }
            });
  }
}
