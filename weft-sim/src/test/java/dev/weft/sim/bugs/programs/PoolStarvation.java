package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Tasks wait for subtasks in the same pool of two threads; two such tasks at once leave no thread.
 *
 * <p>After Java Concurrency in Practice, listing 8.1 (ThreadDeadlock).
 */
final class PoolStarvation {
  static final KnownBug BUG =
      KnownBug.of(
          PoolStarvation.class,
          "Java Concurrency in Practice, listing 8.1 (ThreadDeadlock)",
          Kind.DEADLOCK,
          () -> run(Pools.shared()),
          () -> run(Pools.separate()));

  private PoolStarvation() {}

  private static void run(Pools pools) throws Exception {
    try (pools) {
      Future<Integer> first = pools.pages.submit(pools::renderPage);
      Future<Integer> second = pools.pages.submit(pools::renderPage);
      Check.equal(2, first.get() + second.get(), "parts");
    }
  }

  private record Pools(ExecutorService pages, ExecutorService parts) implements AutoCloseable {
    static Pools shared() {
      ExecutorService both = Executors.newFixedThreadPool(2, Together.factory());
      return new Pools(both, both);
    }

    static Pools separate() {
      return new Pools(
          Executors.newFixedThreadPool(2, Together.factory()),
          Executors.newFixedThreadPool(2, Together.factory()));
    }

    int renderPage() throws InterruptedException, ExecutionException {
      return parts.submit(() -> 1).get();
    }

    @Override
    public void close() {
      pages.shutdown();
      parts.shutdown();
    }
  }
}
