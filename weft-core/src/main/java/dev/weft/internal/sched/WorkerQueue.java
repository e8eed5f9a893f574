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
 * The fibers of a worker: its ready queue, its inbox, to which other threads add, and the registry
 * of all fibers that began here and have not ended.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>The ready queue and the registry are touched only under the duty lock, so that another
 *       worker can take over fibers of a stuck worker, and any thread may look.
 *   <li>A fiber is in at most one ready queue or inbox, and in none while a worker runs it: see the
 *       turns in {@link FiberCore}.
 *   <li>No fiber is lost if the ready queue, which may be the user's, throws: a fiber that it does
 *       not take goes to the inbox, and the failure is logged with the next duties.
 * </ul>
 */
abstract class WorkerQueue extends WorkerTimers {
  /** How many fibers to steal at once: so few that the victim's duty lock is held for a moment. */
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

  /** Puts a fiber into the inbox; waits for memory if there is none, or the fiber would be lost. */
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

  /** Returns whether a fiber is in the ready queue or in the inbox. */
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
   * that the worker never has to wait for the sentry: the first wait for a lock that was always
   * free makes the JVM deoptimize the compiled loop.
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
      // Sized in advance: to grow may fail for want of memory, and a taken fiber would be lost.
      List<FiberCore<?>> given = new ArrayList<>(most);
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
        failure = e; // the fibers that the queue has given out are taken over all the same
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

  /** Returns at most so many fibers of the registry, from an index on. */
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

  /** Removes a fiber from the registry of the worker where it began. */
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
        return; // the ready queue threw, and the fiber is in the inbox again
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
   * Puts a fiber into the ready queue. Returns false if the queue threw and the fiber went back to
   * the inbox.
   *
   * @param time when the fiber became ready, maybe on another worker
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

  /** Counts out a fiber that the ready queue has returned. */
  private @Nullable FiberCore<?> taken(@Nullable Fiber<?> given) {
    FiberCore<?> fiber = (FiberCore<?>) given;
    boundReady -= fiber != null && fiber.countedAsBound ? 1 : 0;
    return fiber;
  }

  /** Counts the fibers that other workers could take, and publishes the count. */
  final int countWaiting() {
    int count = readySize() - boundReady;
    waiting = count;
    return count;
  }

  /**
   * Returns the size of the ready queue. If the queue throws, the answer is one more than the bound
   * fibers: this worker and others then look into the queue.
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
