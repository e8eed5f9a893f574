package dev.weft.stress.sim;

import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs all programs with some seeds each, again and again, and prints the digests of all runs.
 * {@code main} is what {@link RepeatStress} starts in several JVMs.
 */
public final class Repeats {
  private static final int SEEDS = 10;
  private static final OwnProgram MIXED = new OwnProgram("mixed", MixedProgram::run);

  private Repeats() {}

  /**
   * Prints a line for each program: its name, and the digests of its runs.
   *
   * @param args how many runs there are to be; and "load" if threads are to compute meanwhile
   */
  public static void main(String[] args) {
    if (args.length > 1 && args[1].equals("load")) {
      load();
    }
    digests(Long.parseLong(args[0])).forEach(System.out::println);
    System.exit(0);
  }

  /**
   * Returns the lines, after so many runs or more.
   *
   * @throws AssertionError if a run differs from an earlier run of its seed
   */
  static List<String> digests(long runs) {
    List<OwnProgram> programs = new ArrayList<>(OwnHouse.ALL);
    programs.add(MIXED);
    List<String> lines = new ArrayList<>();
    for (OwnProgram program : programs) {
      String first = "";
      long done = 0;
      do {
        StringBuilder line = new StringBuilder(program.name());
        done +=
            Simulation.explore(
                    SimulationOptions.seeds(SEEDS).name(program.name()).points(OwnHouse.points()),
                    simulation -> program.body().run(),
                    (count, schedules, digest) -> line.append(' ').append(Long.toHexString(digest)))
                .runs();
        if (first.isEmpty()) {
          first = line.toString();
          lines.add(first);
        } else if (!first.contentEquals(line)) {
          throw new AssertionError("runs differ:\n  " + first + "\n  " + line);
        }
      } while (done * programs.size() < runs);
    }
    return lines;
  }

  /** Keeps all cores busy with threads, garbage and virtual threads. */
  private static void load() {
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      Thread.ofPlatform()
          .daemon()
          .start(
              () -> {
                while (!Thread.currentThread().isInterrupted()) {
                  List<byte[]> garbage = new ArrayList<>();
                  for (int k = 0; k < 1_000; k++) {
                    garbage.add(new byte[100]);
                  }
                  Thread.ofVirtual().start(garbage::clear);
                }
              });
    }
  }
}
