package dev.weft.internal.attach;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The samples of a live screen cost nothing while no screen takes them. */
@Feature("O1")
class SamplerTest {
  private static Optional<Thread> thread() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("weft-attach-sampler"))
        .findFirst();
  }

  private static boolean waits() {
    return thread().map(Thread::getState).orElse(Thread.State.NEW) == Thread.State.WAITING;
  }

  @Test
  void aScreenThatIsPausedCostsNeitherTimeNorMemory() {
    eventually("no test before samples", () -> thread().isEmpty());
    try (Sampler sampler = new Sampler(5)) {
      eventually("the thread waits", SamplerTest::waits);
      assertThat(sampler.take().number()).isEqualTo(5);
      eventually("the thread has gone on, and waits again", SamplerTest::waits);
      eventually("samples are taken again", () -> sampler.take().number() == 5);
    }
    eventually("the thread has ended", () -> thread().isEmpty());
  }
}
