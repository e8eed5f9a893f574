package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Delivery to those who were away while the server was too: a database in a file. */
@Feature("A4")
class ImAwayTest {
  @TempDir Path folder;

  private String database() {
    return "jdbc:h2:" + folder.resolve("chat");
  }

  private ImServer start() throws Exception {
    return ImServer.builder().database(database()).build().start();
  }

  @Test
  void aRestartLosesAndDoublesNothing() throws Exception {
    try (ImServer server = start();
        ImClient ann = ImClient.register(server, "ann");
        ImClient bob = ImClient.register(server, "bob")) {
      ann.ask("JOIN tea");
      bob.ask("JOIN tea");
      ann.post("SAY tea 1");
      assertThat(bob.text()).isEqualTo("1");
      bob.crash();
      ann.await("PRESENCE bob away"); // or 2 may be written to a connection that is gone
      ann.post("SAY tea 2");
      ann.post("TELL bob 3");
      assertThat(List.of(ann.text(), ann.text())).containsExactly("2", "3"); // or they come again
    }
    try (ImServer server = start()) {
      try (ImClient ann = ImClient.login(server, "ann");
          ImClient bob = ImClient.login(server, "bob")) {
        assertThat(List.of(bob.text(), bob.text())).containsExactly("2", "3");
        assertThat(bob.ask("ROOMS")).isEqualTo("OK ROOMS tea");
        assertThat(ann.ask("PING")).isEqualTo("OK PING"); // its own it has had
        ann.post("SAY tea 4");
        assertThat(bob.text()).isEqualTo("4");
        assertThat(ann.text()).isEqualTo("4");
      }
    }
    try (ImServer server = start();
        ImClient bob = ImClient.login(server, "bob")) {
      assertThat(bob.eventsUntilNow()).isEmpty();
      assertThat(bob.history("HISTORY tea"))
          .extracting(ImClient::textOf)
          .containsExactly("1", "2", "4");
    }
  }

  @Test
  void serversThatComeAndGoWhileAllTalk() throws Exception {
    List<String> got = new ArrayList<>();
    int said = 0;
    for (int round = 0; round < 5; round++) {
      try (ImServer server = start();
          ImClient ann =
              round == 0 ? ImClient.register(server, "ann") : ImClient.login(server, "ann");
          ImClient bob =
              round == 0 ? ImClient.register(server, "bob") : ImClient.login(server, "bob")) {
        for (int i = 0; i < 50; i++) {
          ann.post("TELL bob " + said++);
        }
        server.stop();
        bob.awaitEnd();
        got.addAll(messagesBeforeBye(bob));
      }
    }
    try (ImServer server = start();
        ImClient bob = ImClient.login(server, "bob")) {
      got.addAll(
          bob.eventsUntilNow().stream()
              .filter(event -> event.startsWith("MSG "))
              .map(ImClient::textOf)
              .toList());
    }
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < said; i++) {
      expected.add(String.valueOf(i));
    }
    assertThat(got).isEqualTo(expected);
  }

  private static List<String> messagesBeforeBye(ImClient client) throws InterruptedException {
    List<String> texts = new ArrayList<>();
    for (String event = client.event(); !event.startsWith("BYE "); event = client.event()) {
      texts.add(ImClient.textOf(event));
    }
    return texts;
  }

  /** A client that says what it has seen gets exactly the rest, whenever it crashes. */
  @Test
  void crashesInTheMiddleOfAStreamLoseNothing() throws Exception {
    int count = 2000;
    Random random = new Random(7);
    List<String> seen = new ArrayList<>();
    try (ImServer server = ImServer.builder().build().start();
        ImClient ann = ImClient.register(server, "ann");
        ImClient bob = ImClient.register(server, "bob")) {
      bob.quit();
      for (int i = 0; i < count; i++) {
        ann.send("TELL bob " + i);
      }
      int crashes = 0;
      while (seen.size() < count) {
        try (ImClient again = ImClient.connect(server)) {
          assertThat(again.ask("SEEN 0")).isEqualTo("OK SEEN 0"); // before anything comes
          again.ask("LOGIN bob " + ImClient.PASSWORD);
          long last = 0;
          for (int n = random.nextInt(300); n >= 0 && seen.size() < count; n--) {
            String message = again.message();
            assertThat(ImClient.idOf(message)).isGreaterThan(last);
            last = ImClient.idOf(message);
            seen.add(ImClient.textOf(message));
          }
          assertThat(again.ask("SEEN " + last)).isEqualTo("OK SEEN " + last);
          again.crash();
          crashes++;
        }
      }
      assertThat(crashes).isGreaterThan(5);
    }
    assertThat(seen).isEqualTo(IntStream.range(0, count).mapToObj(String::valueOf).toList());
  }

  /**
   * What is said while a client gets what it has missed comes behind it, and it is not too slow.
   */
  @Test
  void muchIsMissedAndMuchIsSaid() throws Exception {
    int missed = 3000;
    int live = 1000;
    try (ImServer server = ImServer.builder().build().start();
        ImClient ann = ImClient.register(server, "ann");
        ImClient bob = ImClient.register(server, "bob")) {
      bob.quit();
      for (int i = 0; i < missed; i++) {
        ann.send("TELL bob " + i);
      }
      for (int i = 0; i < missed; i++) {
        assertThat(ann.answer()).startsWith("OK TELL ");
      }
      try (ImClient again = ImClient.login(server, "bob")) {
        for (int i = missed; i < missed + live; i++) {
          ann.send("TELL bob " + i);
        }
        for (int i = 0; i < missed + live; i++) {
          assertThat(again.event()).endsWith(" @ann ann " + i);
        }
      }
    }
  }

  /** What was answered OK is there after a kill, and what was seen does not come again. */
  @Test
  void aServerThatIsKilled() throws Exception {
    try (ServerNode node = ServerNode.start(database());
        ImClient ann = ImClient.connect(node.address());
        ImClient bob = ImClient.connect(node.address())) {
      ann.ask("REGISTER ann " + ImClient.PASSWORD);
      bob.ask("REGISTER bob " + ImClient.PASSWORD);
      bob.ask("SEEN 0");
      long first = ann.post("TELL bob 1");
      bob.text();
      bob.ask("SEEN " + first);
      bob.quit();
      ann.post("TELL bob 2");
      ann.post("TELL bob 3");
      node.kill();
      ann.awaitEnd();
    }
    try (ImServer server = start();
        ImClient bob = ImClient.login(server, "bob")) {
      assertThat(List.of(bob.text(), bob.text())).containsExactly("2", "3");
      assertThat(bob.eventsUntilNow()).isEmpty();
    }
  }
}
