package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Each method of a stack is synchronized, but the look whether it is empty and the pop are two
 * calls.
 *
 * <p>After SCTBench concurrent-software-benchmarks/stack_bad.
 */
final class CheckThenPop {
  static final KnownBug BUG =
      KnownBug.of(
          CheckThenPop.class,
          "SCTBench concurrent-software-benchmarks/stack_bad",
          Kind.ATOMICITY,
          () -> run(new Jobs()),
          () -> run(new FixedJobs()));

  private CheckThenPop() {}

  private static void run(Jobs jobs) throws Exception {
    jobs.push(7);
    Together.run(jobs, Jobs::takeIfAny, Jobs::takeIfAny);
  }

  private static class Jobs {
    private final int[] jobs = new int[4];
    private int size;

    synchronized void push(int job) {
      jobs[size] = job;
      size = size + 1;
    }

    synchronized boolean isEmpty() {
      return size == 0;
    }

    synchronized int pop() {
      size = size - 1;
      return jobs[size];
    }

    void takeIfAny() {
      if (!isEmpty()) {
        Check.equal(7, pop(), "job");
      }
    }
  }

  private static final class FixedJobs extends Jobs {
    @Override
    synchronized void takeIfAny() {
      super.takeIfAny();
    }
  }
}
