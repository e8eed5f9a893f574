package dev.weft.internal.sched;

import static dev.weft.internal.sched.Cores.awaitSleep;
import static dev.weft.internal.sched.Cores.core;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.weft.Body;
import dev.weft.Scheduler;
import dev.weft.internal.Faults;
import dev.weft.internal.Log;
import java.lang.System.Logger.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary.Failure;

/**
 * Test classes, and a program, with a fault of Weft's: {@link FaultsTest} runs them in separate
 * JVMs.
 */
final class FaultyPrograms {
  private FaultyPrograms() {}

  /** Runs the named test class, and prints its failures; without a name, reports a fault. */
  public static void main(String[] args) throws ClassNotFoundException {
    if (args.length == 0) {
      Log.logger().log(Level.ERROR, Faults.record("made up"));
      return;
    }
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(Class.forName(args[0])))
                .build(),
            summary);
    for (Failure failure : summary.getSummary().getFailures()) {
      System.err.println(
          "failed: "
              + failure.getTestIdentifier().getDisplayName()
              + ": "
              + failure.getException());
    }
    System.exit(0);
  }

  /** The fault is noticed a quarter of a second after the test. */
  static final class Late {
    @Test
    @SuppressWarnings("MustBeClosed") // the scheduler outlives the test
    void losesAWakeUp() {
      Scheduler scheduler = Scheduler.builder().threads(1).daemon(true).build().start();
      Worker worker = core(scheduler).worker(0);
      awaitSleep(worker);
      Body body = () -> {};
      FiberCore<Void> lost = new FiberCore<>(core(scheduler), SchedulerCore.DEFAULT_OPTIONS, body);
      core(scheduler).countBegun(null);
      worker.lock();
      try {
        worker.putReady(lost, System.nanoTime());
      } finally {
        worker.unlock();
      }
    }
  }

  /** The fault is noticed after the last test. */
  static final class AfterAllTests {
    @Test
    void passes() {}

    @AfterAll
    static void fault() {
      Log.logger().log(Level.ERROR, Faults.record("made up"));
    }
  }
}
