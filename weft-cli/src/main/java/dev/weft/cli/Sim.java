package dev.weft.cli;

import dev.weft.sim.FailureReport;
import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationFailure;
import dev.weft.sim.SimulationOptions;
import dev.weft.sim.SimulationResult;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code ./weft sim} starts: runs a program's main in a simulation, once for each seed. Ends
 * with status 0 if all runs pass, 1 if a run fails or the program cannot be simulated, 2 for a
 * wrong command line.
 */
public final class Sim {
  private static final int FAILED = 1;

  private Sim() {}

  /** Simulates the program that the arguments name. */
  public static void main(String[] args) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    int status;
    try {
      status = run(SimOptions.parse(args), out, SimProgress.to(err));
    } catch (UserMistake mistake) {
      err.println("weft: " + mistake.getMessage());
      status = mistake.exitStatus();
    } catch (InvalidPathException e) {
      err.println("weft: cannot read the file name " + e.getInput() + ": set LC_ALL=C.UTF-8");
      status = 2;
    }
    System.exit(status);
  }

  private static int run(SimOptions options, PrintStream out, SimProgress progress) {
    Program found = Program.find(options.program());
    SimulationOptions simulation = options.simulation().name(name(options.program().target()));
    List<String> points =
        options.points().isEmpty() ? SimProgram.ownNames(found) : options.points();
    SimulationResult result;
    RunOutput output = new RunOutput(options.verbose() ? out : null);
    output.replaceStandardStreams();
    try (SimProgram program = new SimProgram(found, options.program().arguments(), output)) {
      result =
          Simulation.explore(
              simulation.points(points.toArray(new String[0])),
              program,
              (runs, schedules, digest) -> progress.at(runs, options.seeds(), schedules));
    } catch (SimulationFailure e) {
      throw UserMistake.program(String.valueOf(e.getMessage()));
    } catch (IllegalStateException | IllegalArgumentException e) {
      throw UserMistake.program(describe(e));
    } finally {
      progress.end();
    }
    @Nullable FailureReport report = result.failure().orElse(null);
    if (report == null) {
      String passes =
          options.replay().isEmpty()
              ? count(options.seeds(), "seed")
                  + ", "
                  + count(result.schedules(), "distinct schedule")
              : options.replay();
      out.println(simulation.name() + " passes with " + passes);
      return 0;
    }
    out.print(report.text(options.replayCommand()));
    if (!options.verbose()) {
      output.printLastRun(out);
    }
    write(options.html(), report.html());
    write(options.json(), report.json());
    return FAILED;
  }

  private static String count(long number, String what) {
    return "%,d %s%s".formatted(number, what, number == 1 ? "" : "s");
  }

  private static String name(String target) {
    String file = target.substring(target.lastIndexOf('/') + 1);
    return file.endsWith(".java") || file.endsWith(".jar")
        ? file.substring(0, file.lastIndexOf('.'))
        : file.substring(file.lastIndexOf('.') + 1);
  }

  /** Returns a message for a failure of the simulation itself, or of the program's loading. */
  private static String describe(RuntimeException e) {
    Throwable cause = e.getCause();
    return cause instanceof UserMistake
        ? String.valueOf(cause.getMessage())
        : e.getMessage() == null ? e.toString() : e.getMessage();
  }

  private static void write(@Nullable Path file, String text) {
    if (file != null) {
      try {
        Files.writeString(file, text);
      } catch (IOException e) {
        throw UserMistake.program("cannot write " + file + ": " + e);
      }
    }
  }
}
