package dev.weft.sim;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each kind of fault finds a bug, and is counted: a program for each passes all seeds without the
 * fault, and fails with it while no other kind of fault happens.
 */
@Feature({"V6", "V7"})
@SuppressWarnings("AddressSelection") // a simulated host has one address
class EveryFaultTest {
  private static final int SEEDS = 200;

  /** A program with a bug, in which the fault can happen or not. */
  private interface Program {
    void run(Simulation sim, boolean faults) throws Exception;
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

  private static SimulationResult explore(Fault fault, boolean on) {
    SimulationOptions options = SimulationOptions.seeds(SEEDS).name(fault.name());
    if (fault == Fault.EARLY_TIMER) {
      options = options.points("dev.weft.sim.EveryFaultTest").timersEarly(on);
    }
    Program program = programOf(fault);
    return Simulation.explore(options, sim -> program.run(sim, on));
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void onlyTheFaultFindsTheBug(Fault fault) {
    SimulationResult without = explore(fault, false);
    without.check();
    assertThat(without.faults().getOrDefault(fault, 0L)).isZero();

    FailureReport report = explore(fault, true).failure().orElseThrow();
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

  // ---- disks: the disk crashes in any case; whether it loses what was not forced is the fault
  // ----

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

  private static void acknowledgesWhatIsNotForced(Simulation sim, boolean faults)
      throws IOException {
    Disk disk = disk(sim, faults);
    Path log = disk.root().resolve("log");
    addDurably(log, "one ");
    Files.writeString(log, "two ", APPEND);
    disk.crash();
    assertThat(Files.readString(log)).isEqualTo("one two ");
  }

  /**
   * Without the fault the crash keeps the write as a whole or loses it, and this reader bears both.
   */
  private static void believesTheHeader(Simulation sim, boolean faults) throws IOException {
    Disk disk = sim.disk("d").lostChanges(0.9).tornWrites(faults ? 1 : 0);
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

  private static void emptiesItsQueueWithoutForce(Simulation sim, boolean faults)
      throws IOException {
    Disk disk = disk(sim, faults);
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

  private static void forcesTheFileAndNotItsName(Simulation sim, boolean faults)
      throws IOException {
    Disk disk = disk(sim, faults);
    Path order = disk.root().resolve("order");
    Files.writeString(order, "one book");
    force(order);
    disk.crash();
    assertThat(order).hasContent("one book");
  }

  private static void renamesWithoutForce(Simulation sim, boolean faults) throws IOException {
    Disk disk = disk(sim, faults);
    Path config = disk.root().resolve("config");
    Path next = disk.root().resolve("config.new");
    addDurably(config, "limit 1");
    addDurably(next, "limit 2");
    Files.move(next, config, StandardCopyOption.ATOMIC_MOVE);
    disk.crash();
    assertThat(config).hasContent("limit 2");
  }

  private static void deletesItsJobWithoutForce(Simulation sim, boolean faults) throws IOException {
    Disk disk = disk(sim, faults);
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

  private static void truncatesBeforeItWrites(Simulation sim, boolean faults) throws IOException {
    Disk disk = sim.disk("d");
    Path settings = disk.root().resolve("settings");
    addDurably(settings, "old");
    disk.full(faults);
    try {
      Files.writeString(settings, "new", TRUNCATE_EXISTING, WRITE);
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left"); // the old settings stay
    }
    disk.full(false);
    assertThat(Files.readString(settings)).isIn("old", "new");
  }

  // ---- connections ----

  private static void echo(int port) throws IOException {
    try (ServerSocket server = new ServerSocket(port)) {
      while (true) {
        try (Socket client = server.accept()) {
          client.getInputStream().transferTo(client.getOutputStream());
        } catch (SocketException e) {
          // the next one
        }
      }
    }
  }

  /** Connects when the port is listened at. */
  private static Socket connect(String host, int port) throws Exception {
    Thread.sleep(1);
    return new Socket(host, port);
  }

  private static void paysAgainAfterAReset(Simulation sim, boolean faults) throws Exception {
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
    sim.network().resets(faults ? 0.1 : 0);
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

  private static void sendsAgainAfterATimeout(Simulation sim, boolean faults) throws Exception {
    int[] served = new int[1];
    sim.host(
        "server",
        () -> {
          try (ServerSocket server = new ServerSocket(80);
              Socket client = server.accept()) {
            while (client.getInputStream().read() >= 0) {
              served[0]++;
              client.getOutputStream().write(1);
            }
          }
        });
    sim.network().stalls(faults ? 0.1 : 0, ofMillis(500));
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
    }
    Thread.sleep(10_000);
    assertThat(served[0]).isEqualTo(1);
  }

  private static void connectsWithoutARetry(Simulation sim, boolean faults) throws Exception {
    sim.host("server", () -> echo(80));
    sim.network().refusals(faults ? 0.1 : 0);
    connect("server", 80).close();
  }

  private static void readsWithoutATimeout(Simulation sim, boolean faults) throws Exception {
    Host server = sim.host("server", () -> echo(80));
    sim.network().silences(faults ? 0.5 : 0);
    try (Socket socket = connect("server", 80)) {
      sim.at(ofSeconds(1), server::crash);
      assertThatThrownBy(() -> socket.getInputStream().read()).hasMessage("Connection reset");
    }
  }

  // ---- datagrams ----

  private static void waitsForAnAnswerWithoutATimeout(Simulation sim, boolean faults)
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
    sim.network().losses(faults ? 0.1 : 0);
    Thread.sleep(1);
    try (DatagramSocket socket = new DatagramSocket()) {
      InetAddress server = InetAddress.getByName("server");
      socket.send(new DatagramPacket(new byte[] {1}, 1, server, 53));
      socket.receive(new DatagramPacket(new byte[10], 10));
    }
  }

  private static void trustsTheOrderOfDatagrams(Simulation sim, boolean faults) throws Exception {
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
    sim.network().latency(ofMillis(1), ofMillis(faults ? 10 : 1));
    try (DatagramSocket socket = new DatagramSocket(53)) {
      for (int i = 0; i < 5; i++) {
        DatagramPacket packet = new DatagramPacket(new byte[10], 10);
        socket.receive(packet);
        assertThat(packet.getData()[0]).isEqualTo((byte) i);
      }
    }
  }

  private static void electsASecondPrimary(Simulation sim, boolean faults) throws Exception {
    boolean[] primary = {true, false};
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
    if (faults) {
      sim.network().partition("first", "second");
    }
    Thread.sleep(8_000);
    assertThat(primary[0] && primary[1]).as("two primaries").isFalse();
  }

  // ---- hosts and clocks ----

  private static void transfersInTwoSteps(Simulation sim, boolean faults) throws Exception {
    int[] accounts = {10, 0}; // as on a disk: they survive the crash
    Host bank =
        sim.host(
            "bank",
            () -> {
              accounts[0] -= 10;
              Thread.sleep(sim.random().nextInt(1, 10));
              accounts[1] += 10;
            });
    if (faults) {
      sim.at(ofMillis(5), bank::crash);
    }
    Thread.sleep(1_000);
    assertThat(accounts[0] + accounts[1]).isEqualTo(10);
  }

  private static void comparesTimesOfTwoHosts(Simulation sim, boolean faults) throws Exception {
    long[] validUntil = new long[1];
    Host issuer = sim.host("issuer", () -> validUntil[0] = System.currentTimeMillis() + 5_000);
    if (faults) {
      issuer.clock().offset(ofSeconds(sim.random().nextInt(-20, 20)));
    }
    Thread.sleep(1_000);
    assertThat(System.currentTimeMillis()).as("a new token").isLessThan(validUntil[0]);
  }

  private static void leasesWithoutAMargin(Simulation sim, boolean faults) throws Exception {
    boolean[] holds = {true};
    long lease = 10_000;
    Host holder =
        sim.host(
            "holder",
            () -> {
              long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lease - 150);
              while (System.nanoTime() < until) {
                Thread.sleep(100); // uses what the lease protects
              }
              holds[0] = false;
            });
    if (faults) {
      holder.clock().drift(sim.random().nextInt(-40_000, 40_000));
    }
    Thread.sleep(lease);
    assertThat(holds[0]).as("the old holder uses the lease").isFalse();
  }

  private static void answersAfterTheTimeout(Simulation sim, boolean faults) throws Exception {
    String[] answer = {""};
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
