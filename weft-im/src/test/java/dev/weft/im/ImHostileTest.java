package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Clients that mean harm: what they can take is bounded, and others do not notice. */
@Feature("A4")
class ImHostileTest {
  private static final int BOMBS = 40;

  /** Generous for a busy machine; a server that lets one client delay the others takes longer. */
  private static final Duration SLOWEST_SAY = Duration.ofSeconds(3);

  private static void send(Socket socket, String line) throws IOException {
    socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Says something in a room, in time. */
  private static void sayInTime(ImClient client, String room, String text) throws Exception {
    long start = System.nanoTime();
    client.post("SAY " + room + " " + text);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .as("a SAY while others mean harm")
        .isLessThan(SLOWEST_SAY);
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
      bob.ask("JOIN den");
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
        sayInTime(bob, "den", "still quick");
      }
      // one more answer may be there before the limit is looked at, for each that is computed
      assertThat(most).isBetween(ofUser / 4, ofUser + 16L * 100 * 9000);
      for (Socket bomb : bombs) {
        bomb.close();
      }
      ann.post("TELL bob still here");
      while (!bob.text().equals("still here")) {
        // what it has said itself
      }
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
        sayInTime(ann, "tea", String.valueOf(i));
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

  /**
   * Wrong logins from many addresses, each below its limit, so that all of them are computed: the
   * lane for hashes is full, and a client at another address has its turn after one of each.
   */
  @Test
  @EnabledOnOs(OS.LINUX) // every address of 127.0.0.0/8 is this machine's
  void aFloodOfWrongLoginsFromManyAddresses() throws Exception {
    int places = 30;
    int ofPlace = 4;
    int tries = 2; // each place's eight are below LoginGuard.FREE
    try (ImServer server = ImServer.builder().build().start();
        ImClient ann = ImClient.register(server, "ann");
        ImClient bob = ImClient.register(server, "bob");
        ImClient back = ImClient.connect(server)) {
      ann.ask("JOIN tea");
      bob.ask("JOIN den");
      Accounts accounts = server.node().accounts();
      List<Socket> flood = new ArrayList<>();
      for (int i = 0; i < places * ofPlace; i++) {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress("127.0.1." + (1 + i / ofPlace), 0));
        socket.connect(server.lineAddress());
        for (int k = 0; k < tries; k++) {
          send(socket, "LOGIN nobody-%d-%d wrong-password".formatted(i, k));
        }
        flood.add(socket);
      }
      long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
      while (accounts.waiting() < places * ofPlace - 10) {
        assertThat(System.nanoTime()).as("the lane is full in time").isLessThan(deadline);
        Thread.onSpinWait();
      }
      long before = accounts.hashes();
      back.send("LOGIN ann " + ImClient.PASSWORD);
      for (int i = 0; i < 20; i++) {
        sayInTime(bob, "den", String.valueOf(i));
      }
      assertThat(back.answer()).isEqualTo("OK LOGIN ann");
      // one of each place, the own one, and what ended before and after the lane was asked
      assertThat(accounts.hashes() - before).isBetween(1L, places + 10L);
      assertThat(accounts.waiting()).as("waiting still").isGreaterThan(places * ofPlace / 2);
      sayInTime(ann, "tea", "in time");
      for (Socket socket : flood) {
        socket.close();
      }
    }
  }

  /** Accounts that are made at once from one address: some, and the others wait. */
  @Test
  void aCrowdOfRegistrations() throws Exception {
    try (ImServer server = ImServer.builder().build().start();
        ImClient ann = ImClient.register(server, "ann")) {
      ann.ask("JOIN tea");
      List<Socket> crowd = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        Socket socket =
            new Socket(server.lineAddress().getAddress(), server.lineAddress().getPort());
        send(socket, "REGISTER crowd-%d correct-horse".formatted(i));
        crowd.add(socket);
      }
      for (int i = 0; i < 50; i++) {
        sayInTime(ann, "tea", String.valueOf(i));
      }
      int made = 0;
      for (Socket socket : crowd) {
        try (socket;
            InputStream in = new BufferedInputStream(socket.getInputStream())) {
          String answer = ImClient.readLine(in);
          if (answer.startsWith("OK REGISTER crowd-")) {
            made++;
          } else {
            assertThat(answer).startsWith("ERR limit too many new accounts from your address");
          }
        }
      }
      // ann was the first of the address; after a second another one may be made, and so on
      assertThat(made).isBetween(LoginGuard.FREE_ACCOUNTS - 1, LoginGuard.FREE_ACCOUNTS + 10);
    }
  }

  /** All clients come back at once, by tokens: that costs no hash, however many they are. */
  @Test
  void aCrowdThatComesBackByTokens() throws Exception {
    try (ImServer server = ImServer.builder().build().start();
        ImClient ann = ImClient.register(server, "ann")) {
      Accounts accounts = server.node().accounts();
      String token = ann.ask("TOKEN").substring("OK TOKEN ".length());
      long before = accounts.hashes();
      assertThat(before).isEqualTo(1); // of ann's registration
      List<Socket> crowd = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        Socket socket =
            new Socket(server.lineAddress().getAddress(), server.lineAddress().getPort());
        send(socket, "RESUME " + token);
        crowd.add(socket);
      }
      for (Socket socket : crowd) {
        try (socket;
            InputStream in = new BufferedInputStream(socket.getInputStream())) {
          assertThat(ImClient.readLine(in)).isEqualTo("OK RESUME ann");
        }
      }
      assertThat(accounts.hashes()).isEqualTo(before);
      ImClient.login(server, "ann").close();
      assertThat(accounts.hashes()).isEqualTo(before + 1);
    }
  }

  private static String firstLine(ImServer server, String request) throws IOException {
    try (Socket socket =
        new Socket(server.webAddress().getAddress(), server.webAddress().getPort())) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return ImClient.readLine(socket.getInputStream());
    }
  }

  /** What a client sends before it logs in is bounded, at the web port too, also in a program. */
  @Test
  void inputAtTheWebPort() throws Exception {
    String get = "GET / HTTP/1.1\r\nHost: x\r\n";
    try (ImServer server = ImServer.builder().connections(20).build().start();
        ImClient ann = ImClient.web(server)) {
      assertThat(firstLine(server, get + "A: " + "a".repeat(9000))).startsWith("HTTP/1.1 431 ");
      assertThat(ann.ask("PING " + "a".repeat(16_000))).startsWith("ERR limit ");
      ann.send("PING " + "a".repeat(17_000));
      ann.awaitEnd();
      List<Socket> silent = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        Socket socket = new Socket(server.webAddress().getAddress(), server.webAddress().getPort());
        socket.getOutputStream().write(get.getBytes(StandardCharsets.US_ASCII));
        silent.add(socket);
      }
      assertThat(firstLine(server, get + "\r\n")).startsWith("HTTP/1.1 200 ");
      try (ImClient bob = ImClient.web(server)) {
        assertThat(bob.ask("REGISTER bob " + ImClient.PASSWORD)).isEqualTo("OK REGISTER bob");
      }
      assertThat(silent.getFirst().getInputStream().read()).isLessThan(0);
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }
}
