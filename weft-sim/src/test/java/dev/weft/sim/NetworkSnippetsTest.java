package dev.weft.sim;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;

/** The snippets of the Javadoc of hosts and the network. */
@SuppressWarnings("AddressSelection") // a simulated host has one address
class NetworkSnippetsTest {
  // @start region="network"
  @WeftSimulation(seeds = 100)
  void survivesTheNetwork(Simulation sim) throws Exception {
    Host server = sim.host("server", () -> SocketsTest.echo(7000));
    sim.network()
        .latency(ofMillis(1), ofMillis(5))
        .resets(0.01)
        .stalls(0.01, ofSeconds(1))
        .link("main", "server")
        .refusals(0.1);
    sim.at(ofMillis(20), () -> sim.network().partition("main", "server"));
    sim.at(ofSeconds(10), () -> sim.network().heal());
    sim.at(
        ofSeconds(20),
        () -> {
          server.crash();
          server.restart();
        });
    assertThat(askUntilAnswered(42)).isEqualTo(42);
  }

  // @end

  private static int askUntilAnswered(int value) throws InterruptedException {
    for (int i = 0; i < 100; i++) {
      Thread.sleep(1_000);
      try (Socket socket = new Socket("server", 7000)) {
        socket.setSoTimeout(2_000);
        socket.getOutputStream().write(value);
        int answer = socket.getInputStream().read();
        if (answer >= 0) {
          return answer;
        }
      } catch (IOException e) {
        // again
      }
    }
    return -1;
  }
}
