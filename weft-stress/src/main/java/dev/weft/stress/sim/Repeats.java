package dev.weft.stress.sim;

import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationBody;
import dev.weft.sim.SimulationOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs all programs with some seeds each, again and again, and prints the digests of all runs.
 * {@code main} is what {@link RepeatStress} starts in several JVMs.
 */
public final class Repeats {
  private static final int SEEDS = 10;

  /** All programs: of Weft's own parts, of the JDK's threads, and of everything around them. */
  private static final Map<String, SimulationBody> PROGRAMS = programs();

  private Repeats() {}

  /**
   * Prints a line for each program, when it has been run: its name, and the digests of its runs.
   * Ends when the standard input does: the process that reads the lines has ended then.
   *
   * @param args how many runs there are to be; the first seed; and "load" if threads are to compute
   *     meanwhile
   */
  public static void main(String[] args) {
    Thread.ofPlatform().daemon().start(Repeats::haltAtEndOfInput);
    if (args.length > 2 && args[2].equals("load")) {
      load();
    }
    digests(Long.parseLong(args[0]), Long.parseLong(args[1]), System.out::println);
    System.exit(0);
  }

  private static void haltAtEndOfInput() {
    try {
      while (System.in.read() >= 0) {
        // nothing is sent
      }
    } catch (IOException e) {
      // the same
    }
    Runtime.getRuntime().halt(1);
  }

  /** Returns how many lines there are. */
  public static int programCount() {
    return PROGRAMS.size();
  }

  /**
   * Makes so many runs or more, and passes on each line when its program has been run.
   *
   * @throws AssertionError if a run differs from an earlier run of its seed
   */
  static void digests(long runs, long firstSeed, Consumer<String> lines) {
    for (Map.Entry<String, SimulationBody> program : PROGRAMS.entrySet()) {
      String first = "";
      long done = 0;
      do {
        StringBuilder line = new StringBuilder(program.getKey());
        done +=
            Simulation.explore(
                    SimulationOptions.seeds(SEEDS)
                        .firstSeed(firstSeed)
                        .name(program.getKey())
                        .points(OwnHouse.points()),
                    program.getValue(),
                    (count, schedules, digest) -> line.append(' ').append(Long.toHexString(digest)))
                .runs();
        if (first.isEmpty()) {
          first = line.toString();
        } else if (!first.contentEquals(line)) {
          throw new AssertionError("runs differ:\n  " + first + "\n  " + line);
        }
      } while (done * PROGRAMS.size() < runs);
      lines.accept(first);
    }
  }

  private static Map<String, SimulationBody> programs() {
    Map<String, SimulationBody> programs = new LinkedHashMap<>();
    for (OwnProgram program : OwnHouse.ALL) {
      programs.put(program.name(), sim -> program.body().run());
    }
    programs.put("mixed", sim -> MixedProgram.run());
    programs.put("faulty", FaultyProgram::run);
    return programs;
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
