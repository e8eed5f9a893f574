package dev.weft.internal.watch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.FiberRegistry;
import dev.weft.internal.sched.LeakProbe;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Finds leaks: fibers that wait for something that nothing alive can reach. Only Weft's registries
 * keep them from the garbage collector. The idea is that of Go's goroutine leak profile (Saioc et
 * al., "Dynamic Partial Deadlock Detection and Recovery via Garbage Collection", ASPLOS 2025).
 *
 * <pre>
 *   weaken      each fiber that waits without a limit, of every scheduler, is held by a weak
 *               reference in its worker's registry, and gets a probe: fiber ──► probe ──► fiber
 *   collect     the collector finds the fibers that nothing else reaches; the probe's finalizer
 *               reports the fiber and makes it reachable again
 *   strengthen  every registry holds its fibers as before
 * </pre>
 *
 * <p>So a check changes nothing: a leaked fiber stays as it was and can be dumped and cancelled,
 * and a cancel runs its {@code finally} blocks. Considered and refused: weak or phantom references
 * alone. They do not return the object, and a finalizer is the only means of the JDK that makes an
 * unreachable object reachable again.
 *
 * <p>What counts as alive: everything that a platform thread, a static field, a running, ready or
 * sleeping fiber, a pending timer or I/O event can reach. A thread that holds a {@link FiberCore}
 * can cancel or schedule it, so the fiber is no leak. A fiber that is blocked at a monitor is never
 * found: the JVM itself holds it.
 *
 * <p>Invariant: the probe puts a fiber, after its weak reference was cleared, back into its
 * registry, however late the finalizer runs.
 */
final class LeakCheck {
  private static final int MOST_COLLECTIONS = 5;
  private static final long FINALIZER_SECONDS = 5;

  /** How long a check waits for other looks that have begun: a toString may block one for ever. */
  private static final long LOOK_SECONDS = 2;

  private static final int ALL = Integer.MAX_VALUE;

  /**
   * A permit for each other look of the watchdog's that refers to many fibers for a while, and all
   * of them for a check: what a thread or a static field refers to is no leak.
   */
  static final Semaphore LOOKS = new Semaphore(ALL);

  // false before the first check, and after a probe was finalized: the finalizer thread may still
  // be in that probe's finalizer, whose frame reaches the fibers that the check has found
  @GuardedBy("LeakCheck.class")
  private static boolean finalizerIsIdle;

  private final List<FiberRegistry.WeakPlace> weakened = new ArrayList<>();
  private final List<FiberCore<?>> leaked = new ArrayList<>();
  private final AtomicInteger missing = new AtomicInteger();

  // how many probes have reported
  @GuardedBy("this")
  private int arrived;

  private LeakCheck() {}

  /**
   * Returns the leaked fibers of all these schedulers. Takes one or two full collections.
   *
   * @throws IllegalStateException if this JVM does not collect or finalize when it is asked to
   */
  static synchronized List<FiberCore<?>> run(Collection<SchedulerCore> schedulers) {
    if (!finalizerIsIdle) {
      Canary.check();
    }
    finalizerIsIdle = false;
    LeakCheck check = new LeakCheck();
    boolean alone = awaitOtherLooks();
    try {
      check.weaken(schedulers);
      collect();
    } finally {
      check.strengthen();
      if (alone) {
        LOOKS.release(ALL);
      }
    }
    finalizerIsIdle = check.missing.get() == 0;
    return check.awaitLeaked();
  }

  /** Returns whether no other look is under way, and none will begin. */
  private static boolean awaitOtherLooks() {
    try {
      return LOOKS.tryAcquire(ALL, LOOK_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void weaken(Collection<SchedulerCore> schedulers) {
    for (SchedulerCore scheduler : schedulers) {
      for (Worker worker : scheduler.workers) {
        weakened.addAll(worker.weakenRegistry(waiting(worker), this::probe));
      }
    }
  }

  private static Set<FiberCore<?>> waiting(Worker worker) {
    Set<FiberCore<?>> waiting = Collections.newSetFromMap(new IdentityHashMap<>());
    worker.forEachFiber(
        fiber -> { // without the duty lock: a look at a stack may make a fiber ready
          if (DeadlockReport.waitsWithoutLimit(fiber)) {
            waiting.add(fiber);
          }
        });
    return waiting;
  }

  private LeakProbe probe(FiberCore<?> fiber, FiberRegistry.WeakPlace place) {
    return new Probe(this, fiber, place);
  }

  /**
   * Collects, at least once, until an object that has just become unreachable is found to be so. At
   * least once, because a collection of the young objects, which other threads may cause at any
   * moment, finds that object but no older ones.
   */
  private static void collect() {
    WeakReference<Object> unreachable = new WeakReference<>(new Object());
    int collections = 0;
    do {
      System.gc();
      collections++;
    } while (collections < MOST_COLLECTIONS && !unreachable.refersTo(null));
  }

  private void strengthen() {
    for (FiberRegistry.WeakPlace place : weakened) {
      FiberCore<?> fiber = place.get();
      if (fiber != null) {
        place.worker.strengthenRegistry(fiber, place);
      } else {
        missing.incrementAndGet(); // the finalizer of its probe will run
      }
    }
  }

  /** Called by the finalizer of a fiber's probe: nothing alive reaches the fiber. */
  private synchronized void found(FiberCore<?> fiber, FiberRegistry.WeakPlace place) {
    if (place.worker.strengthenRegistry(fiber, place)) { // else it has ended before the collection
      leaked.add(fiber);
    }
    arrived++;
    notifyAll();
  }

  private synchronized List<FiberCore<?>> awaitLeaked() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(FINALIZER_SECONDS);
    while (arrived < missing.get() && System.nanoTime() < deadline) {
      try {
        wait(10);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    List<FiberCore<?>> all = new ArrayList<>(leaked);
    all.sort(Comparator.comparingLong(FiberCore::id));
    return all;
  }

  /** Attached to a fiber while that is held weakly; finalized if nothing reaches the fiber. */
  static final class Probe implements LeakProbe {
    private final LeakCheck check;
    private final FiberCore<?> fiber;
    private final FiberRegistry.WeakPlace place;

    Probe(LeakCheck check, FiberCore<?> fiber, FiberRegistry.WeakPlace place) {
      this.check = check;
      this.fiber = fiber;
      this.place = place;
    }

    @Override
    @SuppressWarnings({"removal", "deprecation", "Finalize"}) // see above
    protected void finalize() {
      if (fiber.holds(this)) { // else the check is over, and the fiber was reached
        check.found(fiber, place);
      }
    }
  }

  /**
   * An object whose finalizer tells that this JVM collects and finalizes on System.gc(), and that
   * the finalizer thread has left the finalizers that ran before.
   */
  private static final class Canary {
    private final CountDownLatch dead;

    private Canary(CountDownLatch dead) {
      this.dead = dead;
    }

    static void check() {
      CountDownLatch dead = new CountDownLatch(1);
      WeakReference<Canary> canary = new WeakReference<>(new Canary(dead));
      boolean interrupted = false;
      try {
        for (int i = 0; i < MOST_COLLECTIONS; i++) {
          collect();
          if (canary.refersTo(null)
              && dead.await(FINALIZER_SECONDS * 1000 / MOST_COLLECTIONS, TimeUnit.MILLISECONDS)) {
            return;
          }
        }
      } catch (InterruptedException e) {
        interrupted = true;
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
      throw new IllegalStateException(
          "cannot look for leaked fibers: this JVM does not collect or finalize objects when it is"
              + " asked to; start it without -XX:+DisableExplicitGC and --finalization=disabled");
    }

    @Override
    @SuppressWarnings({"removal", "deprecation", "Finalize"}) // see above
    protected void finalize() {
      dead.countDown();
    }
  }
}
