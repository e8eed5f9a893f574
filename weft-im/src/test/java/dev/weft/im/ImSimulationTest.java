package dev.weft.im;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sim.Fault;
import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationOptions;
import dev.weft.sim.SimulationResult;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The messaging server with its store, in a simulated network: connections break and are late, and
 * clients come back with their tokens. What was acknowledged is in the history once, what was not
 * at most once, and over a connection messages come in order.
 */
@Feature({"V9", "A4"})
@Timeout(180)
@SuppressWarnings("AddressSelection") // a simulated host has one address
class ImSimulationTest {
  private static final int SEEDS = 20;
  private static final int MESSAGES = 4;
  private static final String ROOM = "kitchen";
  private static final AtomicInteger RUN = new AtomicInteger();

  /** One connection of a client, line by line. */
  private static final class Lines implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader in;
    private long lastMessage;

    Lines() throws IOException {
      socket = new Socket("im", 5190);
      socket.setSoTimeout(60_000);
      in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Sends a command; returns its answer, and checks the events before it. */
    String ask(String command) throws IOException {
      socket.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
      while (true) {
        String line = next();
        if (line.startsWith("OK ") || line.startsWith("ERR ")) {
          return line;
        }
        if (line.startsWith("MSG ")) {
          long id = Long.parseLong(line.split(" ", 3)[1]);
          assertThat(id).as("ids of messages over one connection").isGreaterThan(lastMessage);
          lastMessage = id;
        }
      }
    }

    String next() throws IOException {
      String line = in.readLine();
      if (line == null || line.startsWith("BYE ")) {
        throw new IOException("the connection has ended: " + line);
      }
      return line;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** A user that says some messages in a room, whatever happens to its connections. */
  private static final class User {
    private final String name;
    private final List<String> said = new ArrayList<>();
    private final List<String> acknowledged = new ArrayList<>();
    private String token = "";
    private boolean known;

    User(String name) {
      this.name = name;
    }

    void talk() throws InterruptedException {
      while (acknowledged.size() < MESSAGES) {
        try (Lines lines = new Lines()) {
          logIn(lines);
          assertThat(lines.ask("JOIN " + ROOM)).isEqualTo("OK JOIN " + ROOM);
          while (acknowledged.size() < MESSAGES) {
            String text = name + " says " + said.size();
            said.add(text);
            assertThat(lines.ask("SAY " + ROOM + " " + text)).startsWith("OK SAY ");
            acknowledged.add(text);
          }
        } catch (IOException e) {
          Thread.sleep(10); // it was reset, or the server is not up yet
        }
      }
    }

    private void logIn(Lines lines) throws IOException {
      if (!token.isEmpty()) {
        assertThat(lines.ask("RESUME " + token)).isEqualTo("OK RESUME " + name);
        return;
      }
      String answer = lines.ask((known ? "LOGIN " : "REGISTER ") + name + " correct-horse");
      if (answer.startsWith("ERR exists ")) {
        known = true; // the answer to the first REGISTER was lost
        throw new IOException(answer);
      }
      assertThat(answer).startsWith("OK ");
      known = true;
      token = lines.ask("TOKEN").substring("OK TOKEN ".length());
    }

    List<String> history() throws InterruptedException {
      while (true) {
        try (Lines lines = new Lines()) {
          logIn(lines);
          String answer = lines.ask("HISTORY " + ROOM + " 100");
          assertThat(answer).startsWith("OK HISTORY ");
          List<String> texts = new ArrayList<>();
          for (int left = Integer.parseInt(answer.substring(11)); left > 0; left--) {
            String line = lines.next();
            texts.add(line.split(" ", 6)[5]);
          }
          return texts;
        } catch (IOException e) {
          Thread.sleep(10);
        }
      }
    }
  }

  private static void run(Simulation sim) throws Exception {
    ImServer server =
        ImServer.builder()
            .bind("0.0.0.0")
            .linePort(5190)
            .webPort(5191)
            .database("jdbc:h2:mem:run-" + RUN.incrementAndGet()) // H2 outlives a run
            .build();
    sim.host("im", server::start);
    sim.network().latency(ofMillis(1), ofMillis(5)).resets(0.03).stalls(0.02, ofMillis(400));
    User ann = new User("ann");
    User bob = new User("bob");
    Thread other =
        Thread.ofVirtual()
            .name("bob")
            .start(
                () -> {
                  try {
                    bob.talk();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                });
    ann.talk();
    other.join();
    List<String> history = ann.history();
    assertThat(history).doesNotHaveDuplicates();
    for (User user : List.of(ann, bob)) {
      assertThat(history).containsAll(user.acknowledged);
      assertThat(history.stream().filter(text -> text.startsWith(user.name)))
          .isSubsetOf(user.said)
          .isSorted();
    }
    server.stop(); // else threads of the database would be left to the next run
  }

  @Test
  void whatIsAcknowledgedIsInTheHistoryOnceUnderFaults() {
    SimulationResult result =
        Simulation.explore(SimulationOptions.seeds(SEEDS), ImSimulationTest::run);
    result.check();
    assertThat(result.faults().get(Fault.RESET)).isPositive();
    assertThat(result.faults().get(Fault.STALL)).isPositive();
  }
}
