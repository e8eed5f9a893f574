package dev.weft.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Test classes with names that Maven does not look for: {@link TestJournalTest} and {@link
 * HangGuardTest} run them in separate JVMs, by {@link #main}, to see what the test kit does.
 */
final class HiddenTests {
  private HiddenTests() {}

  /** Runs the named test class; prints the number of failures. */
  public static void main(String[] args) throws ClassNotFoundException {
    var summary = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(Class.forName(args[0])))
                .build(),
            summary);
    System.out.println("failed: " + summary.getSummary().getTotalFailureCount());
    System.exit(0); // a stuck thread does not keep this JVM
  }

  @Feature("C1")
  static final class Mixed {
    @Test
    @Feature("C2")
    void passes() {}

    @Test
    void fails() {
      assertThat(1).as("one").isEqualTo(2);
    }

    @Test
    @Disabled("not today")
    void skipped() {}

    @Test
    void aborted() {
      assumeTrue(false, "not here");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\uD83D"}) // half of a surrogate pair: no bytes stand for it
    void twice(String letter) {
      assertThat(letter).isNotEmpty();
    }

    @Nested
    class Inner {
      @Test
      @Feature("C3")
      void inherits() {}
    }
  }

  static final class NeverStarts {
    @BeforeAll
    static void breaks() {
      fail("no server");
    }

    @Test
    void waits() {}
  }

  static final class NotHere {
    @BeforeAll
    static void looksForItsServer() {
      assumeTrue(false, "no server here");
    }

    @Test
    void waits() {}
  }

  @Disabled("all of it")
  static final class Off {
    @Test
    void one() {}

    @Test
    void two() {}
  }

  static final class Hangs {
    @Test
    @Timeout(value = 300, unit = TimeUnit.MILLISECONDS)
    void hangs() throws InterruptedException {
      var started = new CountDownLatch(1);
      Thread.ofVirtual().name("virtual-hanger").start(() -> waitForEver(started));
      started.await();
      new CountDownLatch(1).await();
    }

    private static void waitForEver(CountDownLatch started) {
      started.countDown();
      while (true) {
        LockSupport.park();
      }
    }
  }

  static final class HangsHard {
    @Test
    @Timeout(value = 300, unit = TimeUnit.MILLISECONDS)
    void ignoresInterrupts() {
      while (true) {
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
        var heeded = Thread.interrupted();
        assertThat(heeded).isIn(true, false);
      }
    }
  }
}
