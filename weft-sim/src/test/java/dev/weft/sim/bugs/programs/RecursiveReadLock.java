package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A reader has a helper read under the same read lock, and waits for it; a writer that waits for
 * the reader is before the helper.
 *
 * <p>After GoKer cockroach/3710, kubernetes/62464.
 */
final class RecursiveReadLock {
  static final KnownBug BUG =
      KnownBug.of(
          RecursiveReadLock.class,
          "GoKer cockroach/3710, kubernetes/62464",
          Kind.DEADLOCK,
          () -> run(new Store()),
          () -> run(new FixedStore()));

  private RecursiveReadLock() {}

  private static void run(Store store) throws Exception {
    Together.run(store, Store::scan, Store::append);
  }

  private static class Store {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private int entries;

    void scan() throws InterruptedException {
      lock.readLock().lock();
      try {
        Thread helper = Together.factory().newThread(this::status);
        helper.start();
        helper.join();
      } finally {
        lock.readLock().unlock();
      }
    }

    int status() {
      lock.readLock().lock();
      try {
        return count();
      } finally {
        lock.readLock().unlock();
      }
    }

    int count() {
      return entries;
    }

    void append() {
      lock.writeLock().lock();
      try {
        entries = entries + 1;
      } finally {
        lock.writeLock().unlock();
      }
    }
  }

  private static final class FixedStore extends Store {
    @Override
    int status() {
      return count(); // the reader holds the lock for its helper
    }
  }
}
