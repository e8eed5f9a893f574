package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A thread waits in an inner monitor and keeps the outer one, which the thread that would notify it
 * needs.
 *
 * <p>After the classic nested monitor lockout.
 */
final class NestedMonitor {
  static final KnownBug BUG =
      KnownBug.of(
          NestedMonitor.class,
          "the classic nested monitor lockout",
          Kind.DEADLOCK,
          () -> run(new Office()),
          () -> run(new FixedOffice()));

  private NestedMonitor() {}

  private static void run(Office office) throws Exception {
    Together.run(office, Office::take, Office::put);
  }

  private static class Office {
    private final Object tray = new Object();
    private int letters;

    void take() throws InterruptedException {
      synchronized (this) {
        takeFromTray();
      }
    }

    void takeFromTray() throws InterruptedException {
      synchronized (tray) {
        while (letters == 0) {
          tray.wait();
        }
        letters = letters - 1;
      }
    }

    void put() {
      synchronized (this) {
        synchronized (tray) {
          letters = letters + 1;
          tray.notifyAll();
        }
      }
    }
  }

  private static final class FixedOffice extends Office {
    @Override
    void take() throws InterruptedException {
      takeFromTray();
    }
  }
}
