package dev.weft.sim.bugs.programs;

import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sync.WaitGroup;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Fibers add themselves to a wait group after they have started: the group may be waited for before
 * the first of them has come.
 *
 * <p>After GoKer cockroach/4407.
 */
final class WaitGroupAddInside {
  static final KnownBug BUG =
      KnownBug.of(
          WaitGroupAddInside.class,
          "GoKer cockroach/4407",
          Kind.ORDER,
          () -> run(new Workers()),
          () -> run(new FixedWorkers()));

  private WaitGroupAddInside() {}

  private static void run(Workers workers) throws Exception {
    Fiber<Void> first = workers.start();
    Fiber<Void> second = workers.start();
    workers.group.await();
    int finished = workers.finished.get();
    first.join();
    second.join();
    Check.equal(2, finished, "finished workers");
  }

  private static class Workers {
    final WaitGroup group = new WaitGroup();
    final AtomicInteger finished = new AtomicInteger();

    Fiber<Void> start() {
      return Weft.go(
          () -> {
            group.add(1);
            work();
          });
    }

    void work() {
      finished.incrementAndGet();
      group.done();
    }
  }

  private static final class FixedWorkers extends Workers {
    @Override
    Fiber<Void> start() {
      group.add(1);
      return Weft.go(this::work);
    }
  }
}
