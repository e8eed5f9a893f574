package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How fast a user may read long answers. */
@Feature("A4")
class ReadPaceTest {
  private final AtomicLong clock = new AtomicLong();
  private final ReadPace pace = new ReadPace(clock::get);

  /** The page reads some dozen of usual pages when it is opened, and a person scrolls. */
  @Test
  void aPersonNeverWaits() {
    for (int i = 0; i < 80; i++) {
      assertThat(pace.pause("ann")).isZero();
      pace.took("ann", 50 * 200);
    }
    for (int i = 0; i < 1000; i++) {
      clock.addAndGet(Duration.ofMillis(500).toNanos());
      assertThat(pace.pause("ann")).isZero();
      pace.took("ann", 100 * 4200);
    }
  }

  @Test
  void longAnswersAreGivenAtAPace() {
    long start = clock.get();
    for (int i = 0; i < 1000; i++) {
      clock.addAndGet(pace.pause("ann").toNanos());
      pace.took("ann", 1 << 20);
    }
    assertThat(Duration.ofNanos(clock.get() - start))
        .isBetween(Duration.ofSeconds(240), Duration.ofSeconds(270));
    assertThat(pace.pause("bob")).isZero();
  }

  @Test
  void shortAnswersAreGivenAtAPaceToo() {
    for (int i = 0; i < 1000; i++) {
      clock.addAndGet(pace.pause("ann").toNanos());
      pace.took("ann", 10);
    }
    assertThat(Duration.ofNanos(clock.get()))
        .isBetween(Duration.ofSeconds(5), Duration.ofSeconds(8));
  }
}
