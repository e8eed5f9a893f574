package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A taxi tells its dispatcher that it has arrived while it holds its own lock; the dispatcher asks
 * the taxi where it is while it holds the lock of the dispatcher.
 *
 * <p>After Java Concurrency in Practice, listing 10.5 (taxi and dispatcher); GoKer
 * kubernetes/13135.
 */
final class LockOrderByCallback {
  static final KnownBug BUG =
      KnownBug.of(
          LockOrderByCallback.class,
          "Java Concurrency in Practice, listing 10.5 (taxi and dispatcher); GoKer"
              + " kubernetes/13135",
          Kind.DEADLOCK,
          () -> run(new Taxi()),
          () -> run(new FixedTaxi()));

  private LockOrderByCallback() {}

  private static void run(Taxi taxi) throws Exception {
    Together.run(taxi, Taxi::arrive, t -> t.dispatcher.image());
  }

  private static class Taxi {
    final Dispatcher dispatcher = new Dispatcher(this);
    private int place;

    void arrive() {
      synchronized (this) {
        place = place + 1;
        dispatcher.available();
      }
    }

    synchronized void move() {
      place = place + 1;
    }

    synchronized int place() {
      return place;
    }
  }

  private static final class FixedTaxi extends Taxi {
    @Override
    void arrive() {
      move();
      dispatcher.available();
    }
  }

  private static final class Dispatcher {
    private final Taxi taxi;
    private int free;

    Dispatcher(Taxi taxi) {
      this.taxi = taxi;
    }

    synchronized void available() {
      free = free + 1;
    }

    synchronized int image() {
      return taxi.place();
    }
  }
}
