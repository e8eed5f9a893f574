package dev.weft.internal.sched;

import dev.weft.Fiber;
import dev.weft.Policy;
import dev.weft.internal.switching.Pinning;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The fibers of a worker: those that are ready, those that other threads have put into its inbox,
 * and the registry of all that began here and have not ended.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>The ready queue and the registry are touched only under the duty lock, so that another
 *       worker can take over fibers of one that is stuck, and any thread may look.
 *   <li>A fiber is in at most one ready queue or inbox, and in none while a worker runs it: see the
 *       turns in {@link FiberCore}.
 *   <li>No fiber is lost if the ready queue, which may be the user's, throws: a fiber that it does
 *       not take goes to the inbox, and the failure is logged with the next duties.
 * </ul>
 */
abstract class WorkerQueue extends WorkerTimers {
  /** How many fibers to steal at once: what keeps the victim's duty lock only for a moment. */
  private static final int MOST_STOLEN = 256;

  private final MpscUnboundedVarHandleArrayQueue<FiberCore<?>> inbox =
      new MpscUnboundedVarHandleArrayQueue<>(256);

  // these under the duty lock
  private final Policy.ReadyQueue ready;
  private int boundReady; // how many of the ready fibers no other worker may take
  private @Nullable Throwable failure; // what the ready queue threw, until it is reported
  private final FiberRegistry fibers = new FiberRegistry();

  // how many fibers other workers could take, when last counted; read by any thread
  private int waiting;

  WorkerQueue(SchedulerCore scheduler, int index, Policy policy) {
    super(scheduler, index);
    this.ready = policy.newQueue();
  }

  // ---- called on any thread ----

  /** Puts a fiber into the inbox; waits for memory if there is none, since it would be lost. */
  final void offer(FiberCore<?> fiber) {
    while (true) {
      try {
        inbox.offer(fiber);
        return;
      } catch (OutOfMemoryError e) {
        Pinning.nap();
      }
    }
  }

  final boolean inboxIsEmpty() {
    return inbox.isEmpty();
  }

  /** Returns whether a fiber is ready here, or on its way. */
  public final boolean hasReadyOrInbox() {
    return !inbox.isEmpty() || hasReady();
  }

  final boolean hasReady() {
    lock();
    try {
      return readySize() > 0;
    } finally {
      unlock();
    }
  }

  /** Returns whether other workers could take a fiber over. */
  final boolean hasStealable() {
    lock();
    try {
      return readySize() > boundReady;
    } finally {
      unlock();
    }
  }

  /**
   * Returns whether other workers could have taken a fiber over a moment ago. Without the lock, so
   * that the worker never has to wait for the sentry: a first wait for a lock that was always free
   * makes the JVM throw away what it has compiled.
   */
  final boolean seemsToHaveWaiting() {
    return waiting > 0 || !inbox.isEmpty();
  }

  /** Hands out some of the ready fibers, half at most unless all are wanted; bound fibers stay. */
  final List<FiberCore<?>> giveAway(long time, boolean all) {
    lock();
    try {
      takeInbox(time);
      int count = readySize();
      if (count == boundReady) {
        return List.of();
      }
      int most = Math.min(all ? count : (count + 1) / 2, MOST_STOLEN);
      List<FiberCore<?>> given = new ArrayList<>(most); // with room: no taken fiber may be lost
      List<FiberCore<?>> bound = new ArrayList<>(most);
      try {
        for (int i = most; i > 0; i--) {
          FiberCore<?> fiber = taken(ready.nextForOther(time));
          if (fiber == null) {
            break;
          }
          (fiber.isBound() ? bound : given).add(fiber);
        }
      } catch (Throwable e) {
        failure = e; // the fibers it has given out can go
      }
      bound.forEach(fiber -> putReady(fiber, fiber.since));
      countWaiting();
      return given;
    } finally {
      unlock();
    }
  }

  /** Calls the visitor with each fiber that began here and has not ended. */
  public final void forEachFiber(Consumer<FiberCore<?>> visitor) {
    List<FiberCore<?>> found;
    lock();
    try {
      takeInbox(scheduler.clock.nanoTime());
      found = fibers.all();
    } finally {
      unlock();
    }
    found.forEach(visitor);
  }

  /** Returns the fibers that began here and have not ended, from a place of the registry on. */
  public final List<FiberCore<?>> someFibers(int from, int most) {
    lock();
    try {
      return fibers.some(from, most);
    } finally {
      unlock();
    }
  }

  /** Holds the chosen fibers weakly, for a leak check. */
  public final List<FiberRegistry.WeakPlace> weakenRegistry(
      Set<FiberCore<?>> chosen, FiberRegistry.Probes probes) {
    lock();
    try {
      return fibers.weaken((Worker) this, chosen, probes);
    } finally {
      unlock();
    }
  }

  /** Holds a fiber as before the leak check; returns false if it has ended meanwhile. */
  public final boolean strengthenRegistry(FiberCore<?> fiber, FiberRegistry.WeakPlace place) {
    lock();
    try {
      return fibers.strengthen(fiber, place);
    } finally {
      unlock();
    }
  }

  /** Takes a fiber off the registry of the worker where it began. */
  public static void unregister(FiberCore<?> fiber) {
    WorkerQueue at = fiber.registeredAt;
    if (at != null) {
      at.lock();
      try {
        at.fibers.remove(fiber);
        fiber.registeredAt = null;
      } finally {
        at.unlock();
      }
    }
  }

  /** Keeps a failure for the next duties; called without the lock. */
  final void noteFailure(Throwable e) {
    lock();
    try {
      failure = e;
    } finally {
      unlock();
    }
  }

  /** Tells the ready queue how long a slice took, if its policy measures slices. */
  final void noteSlice(FiberCore<?> fiber, long nanos) {
    lock();
    try {
      ready.ran(fiber, nanos);
    } catch (Throwable e) {
      failure = e; // the fiber goes on
    } finally {
      unlock();
    }
  }

  // ---- called under the lock ----

  /** Moves the inbox to the ready queue. */
  final void takeInbox(long time) {
    for (FiberCore<?> fiber = inbox.relaxedPoll(); fiber != null; fiber = inbox.relaxedPoll()) {
      if (!putReady(fiber, time)) {
        return; // it is in the inbox again
      }
    }
  }

  /** Returns what the ready queue threw since the last call, or null. */
  final @Nullable Throwable takeFailure() {
    Throwable taken = failure;
    failure = null;
    return taken;
  }

  /** Puts back a fiber that has run here and is to run again. */
  final void putBack(FiberCore<?> fiber, long now) {
    try {
      ready.addYielded(fiber, now);
    } catch (Throwable e) {
      keepForLater(fiber, e);
      return;
    }
    countBound(fiber);
  }

  /**
   * Puts a fiber that is ready since then; a fiber that comes from another worker keeps its age.
   * Returns false if it has to be tried again.
   */
  final boolean putReady(FiberCore<?> fiber, long time) {
    return putReady(fiber, time, false);
  }

  final boolean putReady(FiberCore<?> fiber, long time, boolean begunHere) {
    fiber.since = time;
    try {
      register(fiber);
      if (begunHere) {
        ready.addNew(fiber, time);
      } else {
        ready.add(fiber, time);
      }
    } catch (Throwable e) {
      keepForLater(fiber, e);
      return false;
    }
    countBound(fiber);
    return true;
  }

  private void keepForLater(FiberCore<?> fiber, Throwable e) {
    failure = e;
    addRemote(fiber);
  }

  /** Hands a fiber to this worker from any other thread. */
  abstract void addRemote(FiberCore<?> fiber);

  private void countBound(FiberCore<?> fiber) {
    fiber.countedAsBound = fiber.isBound();
    boundReady += fiber.countedAsBound ? 1 : 0;
  }

  /** Takes the fiber that is to run next, or null if none is ready. */
  final @Nullable FiberCore<?> takeReady(long time) {
    return taken(ready.next(time));
  }

  /** Takes note of a fiber that the ready queue has given out. */
  private @Nullable FiberCore<?> taken(@Nullable Fiber<?> given) {
    FiberCore<?> fiber = (FiberCore<?>) given;
    boundReady -= fiber != null && fiber.countedAsBound ? 1 : 0;
    return fiber;
  }

  /** Counts the fibers that others could take, and leaves the number for lock-free looks. */
  final int countWaiting() {
    int count = readySize() - boundReady;
    waiting = count;
    return count;
  }

  /**
   * Asks the ready queue how many fibers it has. If it fails to say, this is one more than are
   * bound: then this worker and others look, and find what there is.
   */
  final int readySize() {
    try {
      return ready.size();
    } catch (Throwable e) {
      failure = e;
      return boundReady + 1;
    }
  }

  final int readyAndInbox() {
    return readySize() + inbox.size();
  }

  private void register(FiberCore<?> fiber) {
    if (fiber.registeredAt == null) {
      fibers.add(fiber);
      fiber.registeredAt = (Worker) this;
    }
  }
}
