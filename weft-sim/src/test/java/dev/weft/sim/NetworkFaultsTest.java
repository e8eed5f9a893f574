package dev.weft.sim;

import static dev.weft.sim.Programs.connect;
import static dev.weft.sim.Programs.echo;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Settings of the network's faults, and partitions; what each finds: {@link EveryFaultTest}. */
@Feature("V6")
@SuppressWarnings("AddressSelection") // a simulated host has one address
class NetworkFaultsTest {
  @Test
  void aConnectionGoesOnAfterAPartition() {
    SimulationResult result =
        Simulation.explore(
            SimulationOptions.seeds(50),
            sim -> {
              sim.host("server", () -> echo(80));
              try (Socket socket = connect("server", 80)) {
                sim.network().partition("main", "server");
                socket.getOutputStream().write(7);
                socket.setSoTimeout(5_000);
                assertThatThrownBy(() -> socket.getInputStream().read())
                    .isInstanceOf(SocketTimeoutException.class);
                sim.network().heal("server", "main");
                assertThat(socket.getInputStream().read()).isEqualTo(7);
                sim.network().partition("main", "server");
                sim.at(ofSeconds(10), () -> sim.network().heal());
                socket.getOutputStream().write(8);
                socket.setSoTimeout(0);
                assertThat(socket.getInputStream().read()).isEqualTo(8);
              }
            });
    result.check();
    assertThat(result.faults().get(Fault.PARTITION)).isBetween(100L, 200L);
  }

  @Test
  void aConnectionTimesOutInALongPartition() {
    Simulation.explore(
            SimulationOptions.seeds(20),
            sim -> {
              sim.host("server", () -> echo(80));
              try (Socket socket = connect("server", 80)) {
                sim.network().partition("main", "server");
                socket.getOutputStream().write(7);
                assertThatThrownBy(() -> socket.getInputStream().read())
                    .hasMessage("Connection timed out");
                assertThat(sim.now()).isBetween(ofMinutes(15), ofMinutes(16));
                assertThatThrownBy(() -> new Socket("server", 80))
                    .hasMessage("Connection timed out");
                assertThat(sim.now()).isBetween(ofSeconds(1_030), ofSeconds(1_090));
              }
            })
        .check();
  }

  @Test
  void aLinkHasItsOwnSettings() {
    SimulationResult result =
        Simulation.explore(
            SimulationOptions.seeds(20),
            sim -> {
              sim.host("near", () -> echo(80));
              sim.host("far", () -> echo(80));
              sim.network().latency(ofMillis(1), ofMillis(1)).refusals(1);
              sim.network().link("main", "near").refusals(0);
              sim.network().link("far", "main").latency(ofMillis(100), ofMillis(100));
              connect("near", 80).close();
              Duration before = sim.now();
              assertThatThrownBy(() -> new Socket("far", 80)).hasMessage("Connection refused");
              assertThat(sim.now().minus(before)).isEqualTo(ofMillis(200));
            });
    result.check();
    assertThat(result.faults()).containsOnly(Map.entry(Fault.REFUSAL, result.runs()));
  }

  @Test
  void aFaultThatNeverHappensIsShownAsZero() {
    SimulationResult result =
        Simulation.explore(
            SimulationOptions.seeds(5), sim -> sim.network().resets(0.5).stalls(0, ofSeconds(1)));
    result.check();
    assertThat(result.faults()).containsOnly(Map.entry(Fault.RESET, 0L));

    FailureReport report =
        Simulation.explore(
                SimulationOptions.seeds(5),
                sim -> {
                  sim.network().losses(0.5);
                  throw new AssertionError("for another reason");
                })
            .failure()
            .orElseThrow();
    assertThat(report.text()).contains("faults in it: 0 lost datagrams; in 1 seeds: 0 lost");
    assertThat(report.json()).contains("\"faultsInAll\": {\"LOSS\": 0}");
  }

  @Test
  void wrongSettingsAreRefused() {
    Simulation.explore(
            SimulationOptions.seeds(1),
            sim -> {
              Network network = sim.network();
              assertThatThrownBy(() -> network.resets(1.5))
                  .hasMessage("a probability must be 0 to 1, not 1.5");
              assertThatThrownBy(() -> network.losses(Double.NaN))
                  .hasMessage("a probability must be 0 to 1, not NaN");
              assertThatThrownBy(() -> network.latency(ofMillis(2), ofMillis(1)))
                  .hasMessageStartingWith("latency must be");
              assertThatThrownBy(() -> network.stalls(0.5, ofMillis(-1)))
                  .hasMessageStartingWith("a stall must take 0 or more");
              assertThatThrownBy(() -> network.partition("main", "bank"))
                  .hasMessage("there is no host 'bank'; there are [main]");
            })
        .check();
  }
}
