package dev.weft.sim.bugs.programs;

import dev.weft.channel.Channel;
import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A status is sent while a lock is held; the receiver needs the lock before it receives again.
 *
 * <p>After GoKer kubernetes/10182, moby/28462.
 */
final class LockAcrossSend {
  static final KnownBug BUG =
      KnownBug.of(
          LockAcrossSend.class,
          "GoKer kubernetes/10182, moby/28462",
          Kind.COMMUNICATION,
          () -> run(new Pods()),
          () -> run(new FixedPods()));

  private LockAcrossSend() {}

  private static void run(Pods pods) throws Exception {
    Together.run(pods, Pods::sync, Pods::set, Pods::set);
    Check.equal(2, pods.changes, "changes");
  }

  private static class Pods {
    private final ReentrantLock lock = new ReentrantLock();
    final Channel<String> updates = Channel.rendezvous();
    int changes;
    private int synced;

    void set() throws InterruptedException {
      lock.lock();
      try {
        changes = changes + 1;
        updates.send("changed");
      } finally {
        lock.unlock();
      }
    }

    final void change() {
      lock.lock();
      try {
        changes = changes + 1;
      } finally {
        lock.unlock();
      }
    }

    void sync() throws InterruptedException {
      for (int i = 0; i < 2; i++) {
        updates.receive();
        lock.lock();
        try {
          synced = synced + 1;
        } finally {
          lock.unlock();
        }
      }
    }
  }

  private static final class FixedPods extends Pods {
    @Override
    void set() throws InterruptedException {
      change();
      updates.send("changed");
    }
  }
}
