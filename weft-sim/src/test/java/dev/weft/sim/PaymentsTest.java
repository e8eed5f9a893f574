package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** The payment service of docs/simulation.md. */
class PaymentsTest {
  private static class Payments {
    final Map<String, Integer> paid = new ConcurrentHashMap<>();
    private int total;

    void pay(String id, int amount) {
      if (!paid.containsKey(id)) { // a retry must not pay twice
        paid.put(id, amount);
        add(amount);
      }
    }

    synchronized void add(int amount) {
      total += amount;
    }
  }

  private static final class FixedPayments extends Payments {
    @Override
    void pay(String id, int amount) {
      if (paid.putIfAbsent(id, amount) == null) {
        add(amount);
      }
    }
  }

  private static void paysOnce(Payments payments) throws Exception {
    Thread retry = new Thread(() -> payments.pay("id-1", 10), "retry");
    retry.start();
    payments.pay("id-1", 10);
    retry.join();
    if (payments.total != 10) {
      throw new AssertionError("expected 10, was " + payments.total);
    }
  }

  private static SimulationOptions options() {
    return SimulationOptions.seeds(1_000).name("paysOnce").points("dev.weft.sim.PaymentsTest");
  }

  @Test
  void theSecondPaymentIsFound() {
    FailureReport report =
        Simulation.explore(options(), sim -> paysOnce(new Payments())).failure().orElseThrow();
    assertThat(report.seed()).isLessThan(100);
    assertThat(report.schedule().switches()).hasSize(1);
    assertThat(report.text())
        .contains("expected 10, was 20")
        .contains("stops before it calls Map.put");
  }

  @Test
  void theTestOfThePageFails() {
    FailureReport report =
        Simulation.explore(
                SimulationOptions.seeds(1_000).name("paysOnce").points("dev.weft.sim"),
                sim -> new PaymentsPage.PaymentsTest().paysOnce())
            .failure()
            .orElseThrow();
    assertThat(report.text()).contains("expected: <10> but was: <20>");
  }

  @WeftSimulation(seeds = 1_000, points = "dev.weft.sim.PaymentsTest")
  void theFixedServicePaysOnce() throws Exception {
    paysOnce(new FixedPayments());
  }
}
