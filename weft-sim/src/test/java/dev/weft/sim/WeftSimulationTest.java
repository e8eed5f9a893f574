package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.weft.testkit.Feature;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** {@code @WeftSimulation}: tests of other classes are run here, by JUnit itself. */
@Feature("V8")
class WeftSimulationTest {
  private static final AtomicInteger RUNS = new AtomicInteger();
  private static final AtomicInteger BEGUN = new AtomicInteger();
  private static final AtomicInteger ENDED = new AtomicInteger();
  private static final AtomicInteger AFTER = new AtomicInteger();

  /** Tests that are run by this test only. */
  static class Cases {
    private int balance = 10;
    private boolean begun;

    @BeforeEach
    void begin() {
      begun = true;
      BEGUN.incrementAndGet();
    }

    @AfterEach
    void end() {
      ENDED.incrementAndGet();
    }

    private void withdraw() {
      if (balance >= 10) {
        balance -= 10;
      }
    }

    @WeftSimulation(seeds = 300, points = "dev.weft.sim.WeftSimulationTest")
    void overdraws(Simulation simulation) throws Exception {
      Thread other = new Thread(this::withdraw, "other");
      other.start();
      withdraw();
      other.join();
      assertThat(balance).isNotNegative();
    }

    @WeftSimulation(seeds = 50)
    void passes() throws Exception {
      assertThat(begun).isTrue();
      assertThat(balance).isEqualTo(10);
      balance = 0; // the next run has an instance of its own
      RUNS.incrementAndGet();
      Thread.sleep(1_000_000);
    }

    @Nested
    class Inside {
      @WeftSimulation(replay = "seed:7")
      void replays(Simulation simulation) {
        assertThat(simulation.seed()).isIn(0L, 7L);
        throw new IllegalStateException("outer balance " + balance);
      }
    }
  }

  /** Its method fails, and so do the methods after it; run by this test only. */
  static class Broken {
    @AfterEach
    void after() {
      AFTER.incrementAndGet();
      throw new IllegalStateException("after the test");
    }

    @AfterEach
    void afterToo() {
      AFTER.incrementAndGet();
      throw new IllegalStateException("after the test");
    }

    @WeftSimulation(seeds = 1)
    void fails() {
      throw new IllegalStateException("in the test");
    }
  }

  private record Outcome(String name, TestExecutionResult result) {
    String message() {
      return result.getThrowable().map(Throwable::getMessage).orElse("");
    }
  }

  private static List<Outcome> run(Class<?> type) {
    List<Outcome> outcomes = new CopyOnWriteArrayList<>();
    LauncherConfig alone = // the journal of this test's JVM must not see these tests
        LauncherConfig.builder()
            .enableTestExecutionListenerAutoRegistration(false)
            .enableLauncherSessionListenerAutoRegistration(false)
            .enableLauncherDiscoveryListenerAutoRegistration(false)
            .build();
    LauncherFactory.create(alone)
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(type))
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "false")
                .build(),
            new TestExecutionListener() {
              @Override
              public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest()) {
                  outcomes.add(new Outcome(test.getDisplayName(), result));
                }
              }
            });
    return outcomes;
  }

  private static Outcome of(List<Outcome> outcomes, String name) {
    return outcomes.stream().filter(o -> o.name().startsWith(name)).findFirst().orElseThrow();
  }

  @Test
  void testsAreRunForEachSeedAndFailWithTheReport() {
    RUNS.set(0);
    List<Outcome> outcomes = run(Cases.class);
    assertThat(outcomes).hasSize(3);
    assertThat(of(outcomes, "passes").result().getStatus())
        .isEqualTo(TestExecutionResult.Status.SUCCESSFUL);
    assertThat(RUNS.get()).isGreaterThan(50);
    assertThat(BEGUN.get()).isEqualTo(ENDED.get()).isGreaterThan(RUNS.get());
    assertThat(of(outcomes, "overdraws").message())
        .startsWith("overdraws fails with seed ")
        .contains("stops before it")
        .contains("WeftSimulationTest.java:");
    assertThat(of(outcomes, "replays").message())
        .startsWith("replays fails with seed 7:")
        .contains("outer balance 10");
  }

  @Test
  void aFailureAfterTheTestDoesNotHideThatOfTheTest() {
    TestExecutionResult result = of(run(Broken.class), "fails").result();
    Throwable cause = result.getThrowable().orElseThrow().getCause();
    assertThat(cause).hasMessage("in the test");
    assertThat(cause.getSuppressed())
        .hasSize(2)
        .allSatisfy(after -> assertThat(after).hasMessage("after the test"));
    assertThat(AFTER.get()).isPositive().isEven();
  }
}
