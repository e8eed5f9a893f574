package dev.weft.sim.bugs;

import dev.weft.Body;
import dev.weft.sim.bugs.programs.KnownBugs;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;

/**
 * Another way to look for a bug, in a JVM of its own: the simulation and Lincheck both rewrite
 * classes, and plain stress must run classes as they are. The JVM runs {@code main} with the name
 * of a peer and of a bug; its last line is the verdict.
 */
enum Peer {
  /** {@link PlainStress} with virtual threads. */
  STRESS {
    @Override
    String look(Body program, long budget) throws Exception {
      PlainStress.Outcome outcome = PlainStress.run(program, Duration.ofMillis(budget));
      return outcome.found()
          ? "found in %,d ms, run %,d".formatted(outcome.took().toMillis(), outcome.runs())
          : "silent for %,d runs".formatted(outcome.runs());
    }
  },

  /**
   * Lincheck's model checker on a block of code; plain threads, since it does not know virtual
   * ones.
   */
  LINCHECK {
    @Override
    String look(Body program, long budget) {
      try {
        Lincheck.runConcurrentTest(Math.toIntExact(budget), () -> runUnchecked(program));
        return "silent";
      } catch (LincheckAssertionError e) {
        String text = e.toString();
        return text.contains("Concurrent test failed")
            ? "found"
            : text.contains("Concurrent test has hung")
                ? "found: hangs"
                : "cannot run: " + reason(text);
      } catch (Throwable e) {
        return "cannot run: " + reason(e.toString());
      }
    }
  };

  private static final String VERDICT = "verdict: ";

  /** After this time the JVM is ended. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Looks for a bug; the budget is in milliseconds or in runs, as the peer counts. */
  abstract String look(Body program, long budget) throws Exception;

  /** Returns the verdict of this peer on the broken or the fixed program of a bug. */
  String ask(KnownBug bug, boolean fixed, long budget) throws IOException, InterruptedException {
    Process jvm =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "@" + Path.of(System.getProperty("weft.root"), "weft.args"),
                "-XX:+EnableDynamicAgentLoading",
                "-XX:+UseSerialGC",
                "-Xshare:off", // otherwise the JVM prints a warning, because of the agent
                "--sun-misc-unsafe-memory-access=allow", // otherwise the JVM warns
                "-D" + Together.PLAIN_THREADS + "=" + (this == LINCHECK),
                "-cp",
                System.getProperty("java.class.path"),
                Peer.class.getName(),
                name(),
                bug.name(),
                String.valueOf(fixed),
                String.valueOf(budget))
            .redirectErrorStream(true)
            .start();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                if (!jvm.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                  jvm.destroyForcibly();
                }
              } catch (InterruptedException e) {
                jvm.destroyForcibly();
              }
            });
    List<String> lines = new ArrayList<>();
    try (BufferedReader said = jvm.inputReader()) {
      said.lines().forEach(lines::add);
      jvm.waitFor();
    } finally {
      jvm.destroyForcibly();
    }
    String last = lines.isEmpty() ? "" : lines.getLast();
    return last.startsWith(VERDICT)
        ? last.substring(VERDICT.length())
        : "no verdict in %d s: %s".formatted(LIMIT.toSeconds(), last);
  }

  /** Returns the first line that says what is wrong. */
  private static String reason(String text) {
    return text.lines()
        .filter(line -> line.contains("Exception") && !line.contains("LincheckAssertionError"))
        .filter(line -> !line.startsWith("Exception stacktrace"))
        .findFirst()
        .or(() -> text.lines().findFirst())
        .orElse("");
  }

  private static void runUnchecked(Body program) {
    try {
      program.run();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] args) throws Exception {
    KnownBug bug =
        KnownBugs.ALL.stream()
            .filter(known -> known.name().equals(args[1]))
            .findFirst()
            .orElseThrow();
    Body program = Boolean.parseBoolean(args[2]) ? bug.fixed() : bug.broken();
    String verdict = valueOf(args[0]).look(program, Long.parseLong(args[3]));
    System.out.println(VERDICT + verdict);
    System.exit(0); // threads of a program that hangs are left
  }
}
