package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A table of locks is itself guarded by a lock, which a thread keeps while it waits for the lock of
 * an address; the owner of that lock needs the table to give it back.
 *
 * <p>After GoKer hugo/3251.
 */
final class LockOfLocks {
  static final KnownBug BUG =
      KnownBug.of(
          LockOfLocks.class,
          "GoKer hugo/3251",
          Kind.DEADLOCK,
          () -> run(new UrlLocks()),
          () -> run(new FixedUrlLocks()));

  private LockOfLocks() {}

  private static void run(UrlLocks locks) throws Exception {
    Together.run(locks, UrlLocks::fetch, UrlLocks::fetch);
    Check.equal(2, locks.fetched, "fetched");
  }

  private static class UrlLocks {
    private final ReentrantLock table = new ReentrantLock();
    private final Map<String, Semaphore> locks = new HashMap<>();
    int fetched;

    final Semaphore lockOf(String url) {
      table.lock();
      try {
        return locks.computeIfAbsent(url, _ -> new Semaphore(1));
      } finally {
        table.unlock();
      }
    }

    void lock(String url) throws InterruptedException {
      table.lock();
      try {
        lockOf(url).acquire();
      } finally {
        table.unlock();
      }
    }

    void fetch() throws InterruptedException {
      lock("a");
      fetched = fetched + 1;
      lockOf("a").release();
    }
  }

  private static final class FixedUrlLocks extends UrlLocks {
    @Override
    void lock(String url) throws InterruptedException {
      lockOf(url).acquire();
    }
  }
}
