package dev.weft.stress.sim;

import static dev.weft.stress.sim.Party.check;
import static dev.weft.stress.sim.Party.equal;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;

import dev.weft.im.ImServer;
import dev.weft.sim.Disk;
import dev.weft.sim.Host;
import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationBody;
import dev.weft.sim.SimulationOptions;
import dev.weft.sim.SimulationResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.h2.engine.Engine;

/**
 * The messaging server with its database, a file of H2, in a simulated network and on a simulated
 * disk. Connections break and are late; the server is killed, twice, and started again; clients
 * come back with their tokens. What was acknowledged is in the history once, what was not at most
 * once, and over a connection messages come in order. An id is that of one text, whatever becomes
 * of the server: a client that has heard it takes no other message with that id for new.
 *
 * <p>A kill is the end of the process, not of the machine: what was written to the disk stays. With
 * {@link End#POWER} it is the end of the machine, and what was not forced may be lost. In odd seeds
 * the process ends, in even ones the power fails. In two seeds of four the disk is slow, so that
 * clients read much that is not forced yet.
 *
 * <p>H2 alone forces nothing while it is open, so the server has it force each change. A server
 * that does not is the planted fault by which the tests see that the checks can fail.
 */
@SuppressWarnings("AddressSelection") // a simulated host has one address
public final class ImSimulation {
  private static final int MESSAGES = 4;
  private static final String ROOM = "kitchen";
  private static final String POINTS = "dev.weft.im";

  /** How the server ends. */
  enum End {
    /** What was written stays. */
    PROCESS,

    /** What was not forced may be lost. */
    POWER;

    static End ofSeed(long seed) {
      return (seed & 1) == 1 ? PROCESS : POWER;
    }
  }

  private ImSimulation() {}

  /** Explores it, with points in the server; the seed decides how the server ends. */
  public static SimulationResult explore(long firstSeed, int seeds, Runnable afterSeed) {
    return explore(
        named(SimulationOptions.seeds(seeds)).firstSeed(firstSeed).points(POINTS),
        sim -> new Run(sim, End.ofSeed(sim.seed()), true).run(),
        afterSeed);
  }

  /**
   * Explores it with one way to end, without points, which costs less; the server forces what it
   * stores, or does not, and then it is no news that it fails, and not worth shrinking.
   */
  static SimulationResult explore(long firstSeed, int seeds, End end, boolean forces) {
    return explore(
        named(SimulationOptions.seeds(seeds)).firstSeed(firstSeed).shrinks(forces),
        sim -> new Run(sim, end, forces).run(),
        () -> {});
  }

  /** Repeats one run, as a report names it. */
  public static SimulationResult replay(String run) {
    return explore(
        named(SimulationOptions.replay(run)).points(POINTS),
        sim -> new Run(sim, End.ofSeed(sim.seed()), true).run(),
        () -> {});
  }

  private static SimulationResult explore(
      SimulationOptions options, SimulationBody body, Runnable afterSeed) {
    return QuietLog.of(
        "dev.weft.im",
        () -> Simulation.explore(options, body, (runs, schedules, digest) -> afterSeed.run()));
  }

  private static SimulationOptions named(SimulationOptions options) {
    return options.name("im").maxSteps(1_000_000);
  }

  /** One run: the server, and its users. */
  private static final class Run {
    private final Simulation sim;
    private final Disk disk;
    private final Host host;
    private final boolean forces;
    private final boolean slow;
    private ImServer server;
    private boolean isUp;

    Run(Simulation sim, End end, boolean forces) {
      this.sim = sim;
      this.forces = forces;
      this.slow = (sim.seed() & 2) == 0;
      sim.network().latency(ofMillis(1), ofMillis(5)).resets(0.03).stalls(0.02, ofMillis(400));
      Duration longest = ofMillis(slow ? 10 : 1);
      disk = sim.disk("im").latency(ofNanos(10_000), longest).names(Disk.Names.JOURNALED);
      if (end == End.PROCESS) {
        disk.lostChanges(0);
      }
      server = newServer();
      host = sim.host("im", this::serve);
    }

    private ImServer newServer() {
      return ImServer.builder()
          .bind("0.0.0.0")
          .linePort(5190)
          .webPort(5191)
          .database("jdbc:h2:file:" + disk.root().resolve("im"))
          .force(forces)
          .build();
    }

    /** The main of the server's host. */
    private void serve() throws IOException {
      forgetDatabases();
      server = newServer();
      server.start();
      isUp = true;
    }

    /** Kills the server at some moment after it has started, and starts it again. */
    private void kill() throws InterruptedException {
      while (!isUp) {
        Thread.sleep(5);
      }
      Thread.sleep(sim.random().nextInt(1, slow ? 300 : 60));
      isUp = false;
      host.crash();
      Thread.sleep(20);
      host.restart();
    }

    void run() throws Exception {
      Map<Long, String> texts = new HashMap<>();
      User ann = new User("ann", texts);
      User bob = new User("bob", texts);
      Thread other = Thread.ofVirtual().name("bob").start(() -> talk(bob));
      Thread killer = Thread.ofVirtual().name("killer").start(this::killOnce);
      talk(ann);
      other.join();
      killer.join();
      kill();
      List<String> history = ann.history();
      equal(new HashSet<>(history).size(), history.size(), "different messages in " + history);
      for (User user : List.of(ann, bob)) {
        check(
            history.containsAll(user.acknowledged),
            "acknowledged: " + user.acknowledged + ", and in the history: " + history);
        List<String> own = history.stream().filter(text -> text.startsWith(user.name)).toList();
        check(user.said.containsAll(own), "said: " + user.said + ", and heard: " + own);
        equal(own.stream().sorted().toList(), own, "the order of messages");
      }
      server.stop(); // else threads of the database would be left to the next run
      forgetDatabases();
    }

    private void killOnce() {
      try {
        kill();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void talk(User user) {
    try {
      user.talk();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Forgets the databases that are open: H2 keeps them in a static field, which survives the crash
   * of a host, and not the kill of a process.
   */
  private static void forgetDatabases() {
    try {
      Field databases = Engine.class.getDeclaredField("DATABASES");
      databases.setAccessible(true);
      ((Map<?, ?>) databases.get(null)).clear();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this version of H2 keeps its databases elsewhere", e);
    }
  }

  /** One connection of a client, line by line. */
  private static final class Lines implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader in;
    private final Map<Long, String> texts;
    private long lastMessage;

    Lines(Map<Long, String> texts) throws IOException {
      this.texts = texts;
      socket = new Socket("im", 5190);
      socket.setSoTimeout(60_000);
      in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Sends a command; returns its answer, and checks the events before it. */
    String ask(String command) throws IOException {
      socket.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
      while (true) {
        String line = next();
        if (line.startsWith("OK ") || line.startsWith("ERR ")) {
          return line;
        }
        if (line.startsWith("MSG ")) {
          long id = hear(line);
          check(id > lastMessage, "message " + id + " comes after " + lastMessage);
          lastMessage = id;
        }
      }
    }

    /** Notes a message, which is the only one of its id; returns that. */
    long hear(String message) {
      String[] words = message.split(" ", 6);
      long id = Long.parseLong(words[1]);
      note(id, words[5]);
      return id;
    }

    void note(long id, String text) {
      String known = texts.putIfAbsent(id, text);
      check(known == null || known.equals(text), id + " is \"" + text + "\", and was " + known);
    }

    String next() throws IOException {
      String line = in.readLine();
      if (line == null || line.startsWith("BYE ")) {
        throw new IOException("the connection has ended: " + line);
      }
      return line;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** A user that says some messages in a room, whatever happens to its connections. */
  private static final class User {
    private final String name;

    // the messages that any user has heard of, by id
    private final Map<Long, String> texts;
    private final List<String> said = new ArrayList<>();
    private final List<String> acknowledged = new ArrayList<>();
    private String token = "";
    private boolean known;

    User(String name, Map<Long, String> texts) {
      this.name = name;
      this.texts = texts;
    }

    void talk() throws InterruptedException {
      while (acknowledged.size() < MESSAGES) {
        try (Lines lines = new Lines(texts)) {
          logIn(lines);
          equal(lines.ask("JOIN " + ROOM), "OK JOIN " + ROOM, "the answer to JOIN");
          while (acknowledged.size() < MESSAGES) {
            String text = "%s says %03d".formatted(name, said.size());
            said.add(text);
            String answer = lines.ask("SAY " + ROOM + " " + text);
            check(answer.startsWith("OK SAY "), "the answer to SAY is " + answer);
            lines.note(Long.parseLong(answer.substring("OK SAY ".length())), text);
            acknowledged.add(text);
            Thread.sleep(10);
          }
        } catch (IOException e) {
          Thread.sleep(10); // it was reset, or the server is not up yet
        }
      }
    }

    private void logIn(Lines lines) throws IOException {
      if (!token.isEmpty()) {
        equal(lines.ask("RESUME " + token), "OK RESUME " + name, "the answer to RESUME");
        return;
      }
      String answer = lines.ask((known ? "LOGIN " : "REGISTER ") + name + " correct-horse");
      if (answer.startsWith("ERR exists ")) {
        known = true; // the answer to the first REGISTER was lost
        throw new IOException(answer);
      }
      check(answer.startsWith("OK "), "the answer to a known user is " + answer);
      known = true;
      token = lines.ask("TOKEN").substring("OK TOKEN ".length());
    }

    List<String> history() throws InterruptedException {
      while (true) {
        try (Lines lines = new Lines(texts)) {
          logIn(lines);
          String answer = lines.ask("HISTORY " + ROOM + " 999999999 100");
          check(answer.startsWith("OK HISTORY "), "the answer to HISTORY is " + answer);
          List<String> history = new ArrayList<>();
          for (int left = Integer.parseInt(answer.substring(11)); left > 0; left--) {
            String message = lines.next();
            lines.hear(message);
            history.add(message.split(" ", 6)[5]);
          }
          return history;
        } catch (IOException e) {
          Thread.sleep(10);
        }
      }
    }
  }
}
