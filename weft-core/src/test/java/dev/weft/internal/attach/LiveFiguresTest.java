package dev.weft.internal.attach;

import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How often the fibers are walked through for a live screen, by a clock of the test. */
@Feature("O1")
class LiveFiguresTest {
  private final AtomicLong now = new AtomicLong(1);
  private final LiveFigures figures = new LiveFigures(now::get);
  private final Scheduler scheduler = Scheduler.builder().name("slow").threads(1).build().start();

  @AfterEach
  void stop() {
    figures.close();
    scheduler.stop(Duration.ZERO);
  }

  private void pass(int millis) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Lets each walk take so long. */
  private void walksTake(int millis) {
    Thread tester = Thread.currentThread();
    Object slow =
        new Object() {
          @Override
          public String toString() {
            pass(Thread.currentThread() == tester ? millis : 0); // not for the watchdog's report
            return "a slow blocker";
          }
        };
    waits(scheduler.go(() -> LockSupport.park(slow)));
  }

  private List<String[]> ask(String order) throws IOException {
    StringWriter out = new StringWriter();
    figures.write(order, 10, out);
    return out.toString().lines().map(line -> line.split("\t", -1)).toList();
  }

  private long ageOfCounts() throws IOException {
    return ask("old").stream()
        .filter(fields -> fields[0].equals("scheduler") && fields[1].equals("slow"))
        .mapToLong(fields -> Long.parseLong(fields[10]))
        .findFirst()
        .orElseThrow();
  }

  /** Asks for an order of the rows; returns which they have. */
  private String order(String asked) throws IOException {
    return ask(asked).getFirst()[6];
  }

  /** A walk of a second would be followed by a rest of a hundred seconds. */
  @Test
  void theCountsAreNotOlderThanTwentySeconds() throws Exception {
    walksTake(1_000);
    assertThat(ageOfCounts()).isZero();
    pass(18_900);
    assertThat(ageOfCounts()).as("milliseconds").isEqualTo(19_900);
    pass(100);
    assertThat(ageOfCounts()).isZero();
  }

  /** Keys that are held down: each asks for another order, and each order for a walk. */
  @Test
  void ordersThatChangeOnAndOnAreInTheBudget() throws Exception {
    walksTake(100);
    assertThat(order("cpu")).as("the first walk, which each screen needs").isEqualTo("cpu");
    for (int i = 0; i < 6; i++) { // the half second that is saved, and a bit
      assertThat(order(i % 2 == 0 ? "new" : "old")).isEqualTo(i % 2 == 0 ? "new" : "old");
    }
    assertThat(order("wait")).as("rows stay").isEqualTo("old");
    assertThat(order("wait")).as("rows stay").isEqualTo("old");
    pass(9_800); // a walk earns its time in a hundred times as long
    assertThat(order("wait")).as("the order is obeyed in the end").isEqualTo("wait");
  }
}
