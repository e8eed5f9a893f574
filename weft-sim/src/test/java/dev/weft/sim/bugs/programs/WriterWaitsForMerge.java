package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A writer takes the write lock of an index and waits for a merge, which needs the read lock.
 *
 * <p>After JaConTeBe LUCENE-1544.
 */
final class WriterWaitsForMerge {
  static final KnownBug BUG =
      KnownBug.of(
          WriterWaitsForMerge.class,
          "JaConTeBe LUCENE-1544",
          Kind.DEADLOCK,
          () -> run(new Index()),
          () -> run(new FixedIndex()));

  private WriterWaitsForMerge() {}

  private static void run(Index index) throws Exception {
    Together.run(index, Index::merge, Index::addIndexes);
  }

  private static class Index {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    final CountDownLatch merged = new CountDownLatch(1);
    private int segments = 2;

    void merge() {
      lock.readLock().lock();
      try {
        segments = 1;
      } finally {
        lock.readLock().unlock();
      }
      merged.countDown();
    }

    void addIndexes() throws InterruptedException {
      lock.writeLock().lock();
      try {
        merged.await();
        segments = segments + 1;
      } finally {
        lock.writeLock().unlock();
      }
    }
  }

  private static final class FixedIndex extends Index {
    @Override
    void addIndexes() throws InterruptedException {
      merged.await();
      super.addIndexes();
    }
  }
}
