package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Three clerks sell two seats: each looks whether a seat is free and then takes it.
 *
 * <p>After the airline program of IBM's ConTest benchmark.
 */
final class Overbooking {
  static final KnownBug BUG =
      KnownBug.of(
          Overbooking.class,
          "the airline program of IBM's ConTest benchmark",
          Kind.ATOMICITY,
          () -> run(new Flight()),
          () -> run(new FixedFlight()));

  private Overbooking() {}

  private static void run(Flight flight) throws Exception {
    Together.run(flight, Flight::book, Flight::book, Flight::book);
    Check.equal(0, flight.free.get(), "free seats");
  }

  private static class Flight {
    final AtomicInteger free = new AtomicInteger(2);

    void book() {
      if (free.get() > 0) {
        free.decrementAndGet();
      }
    }
  }

  private static final class FixedFlight extends Flight {
    @Override
    void book() {
      free.updateAndGet(seats -> Math.max(0, seats - 1));
    }
  }
}
