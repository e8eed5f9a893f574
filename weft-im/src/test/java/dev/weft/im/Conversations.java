package dev.weft.im;

import static dev.weft.im.ImClient.PASSWORD;
import static dev.weft.im.ImClient.idOf;
import static dev.weft.im.ImClient.textOf;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a server has to do with whatever database. */
abstract class Conversations {
  private static final int USERS = 20;
  private static final int MESSAGES = 200;
  private static final int ROOMS = 5;

  ImServer server;

  /** Starts a server with an empty database. */
  abstract ImServer start() throws Exception;

  @BeforeEach
  void startServer() throws Exception {
    server = start();
  }

  @AfterEach
  void stopServer() {
    if (server != null) {
      server.stop();
    }
  }

  ImClient register(String name) throws Exception {
    return ImClient.register(server, name);
  }

  ImClient login(String name) throws Exception {
    return ImClient.login(server, name);
  }

  // ---- accounts ----

  @Test
  void accounts() throws Exception {
    try (ImClient ann = register("ann");
        ImClient other = ImClient.connect(server)) {
      assertThat(other.ask("REGISTER ann " + PASSWORD)).startsWith("ERR exists ");
      assertThat(other.ask("REGISTER Ann " + PASSWORD)).isEqualTo("OK REGISTER Ann");
      assertThat(other.ask("LOGIN ann " + PASSWORD)).startsWith("ERR denied ");
      assertThat(ann.ask("REGISTER bob " + PASSWORD)).startsWith("ERR denied ");
    }
  }

  @Test
  void aClientWithoutLoginMayDoLittle() throws Exception {
    try (ImClient nobody = ImClient.connect(server)) {
      for (String command :
          List.of(
              "JOIN a",
              "LEAVE a",
              "PRIVATE a",
              "INVITE a b",
              "INVITATIONS",
              "SAY a b",
              "TELL a b",
              "WHO a",
              "ROOMS",
              "DIRECTS",
              "TOKEN",
              "HISTORY a")) {
        assertThat(nobody.ask(command)).startsWith("ERR login ");
      }
      assertThat(nobody.ask("SEEN 1")).isEqualTo("OK SEEN 1");
      assertThat(nobody.ask("PING")).isEqualTo("OK PING");
      assertThat(nobody.ask("PING a  b")).isEqualTo("OK PING a  b");
      nobody.quit();
    }
  }

  @Test
  void fiveWrongPasswordsInARow() throws Exception {
    try (ImClient ann = register("ann");
        ImClient forgetful = ImClient.connect(server);
        ImClient guesser = ImClient.connect(server)) {
      ann.quit();
      for (int i = 0; i < 4; i++) {
        assertThat(forgetful.ask("LOGIN ann wrong-password")).startsWith("ERR denied ");
      }
      assertThat(forgetful.ask("LOGIN ann " + PASSWORD)).isEqualTo("OK LOGIN ann");
      for (int i = 0; i < 5; i++) {
        assertThat(guesser.ask("LOGIN nobody wrong-password")).startsWith("ERR denied ");
      }
      assertThat(guesser.event()).startsWith("BYE ");
      guesser.awaitEnd();
    }
  }

  /** What a page does after a reload, or all do after the server was away: no password is used. */
  @Test
  void tokens() throws Exception {
    String token;
    try (ImClient ann = register("ann")) {
      String answer = ann.ask("TOKEN");
      assertThat(answer).matches("OK TOKEN [A-Za-z0-9_-]{43}");
      token = answer.substring("OK TOKEN ".length());
      assertThat(ann.ask("TOKEN")).isEqualTo(answer);
      ann.quit();
    }
    try (ImClient again = ImClient.connect(server);
        ImClient thief = ImClient.connect(server)) {
      assertThat(again.ask("RESUME " + token)).isEqualTo("OK RESUME ann");
      assertThat(again.ask("RESUME " + token)).startsWith("ERR denied ");
      again.post("TELL ann note");
      assertThat(again.text()).isEqualTo("note");
      assertThat(again.ask("TOKEN")).isEqualTo("OK TOKEN " + token);
      assertThat(again.ask("LOGOUT")).isEqualTo("OK LOGOUT");
      again.awaitEnd();
      for (int i = 0; i < 5; i++) {
        assertThat(thief.ask("RESUME " + token)).startsWith("ERR denied ");
      }
      assertThat(thief.event()).startsWith("BYE ");
    }
  }

  // ---- names ----

  @Test
  void namesThatLookAlikeAreRefused() throws Exception {
    try (ImClient paul = register("paul");
        ImClient other = ImClient.connect(server)) {
      assertThat(other.ask("REGISTER pаul " + PASSWORD)).startsWith("ERR syntax "); // Cyrillic а
      assertThat(other.ask("REGISTER раul " + PASSWORD)).startsWith("ERR syntax ");
      assertThat(other.ask("REGISTER pau1 " + PASSWORD))
          .startsWith("ERR exists there is a user with a name like pau1");
      assertThat(other.ask("REGISTER ｐａｕｌ " + PASSWORD)).startsWith("ERR exists "); // full width
      assertThat(other.ask("REGISTER pa\u00adul " + PASSWORD)).startsWith("ERR syntax ");
      assertThat(other.ask("REGISTER pa\u3164ul " + PASSWORD)).startsWith("ERR syntax ");
      assertThat(other.ask("LOGIN ｐａｕｌ " + PASSWORD)).isEqualTo("OK LOGIN paul");
      assertThat(paul.ask("JOIN lobby")).isEqualTo("OK JOIN lobby");
      assertThat(other.ask("JOIN 1obby")).startsWith("ERR exists ");
      assertThat(other.ask("JOIN лобби")).isEqualTo("OK JOIN лобби");
    }
  }

  // ---- rooms and direct messages ----

  @Test
  void membersAreToldWhoComesAndGoes() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob");
        ImClient bobsPhone = login("bob")) {
      ann.ask("JOIN tea");
      bob.ask("JOIN tea");
      bob.ask("JOIN tea"); // is no news
      assertThat(ann.event()).isEqualTo("JOINED tea bob");
      assertThat(bobsPhone.event()).isEqualTo("JOINED tea bob");
      bobsPhone.ask("LEAVE tea");
      assertThat(ann.event()).isEqualTo("LEFT tea bob");
      assertThat(bob.event()).isEqualTo("LEFT tea bob");
      assertThat(bobsPhone.eventsUntilNow()).isEmpty();
      assertThat(ann.eventsUntilNow()).isEmpty();
    }
  }

  @Test
  void privateRooms() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob");
        ImClient eve = register("eve")) {
      assertThat(ann.ask("PRIVATE den")).isEqualTo("OK PRIVATE den");
      assertThat(eve.ask("PRIVATE den")).startsWith("ERR exists ");
      assertThat(eve.ask("JOIN den")).startsWith("ERR denied den is private");
      assertThat(eve.ask("INVITE den eve")).startsWith("ERR denied ");
      assertThat(eve.ask("HISTORY den")).startsWith("ERR denied ");
      assertThat(ann.ask("INVITE den nobody")).startsWith("ERR unknown ");
      assertThat(ann.ask("INVITE den bob")).isEqualTo("OK INVITE den bob");
      assertThat(ann.ask("INVITE den bob")).isEqualTo("OK INVITE den bob");
      assertThat(bob.event()).isEqualTo("INVITED den ann");
      assertThat(bob.ask("INVITATIONS")).isEqualTo("OK INVITATIONS den");
      assertThat(bob.ask("JOIN den")).isEqualTo("OK JOIN den");
      assertThat(bob.ask("INVITATIONS")).isEqualTo("OK INVITATIONS");
      ann.post("SAY den just us");
      assertThat(bob.text()).isEqualTo("just us");
      bob.ask("LEAVE den");
      assertThat(bob.ask("JOIN den")).startsWith("ERR denied "); // an invitation is for once
      assertThat(eve.eventsUntilNow()).isEmpty();
    }
  }

  @Test
  void theListOfDirectConversations() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob");
        ImClient eve = register("eve")) {
      assertThat(ann.ask("DIRECTS")).isEqualTo("OK DIRECTS");
      ann.ask("JOIN tea");
      ann.post("SAY tea not direct");
      long first = ann.post("TELL bob 1");
      long second = eve.post("TELL ann 2");
      assertThat(ann.ask("DIRECTS")).isEqualTo("OK DIRECTS eve:" + second + " bob:" + first);
      long third = bob.post("TELL ann 3");
      assertThat(ann.ask("DIRECTS")).isEqualTo("OK DIRECTS bob:" + third + " eve:" + second);
      assertThat(eve.ask("DIRECTS")).isEqualTo("OK DIRECTS ann:" + second);
    }
  }

  @Test
  void messagesGoToMembersOnly() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob");
        ImClient eve = register("eve")) {
      assertThat(eve.ask("WHO tea")).startsWith("ERR unknown ");
      assertThat(ann.ask("JOIN tea")).isEqualTo("OK JOIN tea");
      assertThat(ann.ask("JOIN tea")).isEqualTo("OK JOIN tea");
      assertThat(bob.ask("JOIN tea")).isEqualTo("OK JOIN tea");
      long id = ann.post("SAY tea  milk or lemon?  ");
      String message = bob.message();
      assertThat(message)
          .matches("MSG " + id + " \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z tea ann .*");
      assertThat(textOf(message)).isEqualTo(" milk or lemon?  ");
      assertThat(ann.message()).isEqualTo(message);
      assertThat(eve.ask("SAY tea me too")).startsWith("ERR denied ");
      assertThat(eve.ask("WHO tea")).startsWith("ERR denied ");
      assertThat(eve.ask("HISTORY tea")).startsWith("ERR denied ");
      assertThat(eve.ask("LEAVE tea")).startsWith("ERR denied ");
      assertThat(eve.ask("SAY coffee me too")).startsWith("ERR unknown ");
      assertThat(bob.ask("ROOMS")).isEqualTo("OK ROOMS tea");
      assertThat(eve.ask("ROOMS")).isEqualTo("OK ROOMS");
      assertThat(bob.ask("LEAVE tea")).isEqualTo("OK LEAVE tea");
      ann.post("SAY tea still there?");
      ann.message();
      assertThat(bob.eventsUntilNow()).isEmpty();
      assertThat(eve.eventsUntilNow()).isEmpty();
    }
  }

  @Test
  void directMessages() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob");
        ImClient eve = register("eve")) {
      long id = ann.post("TELL bob psst 👋");
      assertThat(bob.message()).startsWith("MSG " + id + " ").endsWith(" @ann ann psst 👋");
      assertThat(ann.message()).startsWith("MSG " + id + " ").endsWith(" @bob ann psst 👋");
      ann.post("TELL ann note to myself");
      assertThat(ann.message()).endsWith(" @ann ann note to myself");
      assertThat(ann.ask("TELL nobody hello")).startsWith("ERR unknown ");
      assertThat(ann.ask("HISTORY @nobody")).startsWith("ERR unknown ");
      assertThat(ann.eventsUntilNow()).isEmpty();
      assertThat(bob.history("HISTORY @ann")).singleElement().asString().endsWith("psst 👋");
      assertThat(eve.history("HISTORY @ann")).isEmpty();
      assertThat(eve.eventsUntilNow()).isEmpty();
    }
  }

  @Test
  void aUserMayBeLoggedInSeveralTimes() throws Exception {
    try (ImClient first = register("ann");
        ImClient second = login("ann");
        ImClient bob = register("bob")) {
      first.ask("JOIN tea");
      bob.ask("JOIN tea");
      second.await("JOINED tea bob");
      first.await("JOINED tea bob");
      second.post("SAY tea from my phone");
      bob.post("TELL ann hello");
      for (ImClient client : List.of(first, second)) {
        assertThat(client.text()).isEqualTo("from my phone");
        assertThat(client.text()).isEqualTo("hello");
        assertThat(client.eventsUntilNow()).isEmpty();
      }
      second.quit();
      assertThat(bob.ask("WHO tea")).isEqualTo("OK WHO tea ann:online bob:online");
      assertThat(bob.eventsUntilNow()).noneMatch(event -> event.startsWith("PRESENCE"));
    }
  }

  @Test
  void presence() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob");
        ImClient eve = register("eve")) {
      ann.ask("JOIN tea");
      bob.ask("JOIN tea");
      eve.ask("JOIN coffee");
      assertThat(ann.event()).isEqualTo("JOINED tea bob");
      bob.quit();
      assertThat(ann.event()).isEqualTo("PRESENCE bob away");
      assertThat(ann.ask("WHO tea")).isEqualTo("OK WHO tea ann:online bob:away");
      try (ImClient once = login("bob")) {
        assertThat(ann.event()).isEqualTo("PRESENCE bob online");
        try (ImClient twice = login("bob")) {
          twice.quit();
        }
        once.crash();
        assertThat(ann.event()).isEqualTo("PRESENCE bob away");
      }
      assertThat(eve.eventsUntilNow()).isEmpty();
      assertThat(ann.eventsUntilNow()).isEmpty();
    }
  }

  // ---- history ----

  @Test
  void historyInPages() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob")) {
      ann.ask("JOIN tea");
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < 120; i++) {
        ids.add(ann.post("SAY tea " + i));
      }
      bob.ask("JOIN tea"); // a later member may read what was before
      assertThat(bob.history("HISTORY tea")).extracting(ImClient::textOf).isEqualTo(texts(70, 120));
      long before = ids.get(70);
      List<String> older = bob.history("HISTORY tea " + before);
      assertThat(older).extracting(ImClient::textOf).isEqualTo(texts(20, 70));
      assertThat(bob.history("HISTORY tea " + idOf(older.getFirst()) + " 100"))
          .extracting(ImClient::textOf)
          .isEqualTo(texts(0, 20));
      assertThat(bob.history("HISTORY tea " + before + " 1"))
          .extracting(ImClient::textOf)
          .containsExactly("69");
      assertThat(bob.history("HISTORY tea 0")).isEmpty();
      assertThat(bob.eventsUntilNow()).isEmpty(); // but not as if it were new
    }
  }

  private static List<String> texts(int from, int to) {
    return IntStream.range(from, to).mapToObj(String::valueOf).toList();
  }

  // ---- away ----

  @Test
  void missedMessagesComeAtTheNextLogin() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob")) {
      ann.ask("JOIN tea");
      ann.post("SAY tea before bob was there");
      bob.ask("JOIN tea");
      ann.post("SAY tea 1");
      assertThat(bob.text()).isEqualTo("1");
      bob.quit();
      ann.post("SAY tea 2");
      ann.post("TELL bob 3");
      ann.ask("JOIN coffee");
      ann.post("SAY coffee not for bob");
      ann.post("SAY tea 4");
      try (ImClient again = login("bob")) {
        assertThat(List.of(again.text(), again.text(), again.text()))
            .containsExactly("2", "3", "4");
        ann.post("SAY tea 5");
        assertThat(again.text()).isEqualTo("5");
        again.crash();
        while (server.node().presence().isHere("bob")) {
          Thread.onSpinWait(); // or 6 may be written to a connection that is gone
        }
      }
      ann.post("SAY tea 6");
      try (ImClient again = login("bob")) {
        assertThat(again.text()).isEqualTo("6");
        assertThat(again.eventsUntilNow()).noneMatch(event -> event.startsWith("MSG"));
        again.quit();
      }
      try (ImClient again = login("bob")) {
        assertThat(again.eventsUntilNow()).isEmpty();
      }
    }
  }

  @Test
  void moreThanAPageIsMissed() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob")) {
      bob.quit();
      int count = 2345;
      for (int i = 0; i < count; i++) {
        ann.send("TELL bob " + i);
      }
      for (int i = 0; i < count; i++) {
        assertThat(ann.answer()).startsWith("OK TELL ");
      }
      try (ImClient again = login("bob")) {
        for (int i = 0; i < count; i++) {
          assertThat(again.text()).isEqualTo(String.valueOf(i));
        }
        assertThat(again.eventsUntilNow()).isEmpty();
      }
    }
  }

  @Test
  void aClientThatTellsWhatItHasSeenGetsTheRestAgain() throws Exception {
    try (ImClient ann = register("ann");
        ImClient bob = register("bob")) {
      assertThat(bob.ask("SEEN 0")).isEqualTo("OK SEEN 0");
      long first = ann.post("TELL bob 1");
      ann.post("TELL bob 2");
      assertThat(List.of(bob.text(), bob.text())).containsExactly("1", "2");
      assertThat(bob.ask("SEEN " + first)).isEqualTo("OK SEEN " + first);
      bob.crash();
      try (ImClient again = login("bob")) {
        assertThat(again.text()).isEqualTo("2");
        assertThat(again.ask("SEEN 9999")).isEqualTo("OK SEEN 9999"); // only up to what it got
        ann.post("TELL bob 3");
        assertThat(again.text()).isEqualTo("3");
        again.crash();
      }
      try (ImClient again = login("bob")) {
        assertThat(again.text()).isEqualTo("3");
      }
    }
  }

  // ---- load ----

  /** Each of many users talks and goes, comes and goes; nobody misses or gets twice anything. */
  @Test
  void nothingIsLostOrDoubledUnderLoad() throws Exception {
    Map<String, List<String>> received = new ConcurrentHashMap<>();
    Map<String, List<String>> said = new ConcurrentHashMap<>();
    for (int u = 0; u < USERS; u++) {
      try (ImClient client = register("user-" + u)) {
        for (int r = 0; r < ROOMS; r++) {
          if (isIn(u, r)) {
            client.ask("JOIN room-" + r);
          }
        }
        client.quit();
      }
    }
    inParallel(
        USERS,
        u -> {
          received.put("user-" + u, new ArrayList<>());
          said.put("user-" + u, new ArrayList<>());
          converse(u, received.get("user-" + u), said.get("user-" + u));
          return true;
        });
    for (int u = 0; u < USERS; u++) {
      String name = "user-" + u;
      try (ImClient client = login(name)) { // for what came after its last visit
        received.get(name).addAll(messagesOf(client.quit()));
      }
      int user = u;
      List<Integer> rooms = IntStream.range(0, ROOMS).filter(r -> isIn(user, r)).boxed().toList();
      List<String> expected =
          said.values().stream()
              .flatMap(List::stream)
              .filter(text -> rooms.contains(Integer.parseInt(text.split("/", 2)[0])))
              .toList();
      List<String> got = received.get(name);
      assertThat(got).extracting(ImClient::textOf).containsExactlyInAnyOrderElementsOf(expected);
      assertThat(got).extracting(ImClient::idOf).isSorted().doesNotHaveDuplicates();
    }
  }

  private static boolean isIn(int user, int room) {
    return (user + room) % 2 == 0;
  }

  private void converse(int u, List<String> received, List<String> said) throws Exception {
    Random random = new Random(u);
    int rest = MESSAGES;
    while (rest > 0) {
      int now = Math.min(rest, 20 + random.nextInt(60));
      rest -= now;
      try (ImClient client = login("user-" + u)) {
        for (int i = 0; i < now; i++) {
          int room = 2 * random.nextInt(ROOMS / 2) + u % 2;
          String text = room + "/user-" + u + "/" + said.size();
          client.send("SAY room-" + room + " " + text);
          said.add(text);
        }
        for (int i = 0; i < now; i++) {
          assertThat(client.answer()).startsWith("OK SAY ");
        }
        received.addAll(messagesOf(client.quit()));
      }
    }
  }

  private static List<String> messagesOf(List<String> events) {
    return events.stream().filter(event -> event.startsWith("MSG ")).toList();
  }

  private interface Job {
    boolean run(int index) throws Exception;
  }

  private static void inParallel(int n, Job job) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(n)) {
      List<Callable<Boolean>> jobs = new ArrayList<>();
      for (int i = 0; i < n; i++) {
        int index = i;
        jobs.add(() -> job.run(index));
      }
      for (Future<Boolean> done : threads.invokeAll(jobs)) {
        done.get();
      }
    }
  }
}
