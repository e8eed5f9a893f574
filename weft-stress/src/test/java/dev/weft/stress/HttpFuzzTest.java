package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.testkit.Feature;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Some seconds of {@link HttpFuzz}; a minute in CI. */
@Tag("stress")
@Feature({"A2", "A3"})
class HttpFuzzTest {
  private static final int SECONDS = System.getenv("WEFT_CI") == null ? 4 : 60;

  /** Wrong on purpose: a fuzzer that does not find this is not to be believed. */
  public static final class Planted {
    private Planted() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
      if (data.length > 2 && data[0] == 'G' && data[1] == 'E' && data[2] == 'T') {
        throw new IllegalStateException("planted");
      }
    }
  }

  @Test
  void aPlantedBugIsFound() {
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(
            () -> HttpFuzz.run(Planted.class, List.of("GE", "xET"), 30, 1, Progress.silent()))
        .withMessageContaining("IllegalStateException: planted");
  }

  @Test
  @Timeout(150)
  void noBytesDoHarm() throws Exception {
    assertThat(HttpFuzz.run(SECONDS, System.nanoTime(), Progress.silent())).isGreaterThan(1_000);
  }
}
