package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that is full for a while: what does not fit is refused, and the rest is there. */
@Feature("A4")
class ImDiskFullTest {
  private static final String FULL = "ERR internal the disk of the server is full";

  @TempDir Path folder;

  @AfterEach
  void noLimit() {
    QuotaFiles.QUOTA.set(Long.MAX_VALUE);
    QuotaFiles.PAUSE.set(0);
  }

  @Test
  void messagesThatDoNotFitAreRefusedUntilThereIsRoom() throws Exception {
    QuotaFiles.register();
    String database = "jdbc:h2:quota:" + folder.resolve("chat");
    List<String> stored = new ArrayList<>();
    try (ImServer server = ImServer.builder().database(database).build().start();
        ImClient ann = ImClient.register(server, "ann")) {
      ann.ask("JOIN tea");
      QuotaFiles.QUOTA.set(1 << 20);
      Random random = new Random(5);
      String refusal = "";
      while (refusal.isEmpty()) {
        String text = randomText(random);
        String answer = ann.ask("SAY tea " + text);
        if (answer.startsWith("OK SAY ")) {
          stored.add(text);
          assertThat(stored).hasSizeLessThan(2000);
        } else {
          refusal = answer;
        }
      }
      assertThat(refusal).startsWith(FULL);
      assertThat(stored).hasSizeGreaterThan(10);
      for (int i = 0; i < 20; i++) {
        assertThat(ann.ask("SAY tea still full")).startsWith("ERR internal ");
      }
      assertThat(ann.ask("PING")).isEqualTo("OK PING");
      QuotaFiles.QUOTA.set(Long.MAX_VALUE);
      String answer = ann.ask("SAY tea at last");
      while (!answer.startsWith("OK SAY ")) { // it is opened again within a second
        assertThat(answer).startsWith("ERR internal ");
        answer = ann.ask("SAY tea at last");
      }
      stored.add("at last");
      try (ImClient again = ImClient.login(server, "ann")) {
        again.ask("ROOMS");
        again.post("SAY tea more");
        stored.add("more");
      }
      ann.quit();
    }
    try (ImServer server = ImServer.builder().database(database).build().start();
        ImClient ann = ImClient.login(server, "ann")) {
      List<String> texts = new ArrayList<>();
      List<String> page = ann.history("HISTORY tea");
      while (!page.isEmpty()) {
        texts.addAll(0, page.stream().map(ImClient::textOf).toList());
        page = ann.history("HISTORY tea " + ImClient.idOf(page.getFirst()) + " 100");
      }
      texts.removeIf(text -> text.equals("still full")); // refused, but it may have come through
      assertThat(texts).isEqualTo(stored);
    }
  }

  /** Writes are slow, so while one of them fails another client forces the file. */
  @Test
  void severalClientsThatFillTheDiskAreRefusedAndGoOn() throws Exception {
    QuotaFiles.register();
    String database = "jdbc:h2:quota:" + folder.resolve("chat");
    try (ImServer server = ImServer.builder().database(database).build().start()) {
      List<ImClient> clients = new ArrayList<>();
      try {
        for (int i = 0; i < 4; i++) {
          clients.add(ImClient.register(server, "client" + i));
        }
        QuotaFiles.PAUSE.set(10);
        QuotaFiles.QUOTA.set(Files.size(folder.resolve("chat.mv.db")) + 100_000);
        for (ImClient client : clients) {
          for (int room = 0; room < 20; room++) {
            client.send("JOIN room" + room);
          }
        }
        int refused = 0;
        for (ImClient client : clients) {
          for (int room = 0; room < 20; room++) {
            refused += client.answer().startsWith("ERR internal ") ? 1 : 0;
          }
        }
        assertThat(refused).isPositive();
        noLimit();
        for (ImClient client : clients) {
          while (!client.ask("JOIN tea").startsWith("OK JOIN")) {
            // it is opened again within a second
          }
        }
      } finally {
        for (ImClient client : clients) {
          client.close();
        }
      }
    }
  }

  private static String randomText(Random random) {
    return random
        .ints(3900, 'a', 'z' + 1)
        .mapToObj(letter -> String.valueOf((char) letter))
        .collect(Collectors.joining());
  }
}
