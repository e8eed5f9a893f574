package dev.weft.bench.im;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.sync.Semaphore;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Clients that talk at a rate, phase after phase; and the proof that nobody missed anything. */
final class LoadRun {
  private static final int CONNECTING_AT_ONCE = 100;
  private static final Duration TICK = Duration.ofMillis(10);
  private static final int TICKS_TO_CONFIRM = 500;
  private static final Duration QUIET = Duration.ofSeconds(1);
  private static final Duration LONGEST_TAIL = Duration.ofSeconds(60);

  private final Scheduler scheduler;
  private final PrintStream progress;
  private final double messagesPerSecond;
  private final List<LoadClient> clients = new ArrayList<>();
  private final List<Fiber<Void>> fibers = new ArrayList<>();
  private final LoadClient.Totals totals = new LoadClient.Totals();
  private final Random random = new Random(1);
  private int nextToConfirm;

  LoadRun(Scheduler scheduler, PrintStream progress, double messagesPerSecond) {
    this.scheduler = scheduler;
    this.progress = progress;
    this.messagesPerSecond = messagesPerSecond;
  }

  LoadClient.Totals totals() {
    return totals;
  }

  /** Connects all, some at a time. */
  void connect(Population population, List<LoadClient.Connector> connectors)
      throws InterruptedException {
    long start = System.nanoTime();
    Semaphore some = new Semaphore(CONNECTING_AT_ONCE);
    for (int i = 0; i < population.clients(); i++) {
      LoadClient.Connector connector = connectors.get(i);
      LoadClient client = new LoadClient(i, population.room(i), connector, totals);
      clients.add(client);
      some.acquire();
      fibers.add(scheduler.go(client::run));
      scheduler.go(
          () -> {
            client.awaitReady();
            some.release();
          });
      if ((i + 1) % Math.max(1, population.clients() / 10) == 0) {
        progress.printf("im-load: %,d clients, %.1f s%n", i + 1, (System.nanoTime() - start) / 1e9);
      }
    }
    for (LoadClient client : clients) {
      client.awaitReady();
    }
  }

  /** Lets them talk for a while, and measures. */
  Phase talk(String name, Duration length, ImNode node) throws IOException, InterruptedException {
    List<Double> seconds = new ArrayList<>();
    Histogram all = LoadClient.Totals.histogram();
    totals.latency = LoadClient.Totals.histogram();
    long received = totals.received.get();
    long cpu = node.cpuNanos();
    long resident = 0;
    long start = System.nanoTime();
    long nextSecond = start + Duration.ofSeconds(1).toNanos();
    long sent = 0;
    for (long now = start; now - start < length.toNanos(); now = System.nanoTime()) {
      long due = (long) (messagesPerSecond * (now - start) / 1e9);
      for (; sent < due; sent++) {
        clients.get(random.nextInt(clients.size())).say();
      }
      if (now - nextSecond >= 0) {
        nextSecond += Duration.ofSeconds(1).toNanos();
        ConcurrentHistogram second = totals.latency;
        totals.latency = LoadClient.Totals.histogram();
        seconds.add(second.getValueAtPercentile(99) / 1e6);
        all.add(second);
        resident = Math.max(resident, node.residentBytes());
        progress.printf(
            "im-load: %s, %d of %d s: %,d deliveries, 99 %% %.1f ms, max %.1f ms, %,d MB%n",
            name,
            seconds.size(),
            length.toSeconds(),
            second.getTotalCount(),
            second.getValueAtPercentile(99) / 1e6,
            second.getMaxValue() / 1e6,
            resident >> 20);
      }
      confirmSome();
      Fiber.sleep(TICK);
    }
    awaitQuiet();
    all.add(totals.latency);
    long deliveries = totals.received.get() - received;
    Duration took = Duration.ofNanos(System.nanoTime() - start).minus(QUIET);
    double micros = deliveries == 0 ? 0 : (node.cpuNanos() - cpu) / 1e3 / deliveries;
    return new Phase(name, took, deliveries, all, seconds, micros, resident);
  }

  /** Has each client confirm every few seconds what it has heard, not all of them at once. */
  private void confirmSome() {
    int some = 1 + clients.size() / TICKS_TO_CONFIRM;
    for (int i = 0; i < some; i++) {
      clients.get(nextToConfirm++ % clients.size()).confirm();
    }
  }

  private void awaitQuiet() throws InterruptedException {
    long deadline = System.nanoTime() + LONGEST_TAIL.toNanos();
    long before = -1;
    while (before != totals.received.get() && System.nanoTime() < deadline) {
      before = totals.received.get();
      Fiber.sleep(QUIET);
    }
  }

  /** Ends all clients. */
  void end() throws InterruptedException {
    clients.forEach(LoadClient::end);
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
  }

  /** Returns what is wrong, one line each: every member of a room has to have heard the same. */
  List<String> faults() {
    List<String> faults = new ArrayList<>();
    Map<String, long[]> heardInRoom = new HashMap<>();
    Map<String, Set<Long>> acknowledged = new HashMap<>();
    for (LoadClient client : clients) {
      Set<Long> ofRoom = acknowledged.computeIfAbsent(client.room(), name -> new HashSet<>());
      Arrays.stream(client.acknowledged()).forEach(ofRoom::add);
      heardInRoom.merge(
          client.room(), client.heard(), (one, other) -> one.length >= other.length ? one : other);
    }
    for (LoadClient client : clients) {
      if (!Arrays.equals(client.heard(), heardInRoom.get(client.room()))) {
        faults.add("a member of %s has not heard what another has".formatted(client.room()));
      }
    }
    acknowledged.forEach(
        (room, ids) -> {
          Arrays.stream(heardInRoom.get(room)).forEach(ids::remove);
          if (!ids.isEmpty()) {
            faults.add("%d acknowledged messages of %s are lost".formatted(ids.size(), room));
          }
        });
    if (totals.outOfOrder.get() > 0) {
      faults.add(totals.outOfOrder + " messages came twice or out of order on one connection");
    }
    return faults;
  }

  /** Returns how many messages clients said that the server has acknowledged. */
  long acknowledged() {
    return clients.stream().mapToLong(client -> client.acknowledged().length).sum();
  }
}
