package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node, or the database, is killed while clients talk. What was acknowledged is there afterwards,
 * once, in order; and every client has heard the same.
 */
@Feature("A4")
class ImKillTest {
  private static final int TALKERS = 6;

  /** So much is said before the kill, and again after it. */
  private static final int SOME = 300;

  private static final int CONFIRM_EVERY = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int READ_MILLIS = 40_000;
  private static final String LAST = "last";

  private final Map<Long, String> acknowledged = new ConcurrentSkipListMap<>();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger reconnects = new AtomicInteger();
  private final List<Talker> talkers = new ArrayList<>();
  private final List<Future<?>> talks = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private volatile boolean quiet;

  @TempDir Path folder;

  @AfterEach
  void endAll() {
    threads.shutdownNow();
  }

  /**
   * A member of the room that says one thing after the other and hears what all say. It confirms
   * what it has heard, and comes back when its connection ends; the same text is never sent twice.
   */
  private final class Talker {
    private final String name;
    private final String token;
    private final IntFunction<InetSocketAddress> servers;
    private final TreeMap<Long, String> heard = new TreeMap<>();
    private int said;
    private volatile boolean silent;

    Talker(String name, String token, IntFunction<InetSocketAddress> servers) {
      this.name = name;
      this.token = token;
      this.servers = servers;
    }

    /** Talks until it is to be quiet, and then listens until the last message. */
    Void run() throws Exception {
      for (int attempt = 0; !hasHeardLast(); attempt++) {
        InetSocketAddress server = servers.apply(attempt);
        try (Socket socket = new Socket(server.getAddress(), server.getPort());
            InputStream in = new BufferedInputStream(socket.getInputStream())) {
          socket.setSoTimeout(READ_MILLIS);
          socket.setTcpNoDelay(true);
          talk(socket, in);
        } catch (SocketTimeoutException e) {
          throw new AssertionError(name + " gets no answer", e);
        } catch (IOException e) {
          reconnects.incrementAndGet();
          Thread.sleep(20); // not to be right: the server may take a second to come back
        }
      }
      return null;
    }

    private void talk(Socket socket, InputStream in) throws IOException {
      long before = heard.isEmpty() ? 0 : heard.lastKey();
      long[] onConnection = {0};
      send(socket, "SEEN " + before);
      send(socket, "RESUME " + token);
      if (!answer(in, onConnection).startsWith("OK SEEN")
          || !answer(in, onConnection).startsWith("OK RESUME")) {
        throw new IOException("the server cannot look up the token now");
      }
      while (!quiet) {
        String text = name + "-" + ++said;
        send(socket, "SAY tea " + text);
        String answer = answer(in, onConnection);
        if (answer.startsWith("OK SAY ")) {
          acknowledged.put(Long.parseLong(answer.substring("OK SAY ".length())), text);
        } else {
          assertThat(answer).startsWith("ERR internal ");
          refused.incrementAndGet();
        }
        if (said % CONFIRM_EVERY == 0 && !heard.isEmpty()) {
          send(socket, "SEEN " + heard.lastKey());
          answer(in, onConnection);
        }
      }
      silent = true;
      while (!hasHeardLast()) {
        take(line(in), onConnection);
      }
    }

    /** By its text: this talker may hear it before the sender knows its id. */
    private boolean hasHeardLast() {
      return !heard.isEmpty() && heard.lastEntry().getValue().equals(LAST);
    }

    private void send(Socket socket, String line) throws IOException {
      socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private String line(InputStream in) throws IOException {
      String line = ImClient.readLine(in);
      if (line == null || line.startsWith("BYE ")) {
        throw new IOException("the connection ends: " + line);
      }
      return line;
    }

    /** Returns the next answer, and takes what comes before it. */
    private String answer(InputStream in, long[] onConnection) throws IOException {
      String line = line(in);
      while (!line.startsWith("OK ") && !line.startsWith("ERR ")) {
        take(line, onConnection);
        line = line(in);
      }
      return line;
    }

    private void take(String line, long[] onConnection) {
      if (line.startsWith("MSG ")) {
        long id = ImClient.idOf(line);
        assertThat(id).as("in order on a connection of " + name).isGreaterThan(onConnection[0]);
        onConnection[0] = id;
        boolean isAgain = !heard.isEmpty() && id <= heard.lastKey();
        String text = ImClient.textOf(line);
        // what was not confirmed comes again, as it was; what was left out must not come late
        assertThat(heard.putIfAbsent(id, text))
            .as("%s has heard %d before", name, id)
            .isEqualTo(isAgain ? text : null);
      }
    }
  }

  /** Lets users talk; each has its servers, by the number of the attempt to connect. */
  private void begin(InetSocketAddress server, IntFunction<IntFunction<InetSocketAddress>> servers)
      throws Exception {
    List<ImClient> clients = new ArrayList<>();
    for (int i = 0; i < TALKERS; i++) {
      ImClient client = ImClient.connect(server);
      clients.add(client);
      assertThat(client.ask("REGISTER talker-" + i + " " + ImClient.PASSWORD)).startsWith("OK ");
      assertThat(client.ask("JOIN tea")).startsWith("OK ");
      String token = client.ask("TOKEN").substring("OK TOKEN ".length());
      talkers.add(new Talker("talker-" + i, token, servers.apply(i)));
    }
    for (ImClient client : clients) {
      client.quit();
    }
    talkers.forEach(talker -> talks.add(threads.submit(talker::run)));
  }

  /** Waits, and fails if a talker has failed. */
  private void await(String what, BooleanSupplier condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("it takes long until " + what).isLessThan(deadline);
      for (Future<?> talk : talks) {
        if (talk.isDone()) {
          talk.get();
        }
      }
      Thread.sleep(5);
    }
  }

  private void awaitMoreSaid() throws Exception {
    int goal = acknowledged.size() + SOME;
    await("more is said", () -> acknowledged.size() >= goal);
  }

  /** Ends the talks, and compares what was acknowledged, what was heard, and what is there. */
  private void endAndCompare(InetSocketAddress server) throws Exception {
    quiet = true;
    await("all talkers have said their last", () -> talkers.stream().allMatch(t -> t.silent));
    try (ImClient witness = ImClient.connect(server)) {
      witness.ask("REGISTER witness " + ImClient.PASSWORD);
      witness.ask("JOIN tea");
      witness.post("SAY tea " + LAST);
      for (Future<?> talk : talks) {
        talk.get();
      }
      Map<Long, String> stored = new HashMap<>();
      List<String> page = witness.history("HISTORY tea 999999999 100");
      while (!page.isEmpty()) {
        page.forEach(line -> stored.put(ImClient.idOf(line), ImClient.textOf(line)));
        page = witness.history("HISTORY tea " + ImClient.idOf(page.getFirst()) + " 100");
      }
      assertThat(stored).containsAllEntriesOf(acknowledged);
      assertThat(stored.values()).doesNotHaveDuplicates();
      for (Talker talker : talkers) {
        assertThat(talker.heard).as("what %s has heard", talker.name).isEqualTo(stored);
      }
    }
  }

  @Test
  void aNodeOfTwoIsKilled() throws Exception {
    try (ServerProcess postgres = ServerProcess.start("postgres");
        ServerProcess redis = ServerProcess.start("redis");
        ImServer one =
            ImServer.builder()
                .database(postgres.url())
                .redis(redis.url())
                .beat(Duration.ofMillis(200))
                .build()
                .start();
        ServerNode two =
            ServerNode.start(postgres.url(), "--redis", redis.url(), "--beat", "200")) {
      begin(
          one.lineAddress(),
          talker -> attempt -> talker % 2 == 0 || attempt > 0 ? one.lineAddress() : two.address());
      awaitMoreSaid();
      two.kill();
      awaitMoreSaid();
      endAndCompare(one.lineAddress());
      assertThat(reconnects).hasValueGreaterThanOrEqualTo(TALKERS / 2);
    }
  }

  /** With the embedded database, whose file the next process opens. */
  @Test
  void theOnlyNodeIsKilledAndBack() throws Exception {
    String database = "jdbc:h2:" + folder.resolve("chat");
    ServerNode[] current = {ServerNode.start(database)};
    try {
      begin(current[0].address(), talker -> attempt -> addressOf(current));
      awaitMoreSaid();
      ServerNode killed = current[0];
      killed.kill();
      ServerNode next = ServerNode.start(database);
      synchronized (current) {
        current[0] = next;
      }
      awaitMoreSaid();
      endAndCompare(next.address());
      assertThat(reconnects).hasValueGreaterThanOrEqualTo(TALKERS);
    } finally {
      addressOf(current);
      current[0].close();
    }
  }

  private static InetSocketAddress addressOf(ServerNode[] current) {
    synchronized (current) {
      return current[0].address();
    }
  }

  @Test
  void theDatabaseIsKilledAndBack() throws Exception {
    try (ServerProcess mortal = ServerProcess.start("postgres");
        ImServer one = ImServer.builder().database(mortal.url()).build().start()) {
      begin(one.lineAddress(), talker -> attempt -> one.lineAddress());
      awaitMoreSaid();
      mortal.kill();
      await("a SAY is refused", () -> refused.get() > 0);
      mortal.startAgain();
      awaitMoreSaid();
      endAndCompare(one.lineAddress());
    }
  }
}
