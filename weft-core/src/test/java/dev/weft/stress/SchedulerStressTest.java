package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The short form of {@link SchedulerStress}; run its main for longer ones. */
@Tag("stress")
@Feature({"S1", "S5", "S7", "S8", "S15", "S23"})
class SchedulerStressTest {
  @Test
  void someRoundsWithANewSeed() throws Exception {
    Logger logger = Logger.getLogger("dev.weft");
    Level before = logger.getLevel();
    logger.setLevel(Level.OFF); // failures that are planned and joined by nobody
    try {
      assertThat(SchedulerStress.run(Duration.ofSeconds(10), System.nanoTime(), false))
          .as("operations")
          .isGreaterThan(1_000);
    } finally {
      logger.setLevel(before);
    }
  }
}
