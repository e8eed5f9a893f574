package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.net.BindException;
import org.junit.jupiter.api.Test;

/** Conversations over the embedded database, and the life of a server. */
@Feature("A4")
class ImServerTest extends Conversations {
  @Override
  ImServer start() throws Exception {
    return ImServer.builder().build().start();
  }

  @Test
  void example() throws Exception {
    // @start region="server"
    try (ImServer chat = ImServer.builder().linePort(0).webPort(0).build().start()) {
      System.out.println("telnet to " + chat.lineAddress() + ", or browse " + chat.webAddress());
    }
    // @end
  }

  @Test
  void runsOnTheSchedulerOfWhoStartsIt() throws Exception {
    try (Scheduler one = Scheduler.builder().threads(1).name("one").build().start()) {
      ImServer mine = one.go(() -> ImServer.builder().build().start()).join();
      try (ImClient ann = ImClient.register(mine, "ann")) {
        assertThat(ann.ask("PING")).isEqualTo("OK PING");
        assertThat(one.dump().toString()).contains("im-connection");
        ann.quit();
      }
      mine.stop();
    }
  }

  @Test
  void stopSaysBye() throws Exception {
    try (ImClient ann = register("ann");
        ImClient nobody = ImClient.connect(server)) {
      nobody.ask("PING");
      server.stop();
      assertThat(ann.event()).startsWith("BYE ");
      assertThat(nobody.event()).startsWith("BYE ");
      ann.awaitEnd();
      nobody.awaitEnd();
    }
  }

  @Test
  void badSettingsAreRefused() throws Exception {
    assertThatThrownBy(() -> ImServer.builder().linePort(65_536))
        .hasMessage("port must be between 0 and 65535, not 65536");
    assertThatThrownBy(() -> ImServer.builder().database("jdbc:oracle:x"))
        .hasMessageContaining("jdbc:h2: or jdbc:postgresql:");
    assertThatThrownBy(() -> ImServer.builder().redis("localhost"))
        .hasMessageContaining("redis://host:port");
    assertThatThrownBy(() -> server.start()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> ImServer.builder().build().lineAddress())
        .isInstanceOf(IllegalStateException.class);
    int taken = server.webAddress().getPort();
    assertThatThrownBy(() -> ImServer.builder().webPort(taken).build().start())
        .isInstanceOf(BindException.class);
    assertThatThrownBy(
            () ->
                ImServer.builder()
                    .database("jdbc:postgresql://127.0.0.1:1/x?user=y")
                    .build()
                    .start())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot open the database jdbc:postgresql://127.0.0.1:1/x");
  }
}
