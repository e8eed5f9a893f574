package dev.weft.cli;

import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/** How far a simulation has come: on a terminal, one line that is overwritten; else nothing. */
final class SimProgress {
  private static final long EVERY_NANOS = 200_000_000L;

  private final @Nullable PrintStream terminal;
  private final long began = System.nanoTime();
  private long printed = began;

  private SimProgress(@Nullable PrintStream terminal) {
    this.terminal = terminal;
  }

  /** Prints to a stream, if {@code ./weft} has found that it is a terminal. */
  static SimProgress to(PrintStream err) {
    return new SimProgress(Boolean.getBoolean("weft.terminal") ? err : null);
  }

  void at(long runs, long seeds, long schedules) {
    long now = System.nanoTime();
    if (terminal != null && now - printed >= EVERY_NANOS) {
      printed = now;
      terminal.printf(
          "\r\033[Kweft: %,d of %,d seeds, %,d a second, %,d distinct schedules",
          runs, seeds, runs * 1_000_000_000L / (now - began), schedules);
      terminal.flush();
    }
  }

  /** Removes the line. */
  void end() {
    if (terminal != null) {
      terminal.print("\r\033[K");
      terminal.flush();
    }
  }
}
