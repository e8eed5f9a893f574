package dev.weft.sim;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Each kind of fault finds a bug that the same program hides without it, and is counted. */
@Feature("V6")
@SuppressWarnings("AddressSelection") // a simulated host has one address
class NetworkFaultsTest {
  /** A program that runs in a network with faults, or without. */
  private interface Program {
    void run(Simulation sim, Consumer<Network> faults) throws Exception;
  }

  private static SimulationResult explore(Program program, Consumer<Network> faults) {
    return Simulation.explore(SimulationOptions.seeds(200), sim -> program.run(sim, faults));
  }

  /** Checks that a program fails under a fault only; returns what it fails with. */
  private static Throwable found(Program program, Fault fault, Consumer<Network> faults) {
    explore(program, network -> {}).check();
    FailureReport report = explore(program, faults).failure().orElseThrow();
    assertThat(report.faults().get(fault)).as(report.text()).isPositive();
    assertThat(report.text()).contains(fault.times(report.faults().get(fault)));
    return report.cause();
  }

  private static void echo(int port) throws IOException {
    try (ServerSocket server = new ServerSocket(port)) {
      while (true) {
        try (Socket client = server.accept()) {
          client.getInputStream().transferTo(client.getOutputStream());
        } catch (SocketException e) {
          // the next one
        }
      }
    }
  }

  /** Waits until a port is listened at. */
  private static Socket connect(String host, int port) throws Exception {
    Thread.sleep(1);
    return new Socket(host, port);
  }

  @Test
  void aStallFindsARequestThatIsSentTwice() {
    Program program =
        (sim, faults) -> {
          int[] served = new int[1];
          sim.host(
              "server",
              () -> {
                try (ServerSocket server = new ServerSocket(80);
                    Socket client = server.accept()) {
                  while (client.getInputStream().read() >= 0) {
                    served[0]++;
                    client.getOutputStream().write(1);
                  }
                }
              });
          faults.accept(sim.network());
          try (Socket server = connect("server", 80)) {
            server.setSoTimeout(100);
            server.getOutputStream().write(1);
            try {
              server.getInputStream().read();
            } catch (SocketTimeoutException e) {
              server.getOutputStream().write(1); // the request must have been lost
              server.setSoTimeout(0);
              server.getInputStream().read();
            }
          }
          Thread.sleep(10_000);
          assertThat(served[0]).isEqualTo(1);
        };
    Throwable cause = found(program, Fault.STALL, network -> network.stalls(0.1, ofMillis(500)));
    assertThat(cause).hasMessageContaining("expected: 1");
  }

  @Test
  void aRefusalFindsAConnectWithoutARetry() {
    Program program =
        (sim, faults) -> {
          sim.host("server", () -> echo(80));
          faults.accept(sim.network());
          connect("server", 80).close();
        };
    Throwable cause = found(program, Fault.REFUSAL, network -> network.refusals(0.1));
    assertThat(cause).hasMessage("Connection refused");
  }

  /** Answers datagrams. */
  private static void answer(int port) throws IOException {
    try (DatagramSocket socket = new DatagramSocket(port)) {
      DatagramPacket packet = new DatagramPacket(new byte[10], 10);
      while (true) {
        socket.receive(packet);
        socket.send(packet);
      }
    }
  }

  @Test
  void aLossFindsARequestWithoutATimeout() {
    Program program =
        (sim, faults) -> {
          sim.host("server", () -> answer(53));
          faults.accept(sim.network());
          Thread.sleep(1);
          try (DatagramSocket socket = new DatagramSocket()) {
            InetAddress server = InetAddress.getByName("server");
            socket.send(new DatagramPacket(new byte[] {1}, 1, server, 53));
            socket.receive(new DatagramPacket(new byte[10], 10));
          }
        };
    Throwable cause = found(program, Fault.LOSS, network -> network.losses(0.1));
    assertThat(cause).isInstanceOf(SimulationFailure.Deadlock.class);
    assertThat(cause).hasMessageContaining("NetworkFaultsTest.java");
  }

  @Test
  void aReorderingFindsAReceiverThatTrustsTheOrder() {
    Program program =
        (sim, faults) -> {
          sim.network().latency(ofMillis(1), ofMillis(1));
          sim.host(
              "sender",
              () -> {
                try (DatagramSocket socket = new DatagramSocket()) {
                  for (byte i = 0; i < 5; i++) {
                    Thread.sleep(2);
                    InetAddress main = InetAddress.getByName("main");
                    socket.send(new DatagramPacket(new byte[] {i}, 1, main, 53));
                  }
                }
              });
          faults.accept(sim.network());
          try (DatagramSocket socket = new DatagramSocket(53)) {
            for (int i = 0; i < 5; i++) {
              DatagramPacket packet = new DatagramPacket(new byte[10], 10);
              socket.receive(packet);
              assertThat(packet.getData()[0]).isEqualTo((byte) i);
            }
          }
        };
    Throwable cause =
        found(program, Fault.REORDERING, network -> network.latency(ofMillis(1), ofMillis(10)));
    assertThat(cause).isInstanceOf(AssertionError.class);
  }

  @Test
  void aPartitionFindsTwoPrimaries() {
    Program program =
        (sim, faults) -> {
          boolean[] primary = {true, false};
          sim.host(
              "first",
              () -> {
                try (DatagramSocket socket = new DatagramSocket()) {
                  InetAddress second = InetAddress.getByName("second");
                  for (int i = 0; i < 100; i++) {
                    socket.send(new DatagramPacket(new byte[] {1}, 1, second, 53));
                    Thread.sleep(100);
                  }
                }
              });
          sim.host(
              "second",
              () -> {
                try (DatagramSocket socket = new DatagramSocket(53)) {
                  socket.setSoTimeout(1_000);
                  for (int i = 0; i < 60; i++) {
                    socket.receive(new DatagramPacket(new byte[10], 10));
                  }
                } catch (SocketTimeoutException e) {
                  primary[1] = true; // no heartbeat for a second: first is dead
                }
              });
          faults.accept(sim.network());
          Thread.sleep(8_000);
          assertThat(primary[0] && primary[1]).as("two primaries").isFalse();
        };
    Throwable cause =
        found(program, Fault.PARTITION, network -> network.partition("first", "second"));
    assertThat(cause).hasMessageContaining("two primaries");
  }

  @Test
  void aSilenceFindsAReadWithoutATimeout() {
    Program program =
        (sim, faults) -> {
          Host server = sim.host("server", () -> echo(80));
          sim.network().silences(0); // set, and so not asked for
          faults.accept(sim.network());
          try (Socket socket = connect("server", 80)) {
            sim.at(ofSeconds(1), server::crash);
            assertThatThrownBy(() -> socket.getInputStream().read()).hasMessage("Connection reset");
          }
        };
    Throwable cause = found(program, Fault.SILENCE, network -> network.silences(0.5));
    assertThat(cause).isInstanceOf(SimulationFailure.Deadlock.class);
  }

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
