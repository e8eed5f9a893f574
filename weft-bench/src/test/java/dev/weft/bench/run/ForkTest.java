package dev.weft.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.bench.model.Library;
import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Parameter;
import dev.weft.bench.model.Trial;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ForkTest {
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();

  /** Gives what it is told. */
  public static final class Echo implements Probe {
    @Override
    public Map<String, Double> measure(String parameter, boolean quick) {
      return Map.of("a=b", Double.valueOf(parameter), "quick", quick ? 1.0 : 0.0);
    }
  }

  /** Wants more memory than there is. */
  public static final class Glutton implements Probe {
    @Override
    public Map<String, Double> measure(String parameter, boolean quick) {
      return Map.of("bytes", (double) new byte[1 << 30].length);
    }
  }

  /** Breaks. */
  public static final class Broken implements Probe {
    @Override
    public Map<String, Double> measure(String parameter, boolean quick) {
      throw new IllegalStateException("broken on purpose");
    }
  }

  /** Cannot be measured here. */
  public static final class NotHere implements Probe {
    @Override
    public Map<String, Double> measure(String parameter, boolean quick) throws Impossible {
      throw new Impossible("needs a moon");
    }
  }

  /** Counts its windows. */
  public static final class Counter implements WindowProbe {
    @Override
    public Windows prepare(String parameter, boolean quick) {
      AtomicInteger windows = new AtomicInteger();
      return () -> Map.of(parameter, (double) windows.incrementAndGet());
    }
  }

  /** Breaks at its third window. */
  public static final class BreaksLater implements WindowProbe {
    @Override
    public Windows prepare(String parameter, boolean quick) {
      AtomicInteger windows = new AtomicInteger();
      return () -> {
        if (windows.incrementAndGet() == 3) {
          throw new IllegalStateException("broken on purpose");
        }
        return Map.of(parameter, 1.0);
      };
    }
  }

  /** Cannot be made ready here. */
  public static final class NeverReady implements WindowProbe {
    @Override
    public Windows prepare(String parameter, boolean quick) throws Probe.Impossible {
      throw new Probe.Impossible("needs a moon");
    }
  }

  /** A benchmark as for JMH, but for the annotation that would have JMH make code for it. */
  public static class Nap {
    /** How long it naps. */
    public static class Length {
      /** In milliseconds. */
      @Param("1")
      public int millis;
    }

    /** Naps. */
    @OperationsPerInvocation(2)
    public void twice(Length length) throws InterruptedException {
      Thread.sleep(length.millis);
      Thread.sleep(length.millis);
    }
  }

  @Test
  void aMethodGetsItsStatesAndIsTimedByTheOperation() throws InterruptedException {
    Outcome outcome = measure(new BatchMethod(Nap.class, "twice"), "30");
    assertThat(outcome).isInstanceOf(Outcome.Readings.class);
    assertThat(((Outcome.Readings) outcome).byMetric().get(Metric.TIME.name()))
        .hasSize(10)
        .allSatisfy(nanos -> assertThat(nanos).isGreaterThanOrEqualTo(30e6));
  }

  @Test
  void aMethodThatIsNotThereIsSaid() throws InterruptedException {
    assertThat(measure(new BatchMethod(Nap.class, "thrice"), "30"))
        .isEqualTo(new Outcome.Failure("no method Nap.thrice"));
  }

  @Test
  void windowsComeFromOneJvmAndTheFirstTwoDoNotCount() throws InterruptedException {
    assertThat(measure(ForkedWindows.of(Counter.class)))
        .isEqualTo(
            new Outcome.Readings(
                Map.of("2.5", List.of(3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0))));
  }

  @Test
  void aWindowThatBreaksIsAResultAndTheLogSaysWhy() throws InterruptedException {
    assertThat(measure(ForkedWindows.of(BreaksLater.class)))
        .isEqualTo(new Outcome.Failure("no result, exit status 1"));
    assertThat(log.toString(StandardCharsets.UTF_8)).contains("broken on purpose");
  }

  @Test
  void aContestantThatCannotBeMadeReadySaysSo() throws InterruptedException {
    assertThat(measure(ForkedWindows.of(NeverReady.class)))
        .isEqualTo(new Outcome.Failure("needs a moon"));
  }

  @Test
  void aContestantSaysWhatThisMachineLacks() throws InterruptedException {
    assertThat(measure(ForkedProbe.of(NotHere.class)))
        .isEqualTo(new Outcome.Failure("needs a moon"));
  }

  @Test
  void numbersComeBackFromTheOtherJvm() throws InterruptedException {
    assertThat(measure(ForkedProbe.of(Echo.class)))
        .isEqualTo(new Outcome.Readings(Map.of("a=b", List.of(2.5), "quick", List.of(1.0))));
  }

  @Test
  void outOfMemoryIsAResult() throws InterruptedException {
    assertThat(measure(ForkedProbe.of(Glutton.class, "-Xmx32m")))
        .isEqualTo(new Outcome.Failure("OutOfMemoryError"));
  }

  @Test
  void aCrashIsAResultAndTheLogSaysWhy() throws InterruptedException {
    assertThat(measure(ForkedProbe.of(Broken.class)))
        .isEqualTo(new Outcome.Failure("no result, exit status 1"));
    assertThat(log.toString(StandardCharsets.UTF_8)).contains("broken on purpose");
  }

  private Outcome measure(Measurement measurement) throws InterruptedException {
    return measure(measurement, "2.5");
  }

  private Outcome measure(Measurement measurement, String value) throws InterruptedException {
    PrintStream out = new PrintStream(log, true, StandardCharsets.UTF_8);
    Parameter parameter = new Parameter("n", List.of(value));
    Library library = new Library(Path.of(""), System.getProperty("java.class.path"), List.of());
    return measurement.measure(new Trial(parameter, value, Paces.quick(100), library, out));
  }
}
