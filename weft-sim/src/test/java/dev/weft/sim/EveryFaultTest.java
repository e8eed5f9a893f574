package dev.weft.sim;

import static dev.weft.sim.Programs.connect;
import static dev.weft.sim.Programs.echo;
import static dev.weft.sim.Programs.sleep;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each kind of fault finds a bug, and is counted: a program for each passes all seeds without the
 * fault, and fails with it while no other kind of fault happens. The program passes also under
 * other kinds that can happen in it ({@link #bearsOf}); some programs another kind breaks too
 * ({@link #brokenTooBy}). In the other programs no other kind can happen: those of disks leave a
 * single change without force.
 */
@Feature({"V6", "V7"})
@SuppressWarnings("AddressSelection") // a simulated host has one address
class EveryFaultTest {
  private static final int SEEDS = 200;

  /** A program with a bug, in which faults of some kinds happen. */
  private interface Program {
    void run(Simulation sim, Set<Fault> on) throws Exception;
  }

  /** Returns the program of a fault; a fault without a program does not compile. */
  private static Program programOf(Fault fault) {
    return switch (fault) {
      case LOST_WRITE -> EveryFaultTest::acknowledgesWhatIsNotForced;
      case TORN_WRITE -> EveryFaultTest::believesTheHeader;
      case LOST_RESIZE -> EveryFaultTest::emptiesItsQueueWithoutForce;
      case LOST_CREATION -> EveryFaultTest::forcesTheFileAndNotItsName;
      case LOST_RENAME -> EveryFaultTest::renamesWithoutForce;
      case LOST_DELETION -> EveryFaultTest::deletesItsJobWithoutForce;
      case FULL_DISK -> EveryFaultTest::truncatesBeforeItWrites;
      case RESET -> EveryFaultTest::paysAgainAfterAReset;
      case STALL -> EveryFaultTest::sendsAgainAfterATimeout;
      case LOSS -> EveryFaultTest::waitsForAnAnswerWithoutATimeout;
      case REORDERING -> EveryFaultTest::trustsTheOrderOfDatagrams;
      case REFUSAL -> EveryFaultTest::connectsWithoutARetry;
      case PARTITION -> EveryFaultTest::electsASecondPrimary;
      case CRASH -> EveryFaultTest::transfersInTwoSteps;
      case SILENCE -> EveryFaultTest::readsWithoutATimeout;
      case CLOCK_OFFSET -> EveryFaultTest::comparesTimesOfTwoHosts;
      case CLOCK_DRIFT -> EveryFaultTest::leasesWithoutAMargin;
      case EARLY_TIMER -> EveryFaultTest::answersAfterTheTimeout;
    };
  }

  /** Returns the other kinds of faults that happen in the program of a fault if they are on. */
  private static Set<Fault> bearsOf(Fault fault) {
    return switch (fault) {
      case TORN_WRITE -> EnumSet.of(Fault.LOST_WRITE);
      case RESET -> EnumSet.of(Fault.STALL, Fault.REFUSAL, Fault.PARTITION);
      case STALL -> EnumSet.of(Fault.RESET, Fault.REFUSAL, Fault.CRASH);
      case REORDERING -> EnumSet.of(Fault.LOSS, Fault.PARTITION);
      case REFUSAL -> EnumSet.of(Fault.RESET, Fault.STALL, Fault.PARTITION);
      case PARTITION -> EnumSet.of(Fault.LOSS, Fault.REORDERING, Fault.CLOCK_DRIFT);
      case CRASH -> EnumSet.of(Fault.CLOCK_DRIFT);
      case SILENCE -> EnumSet.of(Fault.CRASH);
      case CLOCK_OFFSET -> EnumSet.of(Fault.CLOCK_DRIFT);
      case CLOCK_DRIFT -> EnumSet.of(Fault.CLOCK_OFFSET);
      case EARLY_TIMER -> EnumSet.of(Fault.CLOCK_DRIFT);
      default -> EnumSet.noneOf(Fault.class);
    };
  }

  /** Returns the other kinds of faults that look the same to the program of a fault. */
  private static Set<Fault> brokenTooBy(Fault fault) {
    return switch (fault) {
      case STALL, LOSS -> EnumSet.of(Fault.PARTITION);
      case REFUSAL -> EnumSet.of(Fault.CRASH);
      default -> EnumSet.noneOf(Fault.class);
    };
  }

  private static SimulationResult explore(Fault fault, Set<Fault> on) {
    SimulationOptions options = SimulationOptions.seeds(SEEDS).name(fault.name());
    if (fault == Fault.EARLY_TIMER) {
      options =
          options.points("dev.weft.sim.EveryFaultTest").timersEarly(on.contains(Fault.EARLY_TIMER));
    }
    Program program = programOf(fault);
    return Simulation.explore(options, sim -> program.run(sim, on));
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void theFaultFindsTheBug(Fault fault) {
    SimulationResult without = explore(fault, EnumSet.noneOf(Fault.class));
    without.check();
    assertThat(without.faults().getOrDefault(fault, 0L)).isZero();

    FailureReport report = explore(fault, EnumSet.of(fault)).failure().orElseThrow();
    Map<Fault, Long> happened = new TreeMap<>(report.faults());
    happened.values().removeIf(count -> count == 0);
    assertThat(happened).as(report.text()).containsKey(fault);
    assertThat(report.text()).contains(fault.times(happened.get(fault)));
    if (fault == Fault.SILENCE) {
      happened.remove(Fault.CRASH); // what the connection is silent after; happens without it too
    }
    assertThat(happened).containsOnlyKeys(fault);
    assertThat(report.cause()).isNotInstanceOf(SimulationFailure.Endless.class);
  }

  static Stream<Fault> faultsBesideOthers() {
    return Stream.of(Fault.values()).filter(fault -> !bearsOf(fault).isEmpty());
  }

  @ParameterizedTest
  @MethodSource("faultsBesideOthers")
  void otherFaultsDoNotFindTheBug(Fault fault) {
    SimulationResult result = explore(fault, bearsOf(fault));
    result.check();
    assertThat(result.faults().getOrDefault(fault, 0L)).isZero();
    assertThat(result.faults())
        .containsKeys(bearsOf(fault).toArray(new Fault[0]))
        .allSatisfy((other, count) -> assertThat(count).as(other.name()).isPositive());
  }

  static Stream<Arguments> faultsThatLookAlike() {
    return Stream.of(Fault.values())
        .flatMap(fault -> brokenTooBy(fault).stream().map(other -> arguments(fault, other)));
  }

  @ParameterizedTest
  @MethodSource("faultsThatLookAlike")
  void aFaultThatLooksTheSameFindsTheBugToo(Fault fault, Fault other) {
    FailureReport report = explore(fault, EnumSet.of(other)).failure().orElseThrow();
    assertThat(report.faults()).containsKey(other).doesNotContainKey(fault);
  }

  // ---- switching faults on ----

  private static void network(Simulation sim, Set<Fault> on) {
    sim.network()
        .resets(on.contains(Fault.RESET) ? 0.1 : 0)
        .stalls(on.contains(Fault.STALL) ? 0.1 : 0, ofMillis(500))
        .refusals(on.contains(Fault.REFUSAL) ? 0.1 : 0)
        .losses(on.contains(Fault.LOSS) ? 0.1 : 0)
        .silences(on.contains(Fault.SILENCE) ? 0.5 : 0);
  }

  /** Cuts two hosts off from each other for a time, from some moment of the first ones on. */
  private static void partition(
      Simulation sim, Set<Fault> on, String one, String other, Duration length) {
    if (on.contains(Fault.PARTITION)) {
      sim.at(
          ofNanos(sim.random().nextInt(1_000_000, 5_000_000)),
          () -> {
            sim.network().partition(one, other);
            Thread.sleep(length);
            sim.network().heal();
          });
    }
  }

  /** Crashes a host at some moment of the first ones. */
  private static void crash(Simulation sim, Set<Fault> on, Host host) {
    if (on.contains(Fault.CRASH)) {
      sim.at(ofNanos(sim.random().nextInt(1_000_000, 4_000_000)), host::crash);
    }
  }

  private static void drift(Simulation sim, Set<Fault> on, HostClock clock) {
    if (on.contains(Fault.CLOCK_DRIFT)) {
      clock.drift(sim.random().nextInt(-40_000, 40_000));
    }
  }

  // ---- disks: they crash in any case; whether that loses what was not forced is the fault ----

  private static Disk disk(Simulation sim, boolean losesUnforced) {
    return sim.disk("d").lostChanges(losesUnforced ? 1 : 0).tornWrites(0);
  }

  private static void force(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, READ)) {
      channel.force(true);
    }
  }

  /** Adds to a file, durably, and so its name. */
  private static void addDurably(Path file, String text) throws IOException {
    Files.writeString(file, text, CREATE, WRITE, APPEND);
    force(file);
    force(file.getParent());
  }

  private static void acknowledgesWhatIsNotForced(Simulation sim, Set<Fault> on)
      throws IOException {
    Disk disk = disk(sim, on.contains(Fault.LOST_WRITE));
    Path log = disk.root().resolve("log");
    addDurably(log, "one ");
    Files.writeString(log, "two ", APPEND);
    disk.crash();
    assertThat(Files.readString(log)).isEqualTo("one two ");
  }

  /**
   * Without the fault the crash keeps the write as a whole or loses it, and this reader bears both.
   */
  private static void believesTheHeader(Simulation sim, Set<Fault> on) throws IOException {
    Disk disk = sim.disk("d").lostChanges(0.9).tornWrites(on.contains(Fault.TORN_WRITE) ? 1 : 0);
    Path file = disk.root().resolve("records");
    addDurably(file, "");
    int length = 3_000;
    ByteBuffer record = ByteBuffer.allocate(Integer.BYTES + length).putInt(length);
    while (record.hasRemaining()) {
      record.put((byte) 1);
    }
    Files.write(file, record.array());
    disk.crash();
    ByteBuffer left = ByteBuffer.wrap(Files.readAllBytes(file));
    if (left.remaining() >= Integer.BYTES && left.getInt() == length) {
      assertThat(left.remaining()).as("bytes of the record").isEqualTo(length);
    }
  }

  private static void emptiesItsQueueWithoutForce(Simulation sim, Set<Fault> on)
      throws IOException {
    Disk disk = disk(sim, on.contains(Fault.LOST_RESIZE));
    Path queue = disk.root().resolve("queue");
    Path done = disk.root().resolve("done");
    addDurably(queue, "job");
    for (int starts = 0; starts < 2; starts++) {
      if (Files.size(queue) > 0) {
        addDurably(done, Files.readString(queue));
        try (FileChannel channel = FileChannel.open(queue, WRITE)) {
          channel.truncate(0);
        }
      }
      disk.crash();
    }
    assertThat(Files.readString(done)).isEqualTo("job");
  }

  private static void forcesTheFileAndNotItsName(Simulation sim, Set<Fault> on) throws IOException {
    Disk disk = disk(sim, on.contains(Fault.LOST_CREATION));
    Path order = disk.root().resolve("order");
    Files.writeString(order, "one book");
    force(order);
    disk.crash();
    assertThat(order).hasContent("one book");
  }

  private static void renamesWithoutForce(Simulation sim, Set<Fault> on) throws IOException {
    Disk disk = disk(sim, on.contains(Fault.LOST_RENAME));
    Path config = disk.root().resolve("config");
    Path next = disk.root().resolve("config.new");
    addDurably(config, "limit 1");
    addDurably(next, "limit 2");
    Files.move(next, config, StandardCopyOption.ATOMIC_MOVE);
    disk.crash();
    assertThat(config).hasContent("limit 2");
  }

  private static void deletesItsJobWithoutForce(Simulation sim, Set<Fault> on) throws IOException {
    Disk disk = disk(sim, on.contains(Fault.LOST_DELETION));
    Path job = disk.root().resolve("job");
    Path done = disk.root().resolve("done");
    addDurably(done, "");
    addDurably(job, "pay 10");
    for (int starts = 0; starts < 2; starts++) {
      if (Files.exists(job)) {
        Files.writeString(done, Files.readString(job), APPEND);
        force(done);
        Files.delete(job);
      }
      disk.crash();
    }
    assertThat(done).hasContent("pay 10");
  }

  private static void truncatesBeforeItWrites(Simulation sim, Set<Fault> on) throws IOException {
    Disk disk = sim.disk("d");
    Path settings = disk.root().resolve("settings");
    addDurably(settings, "old");
    disk.full(on.contains(Fault.FULL_DISK));
    try {
      Files.writeString(settings, "new", TRUNCATE_EXISTING, WRITE);
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left"); // the old settings stay
    }
    disk.full(false);
    assertThat(Files.readString(settings)).isIn("old", "new");
  }

  // ---- connections ----

  private static void paysAgainAfterAReset(Simulation sim, Set<Fault> on) throws Exception {
    int[] paid = new int[1];
    sim.host(
        "bank",
        () -> {
          try (ServerSocket server = new ServerSocket(80)) {
            while (true) {
              try (Socket client = server.accept()) {
                paid[0] += client.getInputStream().read();
                client.getOutputStream().write(1);
              } catch (SocketException e) {
                // the next one
              }
            }
          }
        });
    network(sim, on);
    partition(sim, on, "main", "bank", ofMillis(50));
    boolean answered = false;
    while (!answered) {
      try (Socket bank = connect("bank", 80)) {
        bank.getOutputStream().write(10);
        answered = bank.getInputStream().read() == 1;
      } catch (SocketException e) {
        // again
      }
    }
    assertThat(paid[0]).isEqualTo(10);
  }

  private static void sendsAgainAfterATimeout(Simulation sim, Set<Fault> on) throws Exception {
    int[] served = new int[1];
    Host host =
        sim.host(
            "server",
            () -> {
              try (ServerSocket server = new ServerSocket(80);
                  Socket client = server.accept()) {
                while (client.getInputStream().read() >= 0) {
                  served[0]++;
                  client.getOutputStream().write(1);
                }
              } catch (SocketException e) {
                // it was reset
              }
            });
    network(sim, on);
    partition(sim, on, "main", "server", ofMillis(500));
    crash(sim, on, host);
    try (Socket server = connect("server", 80)) {
      server.setSoTimeout(100);
      server.getOutputStream().write(1);
      try {
        server.getInputStream().read();
      } catch (SocketTimeoutException e) {
        server.getOutputStream().write(1); // the request must have been lost
        server.setSoTimeout(0);
        server.getInputStream().read();
      }
    } catch (SocketException e) {
      // refused or reset: the caller is told that it may have been served, or not
    }
    Thread.sleep(10_000);
    assertThat(served[0]).isLessThanOrEqualTo(1);
  }

  private static void connectsWithoutARetry(Simulation sim, Set<Fault> on) throws Exception {
    Host host = sim.host("server", () -> echo(80));
    network(sim, on);
    partition(sim, on, "main", "server", ofMillis(50));
    crash(sim, on, host);
    sleep(ofMillis(2));
    try (Socket server = connect("server", 80)) {
      try {
        server.getOutputStream().write(7);
        assertThat(server.getInputStream().read()).isIn(7, -1);
      } catch (SocketException e) {
        // it was reset: the caller is told
      }
    }
  }

  private static void readsWithoutATimeout(Simulation sim, Set<Fault> on) throws Exception {
    Host server = sim.host("server", () -> echo(80));
    network(sim, on);
    try (Socket socket = connect("server", 80)) {
      sim.at(ofSeconds(1), server::crash);
      assertThatThrownBy(() -> socket.getInputStream().read()).hasMessage("Connection reset");
    }
  }

  // ---- datagrams ----

  private static void waitsForAnAnswerWithoutATimeout(Simulation sim, Set<Fault> on)
      throws Exception {
    sim.host(
        "server",
        () -> {
          try (DatagramSocket socket = new DatagramSocket(53)) {
            DatagramPacket packet = new DatagramPacket(new byte[10], 10);
            while (true) {
              socket.receive(packet);
              socket.send(packet);
            }
          }
        });
    network(sim, on);
    partition(sim, on, "main", "server", ofMillis(50));
    Thread.sleep(1);
    try (DatagramSocket socket = new DatagramSocket()) {
      InetAddress server = InetAddress.getByName("server");
      socket.send(new DatagramPacket(new byte[] {1}, 1, server, 53));
      socket.receive(new DatagramPacket(new byte[10], 10));
    }
  }

  private static void trustsTheOrderOfDatagrams(Simulation sim, Set<Fault> on) throws Exception {
    sim.host(
        "sender",
        () -> {
          try (DatagramSocket socket = new DatagramSocket()) {
            for (byte i = 0; i < 5; i++) {
              Thread.sleep(2);
              InetAddress main = InetAddress.getByName("main");
              socket.send(new DatagramPacket(new byte[] {i}, 1, main, 53));
            }
          }
        });
    network(sim, on);
    sim.network().latency(ofMillis(1), ofMillis(on.contains(Fault.REORDERING) ? 10 : 1));
    partition(sim, on, "main", "sender", ofMillis(3));
    try (DatagramSocket socket = new DatagramSocket(53)) {
      socket.setSoTimeout(1_000);
      for (int last = -1; last < 4; ) {
        DatagramPacket packet = new DatagramPacket(new byte[10], 10);
        socket.receive(packet);
        assertThat((int) packet.getData()[0]).isGreaterThan(last);
        last = packet.getData()[0];
      }
    } catch (SocketTimeoutException e) {
      // the last ones are lost
    }
  }

  private static void electsASecondPrimary(Simulation sim, Set<Fault> on) throws Exception {
    boolean[] primary = {true, false};
    Host first =
        sim.host(
            "first",
            () -> {
              try (DatagramSocket socket = new DatagramSocket()) {
                InetAddress second = InetAddress.getByName("second");
                for (int i = 0; i < 100; i++) {
                  socket.send(new DatagramPacket(new byte[] {1}, 1, second, 53));
                  Thread.sleep(100);
                }
              }
            });
    sim.host(
        "second",
        () -> {
          try (DatagramSocket socket = new DatagramSocket(53)) {
            socket.setSoTimeout(1_000);
            for (int i = 0; i < 60; i++) {
              socket.receive(new DatagramPacket(new byte[10], 10));
            }
          } catch (SocketTimeoutException e) {
            primary[1] = true; // no heartbeat for a second: first is dead
          }
        });
    network(sim, on);
    if (on.contains(Fault.REORDERING)) {
      sim.network().latency(ofMillis(1), ofMillis(250));
    }
    drift(sim, on, first.clock());
    if (on.contains(Fault.PARTITION)) {
      sim.network().partition("first", "second");
    }
    Thread.sleep(8_000);
    assertThat(primary[0] && primary[1]).as("two primaries").isFalse();
  }

  // ---- hosts and clocks ----

  private static void transfersInTwoSteps(Simulation sim, Set<Fault> on) throws Exception {
    int[] accounts = {10, 0}; // as on a disk: they survive the crash
    Host bank =
        sim.host(
            "bank",
            () -> {
              accounts[0] -= 10;
              Thread.sleep(sim.random().nextInt(1, 10));
              accounts[1] += 10;
            });
    drift(sim, on, bank.clock());
    if (on.contains(Fault.CRASH)) {
      sim.at(ofMillis(5), bank::crash);
    }
    Thread.sleep(1_000);
    assertThat(accounts[0] + accounts[1]).isEqualTo(10);
  }

  private static void comparesTimesOfTwoHosts(Simulation sim, Set<Fault> on) throws Exception {
    long[] validUntil = new long[1];
    Host issuer = sim.host("issuer", () -> validUntil[0] = System.currentTimeMillis() + 5_000);
    drift(sim, on, issuer.clock());
    if (on.contains(Fault.CLOCK_OFFSET)) {
      issuer.clock().offset(ofSeconds(sim.random().nextInt(-20, 20)));
    }
    Thread.sleep(1_000);
    assertThat(System.currentTimeMillis()).as("a new token").isLessThan(validUntil[0]);
  }

  private static void leasesWithoutAMargin(Simulation sim, Set<Fault> on) throws Exception {
    boolean[] holds = {true};
    long[] lastUse = new long[1];
    long lease = 10_000;
    Host holder =
        sim.host(
            "holder",
            () -> {
              long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lease - 150);
              while (System.nanoTime() < until) {
                Thread.sleep(100); // uses what the lease protects
                lastUse[0] = System.currentTimeMillis();
              }
              holds[0] = false;
            });
    drift(sim, on, holder.clock());
    if (on.contains(Fault.CLOCK_OFFSET)) {
      holder.clock().offset(ofSeconds(sim.random().nextInt(-20, 20)));
    }
    Thread.sleep(lease);
    assertThat(lastUse[0]).isPositive();
    assertThat(holds[0]).as("the old holder uses the lease").isFalse();
  }

  private static void answersAfterTheTimeout(Simulation sim, Set<Fault> on) throws Exception {
    String[] answer = {""};
    drift(sim, on, sim.clock());
    CountDownLatch done = new CountDownLatch(1);
    Thread server =
        new Thread(
            () -> {
              answer[0] = "good";
              done.countDown();
            },
            "server");
    server.start();
    boolean inTime = done.await(1, TimeUnit.SECONDS);
    if (!inTime) {
      answer[0] = "timeout";
    }
    server.join();
    assertThat(answer[0]).isEqualTo(inTime ? "good" : "timeout");
  }
}
