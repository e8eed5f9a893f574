package dev.weft.sim.bugs.programs;

import dev.weft.Scope;
import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Two fibers of a scope ask two mirrors; both take themselves for the first and book the answer.
 *
 * <p>After the classic race for the first result.
 */
final class TwoWinners {
  static final KnownBug BUG =
      KnownBug.of(
          TwoWinners.class,
          "the classic race for the first result",
          Kind.ATOMICITY,
          () -> run(new Race()),
          () -> run(new FixedRace()));

  private TwoWinners() {}

  private static void run(Race race) throws Exception {
    try (Scope scope = Scope.open()) {
      scope.go("mirror a", () -> race.finish("a"));
      scope.go("mirror b", () -> race.finish("b"));
      scope.join();
    }
    Check.equal(1, race.booked.get(), "booked answers");
  }

  private static class Race {
    final AtomicReference<String> winner = new AtomicReference<>();
    final AtomicInteger booked = new AtomicInteger();

    boolean wins(String name) {
      if (winner.get() != null) {
        return false;
      }
      winner.set(name);
      return true;
    }

    void finish(String name) {
      if (wins(name)) {
        booked.incrementAndGet();
      }
    }
  }

  private static final class FixedRace extends Race {
    @Override
    boolean wins(String name) {
      return winner.compareAndSet(null, name);
    }
  }
}
