package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that mean harm: what they can take is bounded, and others do not notice. */
@Feature("A4")
class ImHostileTest {
  private static final int BOMBS = 40;

  private static void send(Socket socket, String line) throws IOException {
    socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Connections of one user that ask for much history and read none of it. */
  @Test
  void historyThatNobodyReads() throws Exception {
    long ofUser = 4 << 20;
    try (ImServer server =
            ImServer.builder()
                .limits(all -> all.withUserBytes(ofUser).withStall(Duration.ofSeconds(2)))
                .build()
                .start();
        ImClient ann = ImClient.register(server, "ann");
        ImClient bob = ImClient.register(server, "bob")) {
      ann.ask("JOIN tea");
      for (int i = 0; i < 100; i++) {
        ann.post("SAY tea " + "x".repeat(4096));
      }
      String token = ann.ask("TOKEN").substring("OK TOKEN ".length());
      List<Socket> bombs = new ArrayList<>();
      for (int i = 0; i < BOMBS; i++) {
        Socket bomb = new Socket();
        bomb.setReceiveBufferSize(4096);
        bomb.connect(server.lineAddress());
        bombs.add(bomb);
        try {
          send(bomb, "RESUME " + token);
          for (int k = 0; k < 100; k++) { // small enough for the server's receive buffer
            send(bomb, "HISTORY tea 9999999 100");
          }
        } catch (IOException dropped) {
          // by the limit of the user already, which is what the test is about
        }
      }
      LineBudget budget = server.node().budget();
      long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
      long most = 0;
      // all of them are dropped: by the limit of the user, or as they do not read
      while (server.node().sessions() > 2) {
        most = Math.max(most, budget.total());
        assertThat(System.nanoTime()).as("dropped in time").isLessThan(deadline);
        assertThat(bob.ask("PING")).isEqualTo("OK PING");
      }
      // one more answer may be there before the limit is looked at, for each that is computed
      assertThat(most).isBetween(ofUser / 4, ofUser + 16L * 100 * 9000);
      for (Socket bomb : bombs) {
        bomb.close();
      }
      ann.post("TELL bob still here");
      assertThat(bob.text()).isEqualTo("still here");
      ann.quit();
      bob.quit();
      server.stop();
      assertThat(budget.total()).isZero();
    }
  }

  /** Sockets that never log in make room for those that do, and are dropped after a while. */
  @Test
  void socketsThatNeverLogIn() throws Exception {
    try (ImServer server = ImServer.builder().connections(20).build().start();
        ImClient ann = ImClient.register(server, "ann")) {
      List<Socket> sockets = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        Socket socket =
            new Socket(server.lineAddress().getAddress(), server.lineAddress().getPort());
        socket.getOutputStream().write('P'); // the beginning of a line
        sockets.add(socket);
      }
      try (ImClient bob = ImClient.register(server, "bob")) {
        bob.post("TELL ann hello");
        assertThat(ann.text()).isEqualTo("hello");
        assertThat(ann.ask("PING")).isEqualTo("OK PING");
      }
      for (Socket socket : sockets) {
        socket.close();
      }
    }
    try (ImServer server =
            ImServer.builder()
                .limits(all -> all.withLogin(Duration.ofMillis(500)))
                .build()
                .start();
        ImClient silent = ImClient.connect(server)) {
      assertThat(silent.event()).startsWith("BYE log in within ");
      silent.awaitEnd();
    }
  }

  @Test
  void aServerThatIsFullOfUsersRefusesOneMore() throws Exception {
    try (ImServer server = ImServer.builder().connections(2).build().start();
        ImClient ann = ImClient.register(server, "ann");
        ImClient bob = ImClient.register(server, "bob");
        ImClient eve = ImClient.connect(server)) {
      assertThat(eve.event()).startsWith("BYE the server has as many connections");
      assertThat(ann.ask("PING")).isEqualTo("OK PING");
      bob.quit();
      while (server.node().sessions() > 1) {
        Thread.onSpinWait();
      }
      ImClient.login(server, "bob").close();
    }
  }

  /** Wrong logins from many connections: after some of them nothing is computed any more. */
  @Test
  void aFloodOfWrongLogins() throws Exception {
    try (ImServer server = ImServer.builder().build().start();
        ImClient ann = ImClient.register(server, "ann")) {
      ann.ask("JOIN tea");
      List<Socket> flood = new ArrayList<>();
      for (int i = 0; i < 150; i++) {
        Socket socket =
            new Socket(server.lineAddress().getAddress(), server.lineAddress().getPort());
        for (int k = 0; k < 5; k++) {
          send(socket, "LOGIN nobody%d wrong-password".formatted(k));
        }
        flood.add(socket);
      }
      for (int i = 0; i < 50; i++) {
        ann.post("SAY tea " + i);
      }
      int tooMany = 0;
      int denied = 0;
      for (Socket socket : flood) {
        try (socket;
            InputStream in = new BufferedInputStream(socket.getInputStream())) {
          String answer = ImClient.readLine(in);
          tooMany += answer.startsWith("ERR limit too many wrong passwords") ? 1 : 0;
          denied += answer.startsWith("ERR denied ") ? 1 : 0;
        }
      }
      assertThat(denied).isBetween(1, 50);
      assertThat(tooMany).isGreaterThan(100);
      // ann was here before, and so is let in
      ImClient.login(server, "ann").close();
    }
  }
}
