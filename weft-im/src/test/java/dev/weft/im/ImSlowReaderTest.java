package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.BufferedInputStream;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A client that does not read harms nobody, and loses nothing. */
@Feature("A4")
class ImSlowReaderTest {
  @Test
  void aSlowReaderGetsByeAndTheRestAtTheNextLogin() throws Exception {
    String filler = "x".repeat(4000);
    try (ImServer server =
            ImServer.builder().limits(all -> all.withConnectionBytes(160_000)).build().start();
        ImClient ann = ImClient.register(server, "ann");
        ImClient bob = ImClient.register(server, "bob");
        Socket lazy = new Socket()) {
      bob.ask("JOIN tea");
      bob.quit();
      ann.ask("JOIN tea");
      lazy.setReceiveBufferSize(4096);
      lazy.connect(server.lineAddress());
      lazy.getOutputStream()
          .write(("LOGIN bob " + ImClient.PASSWORD + "\n").getBytes(StandardCharsets.UTF_8));
      Presence presence = server.node().presence();
      while (!presence.isHere("bob")) {
        Thread.onSpinWait();
      }
      List<String> said = new ArrayList<>();
      // until the system's buffers and the queue are full, and the server gives up
      while (presence.isHere("bob")) {
        assertThat(said.size()).isLessThan(20_000);
        ann.post("SAY tea " + said.size() + " " + filler);
        said.add(String.valueOf(said.size()));
        ann.text(); // its own message
      }
      List<String> got = new ArrayList<>();
      try (InputStream in = new BufferedInputStream(lazy.getInputStream())) {
        assertThat(ImClient.readLine(in)).isEqualTo("OK LOGIN bob");
        String line = ImClient.readLine(in);
        while (line.startsWith("MSG ")) {
          got.add(number(line));
          line = ImClient.readLine(in);
        }
        assertThat(line).startsWith("BYE you read too slowly");
        assertThat(ImClient.readLine(in)).isNull();
      }
      assertThat(got).hasSizeLessThan(said.size());
      try (ImClient again = ImClient.login(server, "bob")) {
        while (got.size() < said.size()) {
          got.add(number(again.message()));
        }
        assertThat(again.eventsUntilNow()).isEmpty();
      }
      assertThat(got).isEqualTo(said);
    }
  }

  private static String number(String message) {
    return message.split(" ", 7)[5];
  }
}
