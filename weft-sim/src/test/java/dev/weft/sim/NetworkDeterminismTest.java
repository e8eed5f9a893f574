package dev.weft.sim;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The same seed gives the same network: the same delays, faults and crashes at the same times. */
@Feature({"V2", "V6"})
@SuppressWarnings("AddressSelection") // a simulated host has one address
class NetworkDeterminismTest {
  private static final int SEEDS = 40;

  private static void program(Simulation sim, List<String> seen) throws Exception {
    sim.network()
        .latency(ofMillis(1), ofMillis(20))
        .resets(0.03)
        .stalls(0.1, ofMillis(300))
        .refusals(0.1)
        .losses(0.1)
        .silences(0.5);
    Host server = sim.host("server", () -> SocketsTest.echo(80));
    sim.at(
        ofMillis(sim.random().nextInt(1_000)),
        () -> {
          server.crash();
          Thread.sleep(500);
          server.restart();
        });
    sim.at(ofSeconds(2), () -> sim.network().partition("main", "server"));
    sim.at(ofSeconds(3), () -> sim.network().heal());
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      clients.add(new Thread(() -> ask(sim, number, seen)));
    }
    clients.forEach(Thread::start);
    try (DatagramSocket socket = new DatagramSocket(53)) {
      InetAddress self = InetAddress.getLocalHost();
      for (byte i = 0; i < 5; i++) {
        socket.send(new DatagramPacket(new byte[] {i}, 1, self, 53));
      }
      socket.setSoTimeout(1_000);
      while (true) {
        DatagramPacket packet = new DatagramPacket(new byte[1], 1);
        socket.receive(packet);
        seen.add(sim.now().toNanos() + " datagram " + packet.getData()[0]);
      }
    } catch (IOException e) {
      seen.add(sim.now().toNanos() + " " + e);
    }
    for (Thread client : clients) {
      client.join();
    }
  }

  private static void ask(Simulation sim, int number, List<String> seen) {
    for (int i = 0; i < 8; i++) {
      try (Socket socket = new Socket("server", 80)) {
        socket.setSoTimeout(2_000);
        for (int k = 0; k < 3; k++) {
          socket.getOutputStream().write(k);
          seen.add(sim.now().toNanos() + " " + number + ": " + socket.getInputStream().read());
        }
      } catch (IOException e) {
        seen.add(sim.now().toNanos() + " " + number + ": " + e);
      }
    }
  }

  private static List<String> explore() {
    List<String> all = new ArrayList<>();
    SimulationResult result =
        Simulation.explore(
            SimulationOptions.seeds(SEEDS),
            sim -> {
              List<String> seen = new ArrayList<>();
              program(sim, seen);
              all.add(sim.seed() + " " + seen);
            });
    result.check();
    assertThat(result.faults()).hasSizeGreaterThanOrEqualTo(7).doesNotContainValue(0L);
    all.add(result.toString());
    return all.stream().distinct().toList();
  }

  @Test
  void aSeedSeesTheSameInEveryRun() {
    List<String> first = explore();
    assertThat(first).hasSize(SEEDS + 2); // the plain run, and the result; repeats saw the same
    assertThat(explore()).isEqualTo(first);
  }

  @Test
  void anotherJvmSeesTheSame() throws Exception {
    Command.Result other =
        Command.java("--enable-native-access=ALL-UNNAMED", NetworkDeterminismTest.class.getName())
            .run();
    assertThat(other.exitStatus()).as(other.stderr()).isZero();
    assertThat(other.stdout().lines().toList()).isEqualTo(explore());
  }

  public static void main(String[] args) {
    explore().forEach(System.out::println);
  }
}
