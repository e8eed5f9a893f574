package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * A promise says that it is done before it holds its result; a reader that does not lock sees none.
 *
 * <p>After JaConTeBe JDK-7132378 (FutureTask with an explicit set).
 */
final class DoneBeforeResult {
  static final KnownBug BUG =
      KnownBug.of(
          DoneBeforeResult.class,
          "JaConTeBe JDK-7132378 (FutureTask with an explicit set)",
          Kind.ORDER,
          () -> run(new Promise()),
          () -> run(new FixedPromise()));

  private DoneBeforeResult() {}

  private static void run(Promise promise) throws Exception {
    Together.run(promise, p -> p.set("result"), p -> Check.equal("result", p.get(), "result"));
  }

  private static class Promise {
    volatile boolean done;
    volatile String result;

    void set(String value) {
      synchronized (this) {
        publish(value);
        notifyAll();
      }
    }

    void publish(String value) {
      done = true;
      result = value;
    }

    String get() throws InterruptedException {
      if (!done) {
        synchronized (this) {
          while (!done) {
            wait();
          }
        }
      }
      return result;
    }
  }

  private static final class FixedPromise extends Promise {
    @Override
    void publish(String value) {
      result = value;
      done = true;
    }
  }
}
