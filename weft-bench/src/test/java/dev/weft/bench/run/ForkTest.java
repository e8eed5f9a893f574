package dev.weft.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Parameter;
import dev.weft.bench.model.Trial;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

  @Test
  void whatThisMachineLacksIsSaid() throws InterruptedException {
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
    PrintStream out = new PrintStream(log, true, StandardCharsets.UTF_8);
    Parameter parameter = new Parameter("n", List.of("2.5"));
    return measurement.measure(new Trial(parameter, "2.5", Paces.quick(100), List.of(), out));
  }
}
