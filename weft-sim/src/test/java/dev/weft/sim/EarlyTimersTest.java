package dev.weft.sim;

import static dev.weft.sim.Programs.sleep;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Timers that fire although fibers could go on: only if the program's test asks for it. */
@Feature("V1")
class EarlyTimersTest {
  private static final SimulationOptions OPTIONS =
      SimulationOptions.seeds(500).points("dev.weft.sim.EarlyTimersTest");

  /** A request with a timeout whose answer, if it comes late, overwrites the timeout's. */
  private static final class Request {
    private String answer = "";

    void answer(String newAnswer) {
      answer = newAnswer;
    }
  }

  private static void answersOnce(Simulation sim) throws Exception {
    Request request = new Request();
    CountDownLatch done = new CountDownLatch(1);
    Thread server =
        new Thread(
            () -> {
              request.answer("good");
              done.countDown();
            },
            "server");
    server.start();
    boolean inTime = done.await(1, TimeUnit.SECONDS);
    if (!inTime) {
      request.answer("timeout");
    }
    server.join();
    assertThat(request.answer).isEqualTo(inTime ? "good" : "timeout");
  }

  @Test
  void aTimeoutDoesNotRaceComputationByItself() {
    SimulationResult result = Simulation.explore(OPTIONS, EarlyTimersTest::answersOnce);
    result.check();
    assertThat(result.virtualTime()).isZero();
  }

  @Test
  void withTheOptionItDoesAndTheFailureIsReplayed() {
    SimulationOptions early = OPTIONS.timersEarly(true);
    FailureReport report =
        Simulation.explore(early, EarlyTimersTest::answersOnce).failure().orElseThrow();
    assertThat(report.cause()).hasMessageContaining("timeout");

    for (String run : new String[] {"seed:" + report.seed(), report.schedule().toString()}) {
      FailureReport again =
          Simulation.explore(
                  SimulationOptions.replay(run)
                      .points(OPTIONS.points().getFirst())
                      .timersEarly(true),
                  EarlyTimersTest::answersOnce)
              .failure()
              .orElseThrow();
      assertThat(again.schedule()).isEqualTo(report.schedule());
    }
  }

  @Test
  void timeNeverPassesBeyondTheNextTimer() {
    Simulation.explore(
            OPTIONS.timersEarly(true),
            sim -> {
              StringBuilder order = new StringBuilder();
              Thread[] sleepers = new Thread[3];
              for (int i = 0; i < sleepers.length; i++) {
                int number = i;
                sleepers[i] =
                    Thread.ofVirtual()
                        .start(
                            () -> {
                              long before = System.nanoTime();
                              sleep(Duration.ofSeconds(number + 1L));
                              assertThat(System.nanoTime() - before)
                                  .isGreaterThanOrEqualTo(1_000_000_000L * (number + 1));
                              synchronized (order) {
                                order.append(number);
                              }
                            });
              }
              for (Thread sleeper : sleepers) {
                sleeper.join();
              }
              assertThat(order).hasSize(3);
            })
        .check();
  }
}
