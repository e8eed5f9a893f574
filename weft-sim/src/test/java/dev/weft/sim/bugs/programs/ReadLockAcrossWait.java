package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A worker waits for a job and keeps a read lock; a writer queues behind it, and the reader that
 * would bring the job queues behind the writer.
 *
 * <p>After GoKer kubernetes/58107.
 */
final class ReadLockAcrossWait {
  static final KnownBug BUG =
      KnownBug.of(
          ReadLockAcrossWait.class,
          "GoKer kubernetes/58107",
          Kind.DEADLOCK,
          () -> run(new Quota()),
          () -> run(new FixedQuota()));

  private ReadLockAcrossWait() {}

  private static void run(Quota quota) throws Exception {
    Together.run(quota, Quota::work, Quota::submit, Quota::configure);
  }

  private static class Quota {
    final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    final Semaphore jobs = new Semaphore(0);
    private int version;

    void work() throws InterruptedException {
      lock.readLock().lock();
      try {
        jobs.acquire();
        readVersion();
      } finally {
        lock.readLock().unlock();
      }
    }

    int readVersion() {
      return version;
    }

    void submit() {
      lock.readLock().lock();
      try {
        jobs.release();
      } finally {
        lock.readLock().unlock();
      }
    }

    void configure() {
      lock.writeLock().lock();
      try {
        version = version + 1;
      } finally {
        lock.writeLock().unlock();
      }
    }
  }

  private static final class FixedQuota extends Quota {
    @Override
    void work() throws InterruptedException {
      jobs.acquire();
      lock.readLock().lock();
      try {
        readVersion();
      } finally {
        lock.readLock().unlock();
      }
    }
  }
}
