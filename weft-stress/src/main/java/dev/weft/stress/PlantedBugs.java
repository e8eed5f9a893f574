package dev.weft.stress;

import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Deliberate bugs, one of each kind, in the same parts as the real classes: only a checker that
 * finds these bugs can be trusted when it finds nothing.
 */
final class PlantedBugs {
  private PlantedBugs() {}

  /** A lock that counts the operations under it. */
  private abstract static class Lock {
    final SpinLock guard = new SpinLock();
    final WaitQueue queue = new WaitQueue(guard, "the lock of", "a planted bug");
    volatile boolean held;

    abstract void lock();

    final void unlock() {
      WaitNode next;
      guard.lock();
      try {
        next = queue.poll();
        held = next != null;
      } finally {
        guard.unlock();
      }
      if (next != null) {
        next.wake();
      }
    }
  }

  /**
   * A thread decides under the guard that it has to wait, but joins the queue only later: a lost
   * wake-up.
   */
  public static class LostWakeUp {
    private int count;
    private final Lock lock =
        new Lock() {
          @Override
          void lock() {
            guard.lock();
            try {
              if (!held) {
                held = true;
                return;
              }
            } finally {
              guard.unlock();
            }
            Waiter waiter = new Waiter(FiberCore.currentOrNull());
            guard.lock();
            try {
              queue.add(waiter);
            } finally {
              guard.unlock();
            }
            waiter.awaitUninterruptibly(queue);
          }
        };

    @Operation
    public int next() {
      lock.lock();
      try {
        return ++count;
      } finally {
        lock.unlock();
      }
    }
  }

  /** Two threads see the lock free before one of them takes it. */
  public static class BrokenExclusion {
    private int count;
    private final Lock lock =
        new Lock() {
          @Override
          void lock() {
            if (!held) {
              held = true; // not atomic
              return;
            }
            Waiter waiter = new Waiter(FiberCore.currentOrNull());
            guard.lock();
            try {
              if (!held) {
                held = true;
                return;
              }
              queue.add(waiter);
            } finally {
              guard.unlock();
            }
            waiter.awaitUninterruptibly(queue);
          }
        };

    @Operation
    public int next() {
      lock.lock();
      try {
        return ++count;
      } finally {
        lock.unlock();
      }
    }
  }

  /** A place for one value, in which one sender overwrites the value of another. */
  public static class LostValue {
    private volatile @Nullable Integer value;

    @Operation
    public boolean put(int number) {
      if (value != null) {
        return false;
      }
      value = number;
      return true;
    }

    @Operation
    public synchronized @Nullable Integer take() {
      Integer taken = value;
      value = null;
      return taken;
    }
  }

  /** A place for one value, which two receivers take. */
  public static class DoubleHandOver {
    private volatile @Nullable Integer value;

    @Operation
    public synchronized boolean put(int number) {
      if (value != null) {
        return false;
      }
      value = number;
      return true;
    }

    @Operation
    public @Nullable Integer take() {
      Integer taken = value;
      value = null; // not atomic
      return taken;
    }
  }
}
