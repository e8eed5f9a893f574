package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A driver stops when no request is under way; a request looks at the stop flag and counts itself
 * in two steps, so that it runs on a driver that has stopped.
 *
 * <p>After SCTBench concurrent-software-benchmarks/bluetooth_driver_bad.
 */
final class DriverStop {
  static final KnownBug BUG =
      KnownBug.of(
          DriverStop.class,
          "SCTBench concurrent-software-benchmarks/bluetooth_driver_bad",
          Kind.ATOMICITY,
          () -> run(new Driver()),
          () -> run(new FixedDriver()));

  private DriverStop() {}

  private static void run(Driver driver) throws Exception {
    Together.run(driver, Driver::request, Driver::stop);
  }

  private static class Driver {
    private int pending = 1; // the driver itself counts as one
    private boolean stopping;
    private boolean stopped;

    boolean enter() {
      if (stopping) {
        return false;
      }
      synchronized (this) {
        pending = pending + 1;
      }
      return true;
    }

    private synchronized void leave() {
      pending = pending - 1;
      if (pending == 0) {
        stopped = true;
        notifyAll();
      }
    }

    void request() {
      if (enter()) {
        Check.that(!stopped, "a request runs on a stopped driver");
        leave();
      }
    }

    void stop() throws InterruptedException {
      synchronized (this) {
        stopping = true;
      }
      leave();
      synchronized (this) {
        while (!stopped) {
          wait();
        }
      }
    }
  }

  private static final class FixedDriver extends Driver {
    @Override
    synchronized boolean enter() {
      return super.enter();
    }
  }
}
