package dev.weft.stress;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.weft.internal.Faults;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code ./weft stress}: looks for races for a long time. */
@Command(
    name = "./weft stress",
    synopsisHeading = "",
    description = "%nLooks for races for a long time; ./weft test runs short forms.%n",
    sortOptions = false)
public final class Stress {
  private static final long HANG_NANOS = 600_000_000_000L;
  private static final int FOUND = 1;
  private static final int WRONG_USE = 2;

  static final List<LongRun> ALL =
      List.of(
          new LongRun(
              "scheduler",
              "fibers perform random operations, on four schedulers at once",
              600,
              "seconds",
              "operations",
              SchedulerStress::run),
          new LongRun(
              "worlds",
              "random programs over all parts of Weft; each checks its effects and ends",
              20_000,
              "worlds",
              "operations",
              WorldStress::run),
          new LongRun(
              "scopes",
              "trees of scopes that fail, are cancelled and left open: no fiber outlives its scope",
              500_000,
              "trees",
              "fibers",
              ScopeStress::run),
          new LongRun(
              "wait-queue",
              "a few tokens pass through a wait queue, while waiters give up",
              60,
              "seconds",
              "tokens taken",
              WaitQueueStress::run),
          new LongRun(
              "channels",
              "values are sent and received with every kind of call: no value is lost or duplicated",
              100_000_000,
              "transfers",
              "calls gave up meanwhile",
              ChannelStress::run),
          new LongRun(
              "sockets",
              "connections come and go: no connection gets the events of an older connection",
              1_000_000,
              "connections",
              "answers",
              SocketStress::run),
          new LongRun(
              "hook",
              "the same with the JDK's own sockets, which are closed, interrupted and timed out",
              1_000_000,
              "connections",
              "answers",
              HookStress::run),
          new LongRun(
              "http-fuzz",
              "a fuzzer sends the web server's parsers what no test has thought of",
              3_600,
              "seconds",
              "inputs",
              HttpFuzz::run),
          new LongRun(
              "sim",
              "Weft's own channels, locks, scopes, pools and timers in simulations",
              20_000,
              "seeds a program",
              "distinct schedules",
              SimStress::run),
          new LongRun(
              "sim-web",
              "Weft's web server in a simulated network; its host crashes",
              20_000,
              "seeds",
              "distinct schedules",
              SimStress::runWeb),
          new LongRun(
              "sim-im",
              "the messaging server with a database on a simulated disk; it is killed and restarted",
              1_000,
              "seeds",
              "distinct schedules",
              SimStress::runIm),
          new LongRun(
              "sim-repeats",
              "simulated runs are repeated in four JVMs, half of them under load: none differs",
              100_000,
              "runs",
              "seeds compared",
              RepeatStress::run),
          new LongRun(
              "models",
              "a model checker tries the interleavings of locks, channels and select",
              20,
              "scenarios a class",
              "classes",
              ModelCheck::run));

  private final List<LongRun> all;
  private final PrintStream out;
  private final PrintStream err;

  @Parameters(
      paramLabel = "name[=amount]",
      description = "What to run, and the amount; default: all.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--seed", paramLabel = "N", description = "Repeat the run with this seed.")
  private long seed = System.nanoTime();

  @Option(names = "--list", description = "List the runs.")
  private boolean list;

  @Option(names = "--help", usageHelp = true, description = "Show this help.")
  private boolean help;

  Stress(List<LongRun> all, PrintStream out, PrintStream err) {
    this.all = all;
    this.out = out;
    this.err = err;
  }

  /** Ends with status 0, 1 if a run found a fault, 2 for a wrong command line. */
  public static void main(String[] args) throws InterruptedException {
    System.exit(new Stress(ALL, System.out, System.err).run(args));
  }

  int run(String... args) throws InterruptedException {
    Map<LongRun, Long> chosen;
    try {
      new CommandLine(this).parseArgs(args);
      chosen = chosen();
    } catch (ParameterException e) {
      err.println("weft stress: " + e.getMessage() + "; the options are --seed N, --list, --help");
      return WRONG_USE;
    } catch (IllegalArgumentException e) {
      err.println("weft stress: " + e.getMessage());
      return WRONG_USE;
    }
    if (help) {
      out.print(new CommandLine(this).getUsageMessage());
    } else if (list) {
      all.forEach(
          run ->
              out.printf("%-10s  %s; %,d %s%n", run.name(), run.shows(), run.amount(), run.unit()));
    } else {
      for (Map.Entry<LongRun, Long> one : chosen.entrySet()) {
        if (!foundNothing(one.getKey(), one.getValue())) {
          return FOUND;
        }
      }
    }
    return 0;
  }

  private Map<LongRun, Long> chosen() {
    Map<LongRun, Long> chosen = new LinkedHashMap<>();
    if (names.isEmpty()) {
      all.forEach(run -> chosen.put(run, run.amount()));
    }
    for (String name : names) {
      String[] parts = name.split("=", 2);
      LongRun run =
          all.stream()
              .filter(candidate -> candidate.name().equals(parts[0]))
              .findFirst()
              .orElseThrow(() -> new IllegalArgumentException(unknown(parts[0])));
      chosen.put(run, parts.length == 1 ? run.amount() : amount(run, parts[1]));
    }
    return chosen;
  }

  private String unknown(String name) {
    return "there is no "
        + name
        + "; there are "
        + all.stream().map(LongRun::name).collect(Collectors.joining(", "));
  }

  private static long amount(LongRun run, String text) {
    try {
      long amount = Long.parseLong(text.replace("_", ""));
      if (amount > 0) {
        return amount;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new IllegalArgumentException(
        "%s takes a number of %s, as in %1$s=%d, not %s"
            .formatted(run.name(), run.unit(), run.amount(), text));
  }

  private boolean foundNothing(LongRun run, long amount) throws InterruptedException {
    String again = "./weft stress %s=%d --seed %d".formatted(run.name(), amount, seed);
    out.printf("%s: %,d %s, seed %d%n", run.name(), amount, run.unit(), seed);
    Progress progress = Progress.to(out, amount, run.unit());
    Thread guard = Thread.ofPlatform().daemon().start(() -> endIfStill(progress, again));
    try {
      long count = run.program().run(amount, seed, progress);
      checkFaults();
      out.printf("%s: nothing found; %,d %s%n", run.name(), count, run.counted());
      return true;
    } catch (Throwable e) {
      e.printStackTrace(out);
      out.println(run.name() + " found a fault: " + e.getMessage());
      out.println("repeat with: " + again);
      return false;
    } finally {
      guard.interrupt();
      guard.join();
    }
  }

  /** Fails if Weft has noticed a fault of its own: the log line may come too late to be seen. */
  private static void checkFaults() {
    Faults.awaitSuspected();
    long faults = Faults.count();
    if (faults != 0) {
      throw new AssertionError(
          "Weft has noticed %d faults of its own, see the log".formatted(faults));
    }
  }

  /** Ends the JVM if a run makes no progress any more. */
  private void endIfStill(Progress progress, String again) {
    try {
      while (progress.stillForNanos() < HANG_NANOS) {
        Thread.sleep(1_000);
      }
    } catch (InterruptedException e) {
      return; // the run has ended
    }
    out.println("the run hangs: no progress for 10 minutes; " + threads());
    out.println("repeat with: " + again);
    Runtime.getRuntime().halt(FOUND);
  }

  /** Writes the stacks of all threads and fibers; returns the file. */
  private static String threads() {
    try {
      Path file = Files.createTempDirectory("weft-stress-").resolve("threads.txt");
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
      return "the stacks of all threads and fibers are in " + file;
    } catch (IOException e) {
      return "no thread dump: " + e;
    }
  }
}
