package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The short form of {@link ModelCheck}. */
@Tag("stress")
@Feature({"Y1", "Y2", "Y3", "Y4", "K1", "K4", "K8", "K9"})
class ModelCheckTest {
  @Test
  @Timeout(120)
  void thePlantedBugsAreCaughtAndTheRealClassesPass() throws Exception {
    assertThat(ModelCheck.check(5, 400, Progress.silent()))
        .contains(
            "LostWakeUp: caught",
            "BrokenExclusion: caught",
            "LostValue: caught",
            "DoubleHandOver: caught",
            "OfMutex: silent",
            "OfFairMutex: silent",
            "OfSemaphore: silent",
            "OfSharedMutex: silent",
            "OfConditionVariable: silent",
            "OfValues: silent",
            "OfChannel: silent",
            "OfEnd: silent",
            "OfMerge: silent",
            "OfSenders: silent",
            "OfSelect: silent");
  }
}
