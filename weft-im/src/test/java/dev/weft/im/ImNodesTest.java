package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** Several servers with one PostgreSQL and one Redis are one server, also when something breaks. */
@Feature("A4")
class ImNodesTest {
  private static final Duration QUICK = Duration.ofMillis(200);

  /** So rarely that nothing in a test comes of it. */
  private static final Duration NEVER = Duration.ofMinutes(10);

  private static ServerProcess postgres;
  private static ServerProcess redis;

  @BeforeAll
  static void startServers() throws Exception {
    postgres = ServerProcess.start("postgres");
    redis = ServerProcess.start("redis");
  }

  @AfterAll
  static void stopServers() throws Exception {
    if (redis != null) {
      redis.close();
    }
    if (postgres != null) {
      postgres.close();
    }
  }

  @BeforeEach
  void forgetAll() throws Exception {
    ImPostgresTest.forgetAll(postgres);
  }

  private static ImServer node(Duration beat) throws Exception {
    return ImServer.builder()
        .database(postgres.url())
        .redis(redis.url())
        .beat(beat)
        .build()
        .start();
  }

  @Test
  void clientsOfDifferentNodesTalk() throws Exception {
    try (ImServer one = node(NEVER);
        ImServer two = node(NEVER);
        ImClient ann = ImClient.register(one, "ann");
        ImClient bob = ImClient.register(two, "bob")) {
      ann.ask("JOIN tea");
      bob.ask("JOIN tea");
      ann.post("SAY tea hello");
      bob.post("SAY tea hi");
      bob.post("TELL ann psst");
      for (ImClient client : List.of(ann, bob)) {
        assertThat(List.of(client.text(), client.text(), client.text()))
            .containsExactly("hello", "hi", "psst");
      }
      try (ImClient annAtTwo = ImClient.login(two, "ann")) {
        assertThat(ann.ask("WHO tea")).isEqualTo("OK WHO tea ann:online bob:online");
        bob.quit();
        ann.await("PRESENCE bob away");
        annAtTwo.await("PRESENCE bob away");
        assertThat(annAtTwo.ask("WHO tea")).isEqualTo("OK WHO tea ann:online bob:away");
        annAtTwo.quit();
      }
      assertThat(ann.eventsUntilNow()).isEmpty();
      try (ImClient bobAtOne = ImClient.login(one, "bob")) {
        assertThat(ann.event()).isEqualTo("PRESENCE bob online");
        assertThat(bobAtOne.eventsUntilNow()).isEmpty();
      }
    }
  }

  /** An event that is published before a node listens does not reach its users. */
  private static void awaitListeners(long nodes) throws InterruptedException {
    try (Jedis jedis = new Jedis(URI.create(redis.url()))) {
      while (jedis.pubsubNumSub("weft-im").get("weft-im") < nodes) {
        Thread.sleep(5);
      }
    }
  }

  @Test
  void eventsReachUsersOfOtherNodes() throws Exception {
    try (ImServer one = node(NEVER);
        ImServer two = node(NEVER);
        ImClient ann = ImClient.register(one, "ann");
        ImClient bob = ImClient.register(two, "bob")) {
      awaitListeners(2);
      ann.ask("PRIVATE den");
      ann.ask("INVITE den bob");
      bob.await("INVITED den ann");
      bob.ask("JOIN den");
      ann.await("JOINED den bob");
      String token = bob.ask("TOKEN").substring("OK TOKEN ".length());
      try (ImClient bobAtOne = ImClient.connect(one.lineAddress())) {
        assertThat(bobAtOne.ask("RESUME " + token)).isEqualTo("OK RESUME bob");
        bobAtOne.ask("LEAVE den");
        bob.await("LEFT den bob");
        ann.await("LEFT den bob");
      }
    }
  }

  /** Writers on both nodes, readers on both: everybody sees the same, in the same order. */
  @Test
  void theOrderIsTheSameForAll() throws Exception {
    int users = 8;
    int each = 100;
    try (ImServer one = node(QUICK);
        ImServer two = node(QUICK);
        ExecutorService threads = Executors.newFixedThreadPool(users)) {
      List<ImClient> clients = new ArrayList<>();
      for (int u = 0; u < users; u++) {
        clients.add(ImClient.register(u % 2 == 0 ? one : two, "user-" + u));
        clients.get(u).ask("JOIN tea");
      }
      List<Callable<Boolean>> talks = new ArrayList<>();
      for (ImClient client : clients) {
        talks.add(
            () -> {
              for (int i = 0; i < each; i++) {
                client.post("SAY tea " + i);
              }
              return true;
            });
      }
      for (Future<Boolean> talk : threads.invokeAll(talks)) {
        talk.get();
      }
      List<String> first = messages(clients.getFirst(), users * each);
      assertThat(first).extracting(ImClient::idOf).isSorted().doesNotHaveDuplicates();
      for (ImClient client : clients.subList(1, users)) {
        assertThat(messages(client, users * each)).isEqualTo(first);
      }
      for (ImClient client : clients) {
        client.close();
      }
    }
  }

  private static List<String> messages(ImClient client, int count) throws InterruptedException {
    List<String> lines = new ArrayList<>();
    while (lines.size() < count) {
      lines.add(client.message());
    }
    return lines;
  }

  @Test
  void aNodeThatIsKilled() throws Exception {
    try (ImServer one = node(QUICK);
        ServerNode two = ServerNode.start(postgres.url(), "--redis", redis.url(), "--beat", "200");
        ImClient ann = ImClient.register(one, "ann");
        ImClient bob = ImClient.connect(two.address())) {
      ann.ask("JOIN tea");
      bob.ask("REGISTER bob " + ImClient.PASSWORD);
      bob.ask("JOIN tea");
      ann.post("SAY tea 1");
      assertThat(bob.text()).isEqualTo("1");
      long last = bob.post("SAY tea 2");
      two.kill();
      ann.await("PRESENCE bob away");
      assertThat(ann.ask("WHO tea")).isEqualTo("OK WHO tea ann:online bob:away");
      ann.post("SAY tea 3");
      assertThat(ann.history("HISTORY tea"))
          .extracting(ImClient::textOf)
          .containsExactly("1", "2", "3");
      try (ImClient again = ImClient.login(one, "bob")) {
        String message = again.message();
        while (ImClient.idOf(message) <= last) {
          message = again.message(); // seen, but killed before that was stored
        }
        assertThat(ImClient.textOf(message)).isEqualTo("3");
        ann.await("PRESENCE bob online");
      }
    }
  }

  @Test
  void aNodeThatStopsSaysSo() throws Exception {
    try (ImServer one = node(NEVER);
        ImServer two = node(NEVER);
        ImClient ann = ImClient.register(one, "ann");
        ImClient bob = ImClient.register(two, "bob")) {
      ann.ask("JOIN tea");
      bob.ask("JOIN tea");
      two.stop();
      ann.await("PRESENCE bob away");
      ann.post("TELL bob later");
      try (ImClient again = ImClient.login(one, "bob")) {
        assertThat(again.text()).isEqualTo("later");
      }
    }
  }

  /** No node looks by itself: what Redis could not tell is made good when it is back. */
  @Test
  void redisIsKilledAndBack() throws Exception {
    try (ServerProcess mortal = ServerProcess.start("redis");
        ImServer one = mortalNode(mortal, NEVER);
        ImServer two = mortalNode(mortal, NEVER);
        ImClient ann = ImClient.register(one, "ann");
        ImClient bob = ImClient.register(two, "bob");
        ImClient eve = ImClient.register(one, "eve")) {
      for (ImClient client : List.of(ann, bob, eve)) {
        client.ask("JOIN tea");
      }
      ann.post("SAY tea 1");
      assertThat(bob.text()).isEqualTo("1");
      assertThat(eve.text()).isEqualTo("1");
      mortal.kill();
      ann.post("SAY tea 2");
      assertThat(eve.text()).isEqualTo("2");
      bob.post("SAY tea 3");
      eve.quit();
      List<String> ofAnn = ann.eventsUntil("PRESENCE eve away");
      mortal.startAgain();
      assertThat(bob.text()).isEqualTo("2");
      assertThat(bob.text()).isEqualTo("3");
      bob.await("PRESENCE eve away");
      // ann's node may have been looking for more when bob's message was stored
      if (ofAnn.stream().noneMatch(line -> line.endsWith(" tea bob 3"))) {
        assertThat(ann.text()).isEqualTo("3");
      }
      ann.post("SAY tea 4");
      assertThat(bob.text()).isEqualTo("4");
      assertThat(bob.ask("WHO tea")).isEqualTo("OK WHO tea ann:online bob:online eve:away");
    }
  }

  private static ImServer mortalNode(ServerProcess mortal, Duration beat) throws Exception {
    return ImServer.builder()
        .database(postgres.url())
        .redis(mortal.url())
        .beat(beat)
        .build()
        .start();
  }

  @Test
  void whileRedisIsGoneNodesStillHearOfEachOther() throws Exception {
    try (ServerProcess mortal = ServerProcess.start("redis");
        ImServer one = mortalNode(mortal, QUICK);
        ImServer two = mortalNode(mortal, QUICK);
        ImClient ann = ImClient.register(one, "ann");
        ImClient bob = ImClient.register(two, "bob")) {
      mortal.kill();
      ann.post("TELL bob slow but sure");
      assertThat(bob.text()).isEqualTo("slow but sure");
      try (ImServer three = mortalNode(mortal, QUICK); // and one can be started
          ImClient eve = ImClient.register(three, "eve")) {
        eve.post("TELL bob me too");
        assertThat(bob.text()).isEqualTo("me too");
      }
    }
  }

  @Test
  void theDatabaseIsKilledAndBack() throws Exception {
    try (ServerProcess mortal = ServerProcess.start("postgres");
        ImServer one =
            ImServer.builder()
                .database(mortal.url())
                .redis(redis.url())
                .beat(QUICK)
                .build()
                .start();
        ImClient ann = ImClient.register(one, "ann");
        ImClient bob = ImClient.register(one, "bob")) {
      ann.ask("JOIN tea");
      bob.ask("JOIN tea");
      ann.post("SAY tea 1");
      assertThat(bob.text()).isEqualTo("1");
      mortal.kill();
      assertThat(ann.ask("SAY tea lost")).startsWith("ERR internal ");
      assertThat(bob.ask("ROOMS")).startsWith("ERR internal ");
      assertThat(bob.ask("PING")).isEqualTo("OK PING");
      mortal.startAgain();
      String answer = ann.ask("SAY tea 2");
      while (answer.startsWith("ERR internal ")) {
        answer = ann.ask("SAY tea 2");
      }
      assertThat(answer).startsWith("OK SAY ");
      assertThat(bob.text()).isEqualTo("2");
      List<String> stored = bob.history("HISTORY tea").stream().map(ImClient::textOf).toList();
      assertThat(stored.getFirst()).isEqualTo("1");
      assertThat(stored.getLast()).isEqualTo("2");
      assertThat(stored).containsOnlyOnce("1"); // what was refused may have come through
      bob.quit();
      try (ImClient again = ImClient.login(one, "bob")) {
        assertThat(again.eventsUntilNow()).isEmpty();
      }
    }
  }
}
