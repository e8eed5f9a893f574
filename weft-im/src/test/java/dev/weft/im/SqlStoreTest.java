package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.weft.im.Message.Draft;
import dev.weft.testkit.Feature;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The store by itself, shared by several as nodes do. */
@Feature("A4")
class SqlStoreTest {
  private static final int NODES = 4;

  private static String inMemory() {
    return "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
  }

  @Test
  void tablesAreMadeOnceByNodesThatStartAtOnceH2() throws Exception {
    startAtOnce(inMemory());
  }

  @Test
  void tablesAreMadeOnceByNodesThatStartAtOncePostgres() throws Exception {
    try (ServerProcess postgres = ServerProcess.start("postgres")) {
      for (int i = 0; i < 5; i++) {
        startAtOnce(postgres.url());
        ImPostgresTest.forgetAll(postgres);
      }
    }
  }

  private static void startAtOnce(String url) throws Exception {
    CyclicBarrier together = new CyclicBarrier(NODES);
    List<Callable<SqlStore>> starts = new ArrayList<>();
    for (int i = 0; i < NODES; i++) {
      starts.add(
          () -> {
            together.await();
            return SqlStore.open(url);
          });
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(NODES)) {
      long expected = 0;
      for (Future<SqlStore> started : threads.invokeAll(starts)) {
        try (SqlStore store = started.get()) {
          assertThat(store.append(List.of(new Draft("r", "a", null, "x")))).isEqualTo(++expected);
        }
      }
    }
  }

  @Test
  void aFollowerMissesNothingH2() throws Exception {
    followWriters(inMemory());
  }

  @Test
  void aFollowerMissesNothingPostgres() throws Exception {
    try (ServerProcess postgres = ServerProcess.start("postgres")) {
      followWriters(postgres.url());
    }
  }

  /** Several nodes write; a reader that goes on from the last message it saw gets all, in order. */
  private static void followWriters(String url) throws Exception {
    int batches = 100;
    try (SqlStore reader = SqlStore.open(url);
        ExecutorService threads = Executors.newFixedThreadPool(NODES)) {
      List<Future<Long>> writers = new ArrayList<>();
      for (int i = 0; i < NODES; i++) {
        String name = "writer-" + i;
        writers.add(
            threads.submit(
                () -> {
                  long last = 0;
                  try (SqlStore store = SqlStore.open(url)) {
                    for (int b = 0; b < batches; b++) {
                      Draft draft = new Draft("r", name, null, "x");
                      last = store.append(b % 3 == 0 ? List.of(draft, draft) : List.of(draft));
                    }
                  }
                  return last;
                }));
      }
      int total = NODES * (batches + (batches + 2) / 3);
      List<Long> seen = new ArrayList<>();
      while (seen.size() < total) {
        long last = seen.isEmpty() ? 0 : seen.getLast();
        reader.after(last).messages().forEach(message -> seen.add(message.id()));
      }
      for (Future<Long> writer : writers) {
        assertThat(writer.get()).isLessThanOrEqualTo(total);
      }
      for (int i = 0; i < total; i++) {
        assertThat(seen.get(i)).isEqualTo(i + 1L);
      }
      assertThat(reader.lastId()).isEqualTo(total);
    }
  }

  /**
   * A commit can be read before it is forced. If the power fails in between the message is gone,
   * but some clients have it by its id: no other message gets that.
   */
  @Test
  void noIdIsGivenOutTwiceThoughThePowerFails(@TempDir Path folder) throws Exception {
    String url = "jdbc:h2:" + folder.resolve("chat");
    Path file = folder.resolve("chat.mv.db");
    Path forced = folder.resolve("forced");
    Set<Long> ids = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      try (SqlStore store = SqlStore.open(url)) {
        Files.copy(file, forced, StandardCopyOption.REPLACE_EXISTING);
        long last = store.append(List.of(draft("lost"), draft("lost too")));
        assertThat(ids.add(last - 1)).as("%d is new, of %s", last - 1, ids).isTrue();
        assertThat(ids.add(last)).as("%d is new, of %s", last, ids).isTrue();
      }
      Files.move(forced, file, StandardCopyOption.REPLACE_EXISTING);
    }
    assertThat(ids).contains(1L, 2L); // a new file begins as it always did
  }

  private static Draft draft(String text) {
    return new Draft("r", "a", null, text);
  }

  @Test
  void marksNeverGoBack() {
    try (SqlStore store = SqlStore.open(inMemory())) {
      assertThat(store.addUser("ann", "ann", "s")).isTrue();
      assertThat(store.addUser("ann", "other", "t")).isFalse();
      assertThat(store.addUser("Ann", "ann", "t")).isFalse();
      assertThat(store.secret("Ann")).isEmpty();
      assertThat(store.userLike("ann")).hasValue("ann");
      assertThat(store.secret("ann")).hasValue("s");
      store.raiseMarks(Map.of("ann", 7L, "nobody", 8L));
      store.raiseMarks(Map.of("ann", 5L));
      assertThat(store.mark("ann")).isEqualTo(7);
      assertThat(store.mark("nobody")).isZero();
    }
  }

  @Test
  void aMemberIsOneForWhatIsSaidAfterItJoined() {
    try (SqlStore store = SqlStore.open(inMemory())) {
      store.append(List.of(new Draft("r", "a", null, "1")));
      assertThat(store.join("ann", "r", "r")).isEqualTo(Store.Joining.JOINED);
      assertThat(store.join("ann", "r", "r")).isEqualTo(Store.Joining.ALREADY_MEMBER);
      store.append(List.of(new Draft("r", "a", null, "2"), new Draft("q", "a", null, "3")));
      store.append(List.of(new Draft(null, "bob", "ann", "4"), new Draft(null, "ann", "bob", "5")));
      store.append(List.of(new Draft(null, "ann", "ann", "6"), new Draft(null, "x", "y", "7")));
      assertThat(store.members("r")).containsExactly(Map.entry("ann", 1L));
      assertThat(store.missed("ann", 0, 99).messages())
          .extracting(Message::text)
          .containsExactly("2", "4", "5", "6");
      assertThat(store.missed("ann", 2, 4).messages())
          .extracting(Message::text)
          .containsExactly("4");
      assertThat(store.leave("ann", "r")).isTrue();
      assertThat(store.leave("ann", "r")).isFalse();
      assertThat(store.roomExists("r")).isTrue();
    }
  }

  /** What is read at once is bounded in bytes. */
  @Test
  void longMessagesComeInShortPages() {
    try (SqlStore store = SqlStore.open(inMemory())) {
      store.join("ann", "r", "r");
      for (int i = 0; i < 100; i++) {
        store.append(List.of(new Draft("r", "a", null, "x".repeat(4096))));
      }
      List<Long> ids = new ArrayList<>();
      Store.Page page = store.missed("ann", 0, 100);
      while (page.hasMore()) {
        assertThat(page.messages()).hasSizeBetween(1, 20);
        page.messages().forEach(message -> ids.add(message.id()));
        page = store.missed("ann", ids.getLast(), 100);
      }
      page.messages().forEach(message -> ids.add(message.id()));
      assertThat(ids).hasSize(100).isSorted().doesNotHaveDuplicates();
    }
  }

  /**
   * However much is there, a page costs the rows that it has: no sort reads all bodies into memory.
   */
  @Test
  void aPageReadsLittleOfMuch(@TempDir Path folder) {
    int count = 5000;
    String text = "x".repeat(4096);
    try (SqlStore store = SqlStore.open("jdbc:h2:" + folder.resolve("chat"), false)) {
      store.join("eve", "r", "r");
      for (int i = 0; i < 3 * count; i += 500) {
        Draft draft =
            i < count
                ? new Draft("r", "ann", null, text)
                : new Draft(
                    null, i < 2 * count ? "ann" : "eve", i < 2 * count ? "eve" : "ann", text);
        store.append(Collections.nCopies(500, draft));
      }
      long last = store.lastId();
      for (int i = 0; i < 3; i++) {
        long after = (long) i * count;
        assertThat(allocatedBy(() -> store.missed("eve", after, last))).isLessThan(8 << 20);
      }
      assertThat(allocatedBy(() -> store.ofRoom("r", last, 50))).isLessThan(8 << 20);
      assertThat(allocatedBy(() -> store.between("eve", "ann", last, 50))).isLessThan(8 << 20);
    }
  }

  private static long allocatedBy(Runnable work) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    work.run();
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  @Test
  void pagesHaveWhatTheyShouldH2() {
    comparePages(inMemory());
  }

  @Test
  void pagesHaveWhatTheyShouldPostgres() throws Exception {
    try (ServerProcess postgres = ServerProcess.start("postgres")) {
      comparePages(postgres.url());
    }
  }

  /** Messages of many kinds, read in pages, against a filter over all of them. */
  private static void comparePages(String url) {
    List<String> users = List.of("ann", "bob", "eve");
    Random random = new Random(26);
    try (SqlStore store = SqlStore.open(url)) {
      Map<String, Long> since = new HashMap<>(); // of eve's rooms
      List<Draft> all = new ArrayList<>();
      for (int batch = 0; batch < 60; batch++) {
        if (batch % 6 == 0) {
          String room = "room-" + batch / 6;
          store.join("eve", room, room);
          since.put(room, (long) all.size());
        }
        List<Draft> drafts = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
          String room = random.nextInt(3) == 0 ? null : "room-" + random.nextInt(12);
          String recipient = room == null ? users.get(random.nextInt(3)) : null;
          String text = all.size() + drafts.size() + 1 + "x".repeat(random.nextInt(300));
          drafts.add(new Draft(room, users.get(random.nextInt(3)), recipient, text));
        }
        all.addAll(drafts);
        assertThat(store.append(drafts)).isEqualTo(all.size());
      }
      store.join("bob", "quiet", "quiet");
      for (long[] range : new long[][] {{0, 3000}, {0, 700}, {1234, 1235}, {2500, 2999}}) {
        List<Message> read = new ArrayList<>();
        Store.Page page = store.missed("eve", range[0], range[1]);
        while (page.hasMore()) {
          read.addAll(page.messages());
          page = store.missed("eve", read.getLast().id(), range[1]);
        }
        read.addAll(page.messages());
        assertThat(read)
            .extracting(Message::text)
            .isEqualTo(
                texts(
                    all,
                    range[0],
                    range[1],
                    (id, draft) ->
                        draft.room() == null
                            ? "eve".equals(draft.recipient()) || draft.sender().equals("eve")
                            : since.getOrDefault(draft.room(), Long.MAX_VALUE) < id));
      }
      for (long before : new long[] {9999, 2000, 5}) {
        compareHistory(
            store.ofRoom("room-3", before, 70),
            texts(all, 0, before - 1, (id, draft) -> "room-3".equals(draft.room())));
        for (String other : List.of("ann", "eve")) {
          compareHistory(
              store.between("eve", other, before, 70),
              texts(
                  all,
                  0,
                  before - 1,
                  (id, draft) ->
                      draft.room() == null
                          && List.of(List.of("eve", other), List.of(other, "eve"))
                              .contains(List.of(draft.sender(), draft.recipient()))));
        }
      }
    }
  }

  private static void compareHistory(List<Message> read, List<String> expected) {
    assertThat(read)
        .extracting(Message::text)
        .isEqualTo(expected.subList(Math.max(0, expected.size() - 70), expected.size()));
  }

  private static List<String> texts(
      List<Draft> all, long after, long upTo, BiPredicate<Long, Draft> wanted) {
    return LongStream.rangeClosed(after + 1, Math.min(upTo, all.size()))
        .filter(id -> wanted.test(id, all.get((int) id - 1)))
        .mapToObj(id -> all.get((int) id - 1).text())
        .toList();
  }

  @Test
  void tokens() {
    try (SqlStore store = SqlStore.open(inMemory())) {
      for (int i = 0; i < 30; i++) {
        store.addToken("token-" + i, "ann", 1000 + i);
      }
      store.addToken("other", "bob", 1);
      assertThat(store.token("token-9")).isEmpty(); // only so many of a user
      assertThat(store.token("token-10")).hasValue(new Store.Token("ann", 1010));
      assertThat(store.token("other")).hasValue(new Store.Token("bob", 1));
      store.addToken("token-29", "ann", 2000);
      assertThat(store.token("token-29")).hasValue(new Store.Token("ann", 2000));
      store.removeToken("token-29");
      assertThat(store.token("token-29")).isEmpty();
    }
  }

  /** A database of an earlier version has neither skeletons nor private rooms. */
  @Test
  void namesOfAnEarlierVersionGetTheirSkeletons() throws Exception {
    String url = inMemory();
    try (SqlStore store = SqlStore.open(url)) {
      store.addUser("paypal", "x", "s");
      store.join("paypal", "r", "r");
    }
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE im_skeleton");
      statement.execute("ALTER TABLE im_room DROP COLUMN is_private");
    }
    try (SqlStore store = SqlStore.open(url)) {
      assertThat(store.userLike(Names.skeleton("pаypal"))).hasValue("paypal"); // with a Cyrillic а
      assertThat(store.join("bob", "r", "r")).isEqualTo(Store.Joining.JOINED);
    }
  }
}
