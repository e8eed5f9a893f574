package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.locks.StampedLock;

/**
 * A reader reads two coordinates optimistically and forgets to ask whether a writer came between.
 *
 * <p>After the optimistic read of StampedLock without its validation.
 */
final class OptimisticRead {
  static final KnownBug BUG =
      KnownBug.of(
          OptimisticRead.class,
          "the optimistic read of StampedLock without its validation",
          Kind.ATOMICITY,
          () -> run(new Point()),
          () -> run(new FixedPoint()));

  private OptimisticRead() {}

  private static void run(Point point) throws Exception {
    Together.run(point, Point::move, p -> Check.equal(0, p.distance(), "distance"));
  }

  private static class Point {
    final StampedLock lock = new StampedLock();
    private int x;
    private int y;

    void move() {
      long stamp = lock.writeLock();
      try {
        x = x + 1;
        y = y + 1;
      } finally {
        lock.unlockWrite(stamp);
      }
    }

    int distance() {
      return lock.tryOptimisticRead() == 0 ? lockedDistance() : difference();
    }

    int lockedDistance() {
      long stamp = lock.readLock();
      try {
        return difference();
      } finally {
        lock.unlockRead(stamp);
      }
    }

    int difference() {
      return x - y;
    }
  }

  private static final class FixedPoint extends Point {
    @Override
    int distance() {
      long stamp = lock.tryOptimisticRead();
      int difference = difference();
      return lock.validate(stamp) ? difference : lockedDistance();
    }
  }
}
