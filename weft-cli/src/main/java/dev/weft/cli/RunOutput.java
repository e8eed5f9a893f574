package dev.weft.cli;

import dev.weft.sim.Simulation;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * The standard streams of a simulated program. What a run prints is kept until the next run begins:
 * the last run of an exploration that found a failure is the one that its report shows. What the
 * fibers print that are unwound after the end of a run is dropped.
 */
final class RunOutput extends OutputStream {
  private static final int MOST_BYTES = 1 << 20;

  private final @Nullable PrintStream copy;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private @Nullable Simulation run;

  /**
   * Creates it.
   *
   * @param copy where each run is printed too; null: nowhere
   */
  RunOutput(@Nullable PrintStream copy) {
    this.copy = copy;
  }

  /** Has the program print here, and read nothing. */
  void replaceStandardStreams() {
    PrintStream stream = new PrintStream(this, true, System.out.charset());
    System.setOut(stream);
    System.setErr(stream);
    System.setIn(InputStream.nullInputStream());
  }

  /** Begins with what the next run prints. */
  void begin(Simulation simulation) {
    run = simulation;
    kept.reset();
    if (copy != null) {
      copy.println("--- seed " + simulation.seed());
    }
  }

  void printLastRun(PrintStream out) {
    if (kept.size() > 0) {
      out.println("  the shrunk run printed:");
      kept.toString(out.charset()).lines().forEach(line -> out.println("    " + line));
    }
  }

  @Override
  public void write(int b) {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) {
    if (run == null || run.hasEnded()) {
      return;
    }
    if (kept.size() + length <= MOST_BYTES) {
      kept.write(bytes, from, length);
    }
    if (copy != null) {
      copy.write(bytes, from, length);
      copy.flush();
    }
  }
}
