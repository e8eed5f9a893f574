package dev.weft.bench.im;

import dev.weft.Scheduler;
import dev.weft.bench.Workspace;
import dev.weft.bench.report.Environment;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The load on the instant-messaging server. Clients, half of them by TCP and half by WebSocket, log
 * in by tokens and talk at a rate; each message carries the time at which it was said. Then the
 * same load goes on under attacks; with {@code --nodes 2} on two nodes with one PostgreSQL and one
 * Redis, of which one is killed. In the end every member of a room must have heard the same
 * messages in the same order, and every one that was acknowledged.
 */
@Command(name = "weft bench im-load", mixinStandardHelpOptions = true)
public final class ImLoad {
  private static final int WRONG_LOGINS = 150;
  private static final int SLOW_LORIS = 2_000;
  private static final int BOMBS = 50;
  private static final String ONE_NODE = "im-load";
  private static final String TWO_NODES = "im-load-nodes";

  @Option(names = "--clients", description = "How many clients; ${DEFAULT-VALUE}.")
  private int clients = 10_000;

  @Option(names = "--rooms", description = "In how many rooms; ${DEFAULT-VALUE}.")
  private int rooms = 200;

  @Option(names = "--deliveries", description = "How many a second; ${DEFAULT-VALUE}.")
  private int deliveries = 20_000;

  @Option(names = "--seconds", description = "How long each phase is; ${DEFAULT-VALUE}.")
  private int seconds = 30;

  @Option(names = "--nodes", description = "1, or 2 of which one is killed; ${DEFAULT-VALUE}.")
  private int nodes = 1;

  @Option(names = "--quick", description = "500 clients, 20 rooms, 5,000 deliveries, 5 seconds.")
  private boolean quick;

  @Option(names = "--check", description = "Exit with status 1 if a bar is missed.")
  private boolean check;

  @Option(
      names = "--page",
      description =
          "Measure nothing: put the results in target/bench into docs/img and docs/numbers.")
  private boolean page;

  private final Workspace workspace;

  // null for that of ./weft im
  private final ImNode.@Nullable Program server;
  private final PrintStream out;
  private final PrintStream err;

  private ImLoad(
      Workspace workspace, ImNode.@Nullable Program server, PrintStream out, PrintStream err) {
    this.workspace = workspace;
    this.server = server;
    this.out = out;
    this.err = err;
  }

  /**
   * Runs {@code ./weft bench im-load} with its options.
   *
   * @return 0; 1 if something was lost, doubled or out of order, or with {@code --check} if a bar
   *     was missed; 2 if it cannot run
   */
  public static int run(Workspace workspace, PrintStream out, PrintStream err, String... args)
      throws InterruptedException {
    return run(workspace, null, out, err, args);
  }

  /** Runs with another server than that of {@code ./weft im}. */
  static int run(
      Workspace workspace,
      ImNode.@Nullable Program server,
      PrintStream out,
      PrintStream err,
      String... args)
      throws InterruptedException {
    ImLoad load = new ImLoad(workspace, server, out, err);
    CommandLine line = new CommandLine(load);
    try {
      line.parseArgs(args);
    } catch (CommandLine.ParameterException e) {
      err.println("im-load: " + e.getMessage() + "; ./weft bench im-load --help lists the options");
      return 2;
    }
    if (line.isUsageHelpRequested()) {
      line.usage(out);
      return 0;
    }
    try {
      if (load.page) {
        return load.publish();
      }
      LoadReport report = load.measure();
      return load.finish(report, String.join(" ", args));
    } catch (IOException | RuntimeException e) {
      err.println("im-load: " + e.getMessage());
      return 2;
    }
  }

  private LoadReport measure() throws InterruptedException {
    try (Scheduler scheduler = Scheduler.builder().name("load").build().start()) {
      return scheduler.go(() -> measure(scheduler)).join();
    }
  }

  private LoadReport measure(Scheduler scheduler) throws Exception {
    if (quick) {
      clients = 500;
      rooms = 20;
      deliveries = 5_000;
      seconds = 5;
    }
    Path folder = Files.createTempDirectory("weft-im-load");
    try {
      return nodes == 1 ? oneNode(scheduler, folder) : twoNodes(scheduler);
    } finally {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(folder);
    }
  }

  private double messagesPerSecond() {
    return (double) deliveries * rooms / clients;
  }

  /** One user more than clients: that of the history bomb. */
  private Population prepared(String database, String... more) throws Exception {
    err.println("im-load: writing users and rooms");
    start(database, more).close(); // makes the tables
    new Population(clients + 1, rooms).write(program().jars(), database);
    return new Population(clients, rooms);
  }

  private ImNode start(String database, String... more) throws IOException {
    return ImNode.start(program(), database, more);
  }

  private ImNode.Program program() throws IOException {
    return server == null ? ImNode.Program.launched(workspace.root()) : server;
  }

  private LoadClient.Connector connector(int client, ImNode... all) {
    return attempt -> {
      ImNode node = all[(client / 2 + attempt) % all.length];
      return client % 2 == 0 ? LineSocket.lines(node.lines()) : LineSocket.web(node.web());
    };
  }

  private List<LoadClient.Connector> connectors(ImNode... all) {
    List<LoadClient.Connector> connectors = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      connectors.add(connector(i, all));
    }
    return connectors;
  }

  // ---- one node ----

  private LoadReport oneNode(Scheduler scheduler, Path folder) throws Exception {
    String database = "jdbc:h2:" + folder.resolve("im");
    Population population = prepared(database);
    LoadRun run = new LoadRun(scheduler, err, messagesPerSecond());
    try (ImNode node = start(database)) {
      long heapBefore = node.liveBytes();
      long residentBefore = node.residentBytes();
      run.connect(population, connectors(node));
      long heap = node.liveBytes();
      long heapOfClient = (heap - heapBefore) / clients;
      List<String> memory =
          List.of(
              memoryLine("live heap after a collection", heapBefore, heap),
              memoryLine("resident, free heap included", residentBefore, node.residentBytes()));
      run.talk("warm-up", length(), node);
      List<Phase> quiet = new ArrayList<>();
      List<Phase> attacks = new ArrayList<>();
      quiet.add(run.talk("quiet", length(), node));
      try (Attack _ = Attack.wrongLogins(scheduler, node.lines(), WRONG_LOGINS)) {
        attacks.add(run.talk(WRONG_LOGINS + " wrong logins", length(), node));
      }
      int slow = Math.min(SLOW_LORIS, 4 * clients);
      try (Attack _ = Attack.slowLines(scheduler, node.lines(), slow)) {
        attacks.add(run.talk(slow + " slow lines", length(), node));
      }
      try (Attack _ = Attack.slowRequests(scheduler, node.web(), slow)) {
        attacks.add(run.talk(slow + " slow requests", length(), node));
      }
      try (Attack _ = Attack.historyBomb(scheduler, node.lines(), BOMBS, clients)) {
        attacks.add(run.talk(BOMBS + " history bombs", length(), node));
      }
      quiet.add(run.talk("quiet again", length(), node));
      run.end();
      List<Phase> phases = new ArrayList<>(attacks);
      phases.addFirst(quiet.getFirst());
      phases.addLast(quiet.getLast());
      return new LoadReport(
          ONE_NODE,
          "one node",
          asked(),
          phases,
          memory,
          counts(run),
          LoadBars.ofOneNode(quiet, attacks, deliveries, heapOfClient),
          LoadBars.slowdowns(quiet, attacks),
          run.faults());
    }
  }

  private String memoryLine(String what, long before, long after) {
    return String.format(
        Locale.ROOT,
        "%s: %,d MB without clients, %,d MB with all, %,d bytes a client",
        what,
        before >> 20,
        after >> 20,
        (after - before) / clients);
  }

  private Duration length() {
    return Duration.ofSeconds(seconds);
  }

  // ---- two nodes ----

  private LoadReport twoNodes(Scheduler scheduler) throws Exception {
    LoadRun run = new LoadRun(scheduler, err, messagesPerSecond());
    try (Helper postgres = Helper.start(workspace.root(), "postgres");
        Helper redis = Helper.start(workspace.root(), "redis")) {
      String database = postgres.url();
      String[] bus = {"--redis", redis.url(), "--beat", "500"};
      Population population = prepared(database, bus);
      try (ImNode one = start(database, bus);
          ImNode two = start(database, bus)) {
        run.connect(population, connectors(one, two));
        run.talk("warm-up", length(), one);
        Phase quiet = run.talk("two nodes", length(), one);
        scheduler.go(two::kill);
        Phase killed = run.talk("one was killed", length(), one);
        run.end();
        return new LoadReport(
            TWO_NODES,
            "two nodes",
            asked(),
            List.of(quiet, killed),
            List.of(),
            counts(run),
            LoadBars.ofTwoNodes(quiet, deliveries),
            List.of(),
            run.faults());
      }
    }
  }

  // ---- what came of it ----

  private Map<String, Number> asked() {
    Map<String, Number> asked = new LinkedHashMap<>();
    asked.put("clients", clients);
    asked.put("rooms", rooms);
    asked.put("deliveries a second", deliveries);
    return asked;
  }

  private static Map<String, Number> counts(LoadRun run) {
    Map<String, Number> counts = new LinkedHashMap<>();
    counts.put("messages acknowledged", run.acknowledged());
    counts.put("deliveries", run.totals().received.get());
    counts.put("again after a reconnect", run.totals().doubled.get());
    counts.put("reconnects", run.totals().reconnects.get());
    counts.put("refused", run.totals().refused.get());
    return counts;
  }

  /** Prints the report and keeps it; returns the exit status. */
  private int finish(LoadReport report, String commandLine) throws IOException {
    out.print(report.text());
    Environment environment =
        Environment.here(
            workspace.code(),
            ImNode.flags(),
            ("./weft bench im-load " + commandLine).strip(),
            1,
            quick);
    String picture =
        LoadPicture.of("Weft chat, " + report.title() + ": 99 % latency", report.phases());
    out.printf(
        "%s, %s%n",
        workspace.write(report.name(), "svg", picture),
        workspace.write(report.name(), "json", report.json(environment)));
    return !report.faults().isEmpty() || (check && !report.allMet()) ? 1 : 0;
  }

  /** Puts the results of earlier runs into the documentation. */
  private int publish() throws IOException {
    for (String name : List.of(ONE_NODE, TWO_NODES)) {
      Optional<String> picture = workspace.read(name, "svg");
      Optional<String> result = workspace.read(name, "json");
      if (picture.isPresent() && result.isPresent()) {
        out.println(workspace.publish("img/" + name + ".svg", picture.get()));
        out.println(workspace.publish("numbers/" + name + ".json", result.get()));
      }
    }
    return 0;
  }
}
