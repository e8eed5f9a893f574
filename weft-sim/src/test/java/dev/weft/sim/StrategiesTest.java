package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each strategy chooses as it says, and each kind of operation is a point. */
@Feature("V3")
class StrategiesTest {
  private static final String HERE = "dev.weft.sim.StrategiesTest";

  private static SimulationOptions seeds(int count, Strategy strategy) {
    return SimulationOptions.seeds(count).strategy(strategy);
  }

  // ---- points ----

  /** Two fibers that each look and then act; a stop in between breaks what they share. */
  interface Shared {
    void lookAndAct() throws Exception;

    boolean isBroken();
  }

  private static final class Field implements Shared {
    private int value;

    @Override
    public void lookAndAct() {
      value++;
    }

    @Override
    public boolean isBroken() {
      return value != 2;
    }
  }

  private static final class StaticField implements Shared {
    private static int value;

    private final int before = value;

    @Override
    public void lookAndAct() {
      value++;
    }

    @Override
    public boolean isBroken() {
      return value != before + 2;
    }
  }

  private static final class Element implements Shared {
    private final long[] values = new long[1];

    @Override
    public void lookAndAct() {
      values[0]++;
    }

    @Override
    public boolean isBroken() {
      return values[0] != 2;
    }
  }

  /** All accesses are in monitors, so the point is at the entry of the second. */
  private static final class Monitor implements Shared {
    private final AtomicInteger value = new AtomicInteger();

    @Override
    public void lookAndAct() {
      int seen;
      synchronized (this) {
        seen = value.getPlain();
      }
      synchronized (this) {
        value.setPlain(seen + 1);
      }
    }

    @Override
    public boolean isBroken() {
      return value.getPlain() != 2;
    }
  }

  private static final class Concurrent implements Shared {
    private final AtomicInteger value = new AtomicInteger();

    @Override
    public void lookAndAct() {
      value.set(value.get() + 1);
    }

    @Override
    public boolean isBroken() {
      return value.get() != 2;
    }
  }

  enum Point {
    FIELD("writes StrategiesTest.Field.value"),
    STATIC_FIELD("writes StrategiesTest.StaticField.value"),
    ELEMENT("writes an element"),
    MONITOR("enters synchronized"),
    CONCURRENT("calls AtomicInteger.set");

    private final String operation;

    Point(String operation) {
      this.operation = operation;
    }

    Shared shared() {
      return switch (this) {
        case FIELD -> new Field();
        case STATIC_FIELD -> new StaticField();
        case ELEMENT -> new Element();
        case MONITOR -> new Monitor();
        case CONCURRENT -> new Concurrent();
      };
    }

    String type() {
      String name = name().toLowerCase(Locale.ROOT).replace("_f", "F");
      return HERE + "$" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }
  }

  private static void share(Shared shared) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (String name : List.of("one", "two")) {
      threads.add(
          Thread.ofVirtual()
              .name(name)
              .start(
                  () -> {
                    try {
                      shared.lookAndAct();
                    } catch (Exception e) {
                      throw new IllegalStateException(e);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(shared.isBroken()).isFalse();
  }

  /** Where fibers wait no stop breaks it, so what finds the bug is the operation. */
  @ParameterizedTest
  @EnumSource
  void aFiberStopsBeforeTheOperation(Point point) {
    SimulationOptions options = SimulationOptions.seeds(500);
    Simulation.explore(options.strategy(Strategy.blockingOnly()), sim -> share(point.shared()))
        .check();

    FailureReport report =
        Simulation.explore(options.points(point.type()), sim -> share(point.shared()))
            .failure()
            .orElseThrow();
    assertThat(report.text()).contains("stops before it " + point.operation);
    assertThat(report.schedule().switches()).hasSize(1);
  }

  /** A class keeps its points, but an exploration that does not name its package has none there. */
  @Test
  void pointsOfAnotherExplorationAreNoPoints() {
    SimulationOptions options = SimulationOptions.seeds(500);
    SimulationBody body = sim -> share(new Field());
    assertThat(Simulation.explore(options.points(HERE), body).failed()).isTrue();
    Simulation.explore(options, body).check();
    Simulation.explore(options.points(HERE + "$Element"), body).check();
  }

  // ---- strategies ----

  static Stream<Strategy> withPoints() {
    return Stream.of(
        Strategy.walk(),
        new Strategy.Walk(8),
        Strategy.pct(2),
        Strategy.pct(3),
        Strategy.pos(),
        Strategy.portfolio());
  }

  @ParameterizedTest
  @MethodSource("withPoints")
  void theStrategyFindsALostUpdate(Strategy strategy) {
    SimulationResult result =
        Simulation.explore(seeds(500, strategy).points(HERE), sim -> share(new Field()));
    assertThat(result.failed()).isTrue();
  }

  @Test
  void blockingOnlyNeverStopsAFiberAtAPoint() {
    Simulation.explore(seeds(500, Strategy.blockingOnly()).points(HERE), sim -> share(new Field()))
        .check();
  }

  /** Fibers that wait at a gate, and note in which order they go on. */
  private static String order(int fibers, int operations) throws Exception {
    StringBuilder order = new StringBuilder();
    CountDownLatch gate = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < fibers; i++) {
      char name = (char) ('a' + i);
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      gate.await();
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                    for (int k = 0; k < operations; k++) {
                      Thread.yield();
                      order.append(name);
                    }
                  }));
    }
    gate.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    return order.toString();
  }

  private static Set<String> orders(Strategy strategy, int fibers, int operations) {
    Set<String> seen = new HashSet<>();
    Simulation.explore(seeds(300, strategy), sim -> seen.add(order(fibers, operations))).check();
    return seen;
  }

  static Stream<Strategy> all() {
    return Stream.concat(withPoints(), Stream.of(Strategy.blockingOnly()));
  }

  @ParameterizedTest
  @MethodSource("all")
  void everyOrderOfThreeFibersIsTried(Strategy strategy) {
    assertThat(orders(strategy, 3, 1))
        .containsExactlyInAnyOrder("abc", "acb", "bac", "bca", "cab", "cba");
  }

  /** A fiber that has just begun has the highest priority or not, for all of its operations. */
  @Test
  void withoutChangesPctHasOneOrderAPriority() {
    assertThat(lettersOfTwo(Strategy.pct(1))).containsExactlyInAnyOrder("aaabbb", "bbbaaa");
    // of the 20 orders, and some with lost letters
    assertThat(lettersOfTwo(Strategy.walk())).hasSizeGreaterThan(15);
  }

  /** Returns the logs of two fibers that write three letters each. */
  private static Set<String> lettersOfTwo(Strategy strategy) {
    Set<String> seen = new HashSet<>();
    Simulation.explore(
            seeds(300, strategy).points(HERE),
            sim -> {
              Log log = new Log();
              Thread one = Thread.ofVirtual().start(() -> log.add('a'));
              Thread two = Thread.ofVirtual().start(() -> log.add('b'));
              one.join();
              two.join();
              seen.add(log.text);
            })
        .check();
    return seen;
  }

  /** Text that grows by its field, so that each addition is a point. */
  private static final class Log {
    private String text = "";

    void add(char letter) {
      for (int i = 0; i < 3; i++) {
        text = text + letter;
      }
    }
  }

  @Test
  void thePortfolioUsesEachOfItsStrategies() {
    Strategy.Portfolio portfolio = (Strategy.Portfolio) Strategy.portfolio();
    assertThat(portfolio.strategies())
        .hasAtLeastOneElementOfType(Strategy.Walk.class)
        .hasAtLeastOneElementOfType(Strategy.Pct.class)
        .hasAtLeastOneElementOfType(Strategy.Pos.class)
        .hasAtLeastOneElementOfType(Strategy.BlockingOnly.class);
    Set<Class<?>> used = new HashSet<>();
    for (long seed = 1; seed <= portfolio.strategies().size(); seed++) {
      used.add(Choosers.of(portfolio, seed, 10).getClass());
    }
    assertThat(used).hasSize(4);
  }
}
