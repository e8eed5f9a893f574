package dev.weft.stress;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * Runs locks and channels through Lincheck's model checker, after it has been shown to find the
 * planted bugs. It runs in a separate JVM, because Lincheck attaches an agent that rewrites
 * classes.
 *
 * <p>That JVM runs {@code main}: it takes the number of scenarios for each class and of
 * interleavings for each scenario; its exit status is 0 if all results are as expected.
 */
public final class ModelCheck {
  private static final int INTERLEAVINGS = 2_000;
  private static final List<Class<?>> WRONG =
      List.of(
          PlantedBugs.LostWakeUp.class,
          PlantedBugs.BrokenExclusion.class,
          PlantedBugs.LostValue.class,
          PlantedBugs.DoubleHandOver.class);
  private static final List<Class<?>> RIGHT =
      List.of(
          SyncModels.OfMutex.class,
          SyncModels.OfFairMutex.class,
          SyncModels.OfSemaphore.class,
          SyncModels.OfSharedMutex.class,
          SyncModels.OfConditionVariable.class,
          ChannelModels.OfValues.class,
          ChannelModels.OfChannel.class,
          ChannelModels.OfEnd.class,
          ChannelModels.OfMerge.class,
          ChannelModels.OfSenders.class,
          ChannelModels.OfSelect.class);

  private ModelCheck() {}

  /** Tries this many scenarios of each class; returns the number of classes. */
  static long run(long scenarios, long seed, Progress progress) throws Exception {
    return check(scenarios, INTERLEAVINGS, progress).size(); // Lincheck makes random scenarios
  }

  /** Returns the result of each class, a line for each. */
  static List<String> check(long scenarios, int interleavings, Progress progress)
      throws IOException, InterruptedException {
    Process jvm =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "@" + Path.of(System.getProperty("weft.root"), "weft.args"),
                "-XX:+EnableDynamicAgentLoading",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:off", // otherwise the JVM prints a warning, because of the agent
                "--sun-misc-unsafe-memory-access=allow", // otherwise the JVM warns
                "-cp",
                System.getProperty("java.class.path"),
                ModelCheck.class.getName(),
                String.valueOf(scenarios),
                String.valueOf(interleavings))
            .redirectErrorStream(true)
            .start();
    List<String> lines = new ArrayList<>();
    try (BufferedReader said = jvm.inputReader()) {
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        lines.add(line);
        progress.said(line);
      }
      if (jvm.waitFor() != 0) {
        throw new AssertionError(String.join("\n", lines));
      }
    } finally {
      jvm.destroyForcibly();
    }
    return lines;
  }

  public static void main(String[] args) {
    int scenarios = Integer.parseInt(args[0]);
    int interleavings = Integer.parseInt(args[1]);
    boolean asItShould = true;
    for (Class<?> wrong : WRONG) {
      asItShould &= report(wrong, check(wrong, scenarios, interleavings), true);
    }
    for (Class<?> right : RIGHT) {
      asItShould &= report(right, check(right, scenarios, interleavings), false);
    }
    System.exit(asItShould ? 0 : 1);
  }

  private static boolean report(Class<?> type, String finding, boolean expected) {
    boolean found = !finding.isEmpty();
    System.out.println(type.getSimpleName() + (found ? ": caught" : ": silent"));
    if (found != expected) {
      System.out.println(finding);
    }
    return found == expected;
  }

  /** Returns the counterexample, or empty. */
  private static String check(Class<?> type, int scenarios, int interleavings) {
    try {
      new ModelCheckingOptions()
          .threads(2)
          .actorsPerThread(1)
          .actorsBefore(0)
          .actorsAfter(1)
          .iterations(scenarios)
          .invocationsPerIteration(interleavings)
          .check(type);
      return "";
    } catch (LincheckAssertionError e) {
      return e.toString();
    }
  }
}
