package dev.weft.sim;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sim.RemotePaymentsPage.Bank;
import dev.weft.sim.RemotePaymentsPage.Client;
import dev.weft.testkit.Feature;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A payment service over sockets: its retry pays twice after a reset. */
@Feature("V6")
class RemotePaymentsTest {
  /** A bank that knows the payments it has made. */
  private static final class FixedBank extends Bank {
    private final Set<String> paid = new HashSet<>();

    @Override
    void pay(String id, int amount) {
      if (paid.add(id)) {
        super.pay(id, amount);
      }
    }
  }

  private static SimulationOptions options() {
    return SimulationOptions.seeds(1_000).name("paysOnce");
  }

  private static void paysOnce(Simulation sim, Bank bank) {
    sim.host("bank", () -> bank.serve(7000));
    Client.pay("bank", 7000, "id-1", 10);
    assertThat(bank.total).isEqualTo(10);
  }

  @Test
  void resetsFindTheSecondPayment() {
    FailureReport report =
        Simulation.explore(
                options(), sim -> new RemotePaymentsPage.RemotePaymentsTest().paysOnce(sim))
            .failure()
            .orElseThrow();
    assertThat(report.cause()).hasMessageContaining("expected: <10> but was: <20>");
    assertThat(report.faults().get(Fault.RESET)).isPositive();
    assertThat(report.faultsInAll().get(Fault.RESET))
        .isGreaterThanOrEqualTo(report.faults().get(Fault.RESET));
    assertThat(report.text())
        .containsPattern("faults in it: \\d+ resets?; in [\\d,]+ seeds: \\d+ resets?")
        .contains("the connection is reset, between bank and main");
    assertThat(report.json())
        .contains("\"faults\": {\"RESET\": " + report.faults().get(Fault.RESET) + "}");
    assertThat(report.html()).containsPattern("Faults: \\d+ resets?; in all seeds: \\d+ resets?");
  }

  @Test
  void theFailingSeedFailsAgain() {
    FailureReport first =
        Simulation.explore(
                options(), sim -> new RemotePaymentsPage.RemotePaymentsTest().paysOnce(sim))
            .failure()
            .orElseThrow();
    FailureReport again =
        Simulation.explore(
                SimulationOptions.replay(first.schedule().toString()),
                sim -> new RemotePaymentsPage.RemotePaymentsTest().paysOnce(sim))
            .failure()
            .orElseThrow();
    assertThat(again.faults()).isEqualTo(first.faults());
    assertThat(again.events()).isEqualTo(first.events());
  }

  @Test
  void withoutResetsTheBankPaysOnce() {
    SimulationResult result = Simulation.explore(options(), sim -> paysOnce(sim, new Bank()));
    result.check();
    assertThat(result.faults()).isEmpty();
  }

  @Test
  void theFixedBankPaysOnceUnderAllFaults() {
    SimulationResult result =
        Simulation.explore(
            options(),
            sim -> {
              sim.network()
                  .latency(ofMillis(1), ofMillis(5))
                  .resets(0.05)
                  .stalls(0.05, ofSeconds(1))
                  .refusals(0.05);
              paysOnce(sim, new FixedBank());
            });
    result.check();
    assertThat(result.runs()).isEqualTo(1_001);
    assertThat(result.faults())
        .containsOnlyKeys(Fault.RESET, Fault.STALL, Fault.REFUSAL)
        .allSatisfy((fault, count) -> assertThat(count).isGreaterThan(50));
  }
}
