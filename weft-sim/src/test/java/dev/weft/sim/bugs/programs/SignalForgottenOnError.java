package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The activation of a plugin wakes the threads that wait for it, but not if it fails.
 *
 * <p>After GoKer moby/30408.
 */
final class SignalForgottenOnError {
  static final KnownBug BUG =
      KnownBug.of(
          SignalForgottenOnError.class,
          "GoKer moby/30408",
          Kind.LOST_WAKE_UP,
          () -> run(new Plugin()),
          () -> run(new FixedPlugin()));

  private SignalForgottenOnError() {}

  private static void run(Plugin plugin) throws Exception {
    Together.run(plugin, Plugin::awaitActive, Plugin::activate, Plugin::remove);
  }

  private static class Plugin {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition decided = lock.newCondition();
    private boolean removed;
    private boolean active;
    private boolean failed;

    void awaitActive() throws InterruptedException {
      lock.lock();
      try {
        while (!active && !failed) {
          decided.await();
        }
      } finally {
        lock.unlock();
      }
    }

    void activate() {
      lock.lock();
      try {
        if (removed) {
          failed = true;
          afterFailure();
          return;
        }
        active = true;
        decided.signalAll();
      } finally {
        lock.unlock();
      }
    }

    void afterFailure() {}

    void remove() {
      lock.lock();
      try {
        removed = true;
      } finally {
        lock.unlock();
      }
    }

    void wakeAll() {
      decided.signalAll();
    }
  }

  private static final class FixedPlugin extends Plugin {
    @Override
    void afterFailure() {
      wakeAll();
    }
  }
}
