package dev.weft.stress.sim;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;

/** The fibers of a program, and its checks. Used by the program's main fiber. */
final class Party {
  private final List<Fiber<Void>> fibers = new ArrayList<>();

  /** Starts a fiber. */
  Fiber<Void> go(String name, Body body) {
    Fiber<Void> fiber =
        Fiber.current().orElseThrow().scheduler().go(FiberOptions.named(name), body);
    fibers.add(fiber);
    return fiber;
  }

  /** Waits for all fibers; a fiber that was cancelled is no failure, any other end is. */
  void join() throws InterruptedException {
    for (Fiber<Void> fiber : fibers) {
      try {
        fiber.join();
      } catch (CancellationException e) {
        check(fiber.isCancelled(), fiber.name() + " ends as cancelled, and was not");
      } catch (CompletionException e) {
        throw new AssertionError(fiber.name() + " fails: " + e.getCause(), e.getCause());
      }
    }
  }

  static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  static void equal(Object actual, Object expected, String what) {
    check(actual.equals(expected), what + ": " + actual + ", not " + expected);
  }
}
