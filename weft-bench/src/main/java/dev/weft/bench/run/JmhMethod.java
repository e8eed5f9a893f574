package dev.weft.bench.run;

import dev.weft.bench.model.EntryPoint;
import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.NoBenchmarksException;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Measures the average time of one call of a JMH benchmark method, in nanoseconds: {@link
 * Metric#TIME}. A parameter of the comparison is the {@code @Param} field of the same name.
 */
public record JmhMethod(Class<?> owner, String method, List<String> flags) implements Measurement {
  private static final String CLASS_PATH = "java.class.path";
  private static final int WARM_UPS = 3;
  private static final int MEASUREMENTS = 5;

  public JmhMethod {
    flags = List.copyOf(flags);
  }

  /** Measures the method in a JVM with these flags in addition to those that Weft needs. */
  public JmhMethod(Class<?> owner, String method, String... flags) {
    this(owner, method, List.of(flags));
  }

  @Override
  public Outcome measure(Trial trial) {
    OutputFormat chatter =
        OutputFormatFactory.createFormatInstance(trial.log(), VerboseMode.NORMAL);
    PrintStream err = System.err;
    System.setErr(trial.log()); // where JMH repeats what the forked JVM says on its own
    String classPath = System.getProperty(CLASS_PATH);
    System.setProperty(CLASS_PATH, trial.measured().classPath()); // JMH gives it to the forked JVM
    try {
      Collection<RunResult> results = new Runner(options(trial).build(), chatter).run();
      List<Double> readings = readings(results);
      return readings.isEmpty()
          ? new Outcome.Failure("no result from JMH")
          : new Outcome.Readings(Map.of(Metric.TIME.name(), readings));
    } catch (NoBenchmarksException e) {
      return new Outcome.Failure("JMH knows no " + owner.getSimpleName() + "." + method);
    } catch (RunnerException e) {
      e.printStackTrace(trial.log());
      return new Outcome.Failure(String.valueOf(e.getMessage()).lines().findFirst().orElse("JMH"));
    } finally {
      System.setErr(err);
      System.setProperty(CLASS_PATH, classPath);
    }
  }

  @Override
  public Optional<EntryPoint> entryPoint() {
    return Optional.of(new EntryPoint(owner, method));
  }

  private ChainedOptionsBuilder options(Trial trial) {
    List<String> jvmFlags = new ArrayList<>(trial.measured().jvmFlags());
    jvmFlags.addAll(flags);
    // JMH itself uses what this flag allows; without it the JVM warns
    jvmFlags.add("--sun-misc-unsafe-memory-access=allow");
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("^" + Pattern.quote(owner.getCanonicalName() + "." + method) + "$")
            .mode(Mode.AverageTime)
            .timeUnit(TimeUnit.NANOSECONDS)
            .forks(1)
            .warmupIterations(WARM_UPS)
            .warmupTime(part(trial.pace().warmUp(), WARM_UPS))
            .measurementIterations(MEASUREMENTS)
            .measurementTime(part(trial.pace().measurement(), MEASUREMENTS))
            .timeout(TimeValue.minutes(1))
            .shouldFailOnError(true)
            .jvmArgs(jvmFlags.toArray(String[]::new));
    String parameter = trial.parameter().name();
    return parameter.isEmpty() ? options : options.param(parameter, trial.value());
  }

  private static TimeValue part(Duration whole, int parts) {
    return TimeValue.microseconds(whole.toNanos() / 1_000 / parts);
  }

  private static List<Double> readings(Collection<RunResult> results) {
    return results.stream()
        .flatMap(result -> result.getBenchmarkResults().stream())
        .flatMap(fork -> fork.getIterationResults().stream())
        .map(IterationResult::getPrimaryResult)
        .map(primary -> primary.getScore())
        .toList();
  }
}
