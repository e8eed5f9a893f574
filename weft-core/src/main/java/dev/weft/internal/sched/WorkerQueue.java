package dev.weft.internal.sched;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Fiber;
import dev.weft.Policy;
import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.switching.Pinning;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
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
 *
 * <p>The file is long because all ways into and out of what the duty lock guards are meant to be
 * read in one place.
 */
abstract class WorkerQueue extends WorkerTimers {
  /** How long fibers may wait in this queue before a wake-up of another worker pays. */
  private static final long CROWD_NANOS = 20_000;

  /** How many fibers are a crowd, however short their slices. */
  private static final int CROWD = 64;

  /** How many fibers to steal at once: so few that the victim's duty lock is held for a moment. */
  private static final int MOST_STOLEN = 256;

  /** How many ended fibers other workers' registries keep at most. */
  private static final int MOST_ENDED = 64;

  /**
   * How many fibers a thread that lists all fibers looks at before it frees the lock for a moment.
   */
  private static final int PIECE = 256;

  private final MpscUnboundedVarHandleArrayQueue<FiberCore<?>> inbox =
      new MpscUnboundedVarHandleArrayQueue<>(256);

  // "this" is the duty lock

  @GuardedBy("this")
  private final Policy.ReadyQueue ready;

  // how many of the ready fibers no other worker may take
  @GuardedBy("this")
  private int boundReady;

  // what the ready queue threw, until it is reported
  @GuardedBy("this")
  private @Nullable Throwable failure;

  @GuardedBy("this")
  private final FiberRegistry fibers = new FiberRegistry();

  // how many fibers other workers could take, when last counted: written under the duty lock, read
  // without it by any thread
  private int waiting;

  // fibers that ended here and are still in other workers' registries; this worker's thread only
  private final @Nullable FiberCore<?>[] ended = new FiberCore<?>[MOST_ENDED];
  private int endedElsewhere;

  // how long a slice took on average in the last batch; written by its thread, read by any
  private long usualSlice = 1_000;

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

  /**
   * Returns whether so many waiting fibers are worth the wake-up of another worker. A few fibers
   * with short slices are not: as a rule they talk to each other, and finish before the other
   * worker wakes. If they do not, the {@link Sentry} notices.
   */
  final boolean isCrowd(int count) {
    return count > 1 && (count >= CROWD || count * usualSlice >= CROWD_NANOS);
  }

  /** Returns whether other workers had better take some of the waiting fibers. */
  final boolean isCrowded() {
    return isCrowd(waiting);
  }

  /** Returns whether a fiber would wait here for longer than it takes to wake another worker. */
  final boolean hasLongSlices() {
    return usualSlice >= CROWD_NANOS;
  }

  /** Notes how long the slices of a batch took; called on this worker's thread. */
  final void noteBatch(long nanos, long slicesRun) {
    if (slicesRun > 0) {
      usualSlice = nanos / slicesRun;
    }
  }

  /** Hands out some of the ready fibers, half at most unless all are wanted; bound fibers stay. */
  final List<FiberCore<?>> giveAway(long time, boolean all) {
    lock();
    try {
      takeInbox(time);
      int count = readySize();
      if (count == boundReady) {
        countWaiting(); // or the sentry would look for a fiber that has been taken already
        return List.of();
      }
      int most = Math.min(all ? count : (count + 1) / 2, MOST_STOLEN);
      // Sized in advance: growing may throw OutOfMemoryError, and a taken fiber would be lost.
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
      for (FiberCore<?> fiber : bound) {
        putReady(fiber, fiber.since);
      }
      countWaiting();
      return given;
    } finally {
      unlock();
    }
  }

  /**
   * Calls the visitor with each fiber that began here and has not ended. The lock is held for a
   * piece of the registry at a time, since the worker waits meanwhile. From the last place to the
   * first: the fiber that fills the place of one that ends comes from a later place, so no fiber is
   * missed; but such a fiber may be visited twice. Fibers that another worker has ended, and is
   * about to unregister, are left out.
   */
  public final void forEachFiber(Consumer<FiberCore<?>> visitor) {
    anyFiber(
        fiber -> {
          visitor.accept(fiber);
          return false;
        });
  }

  /**
   * Tries the fibers in the order of {@link #forEachFiber} until the condition is true of one;
   * returns whether it was.
   */
  public final boolean anyFiber(Predicate<FiberCore<?>> condition) {
    takeInboxInPieces();
    int end = Integer.MAX_VALUE;
    while (end > 0) {
      @Nullable Object[] piece = new @Nullable Object[0];
      lock();
      LookHolds hold = LookHolds.begin();
      try {
        end = Math.min(end, fibers.size());
        int begin = Math.max(0, end - PIECE);
        piece = fibers.copy(begin, end - begin);
        end = begin;
      } finally {
        LookHolds.end(hold, piece.length);
        unlock();
      }
      for (FiberCore<?> fiber : FiberRegistry.fibersIn(piece)) {
        if (!fiber.hasLeft() && condition.test(fiber)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Registers the fibers that are in the inbox now. */
  private void takeInboxInPieces() {
    int left = inbox.size();
    do {
      lock();
      LookHolds hold = LookHolds.begin();
      int taken = 0;
      try {
        taken = takeInbox(scheduler.clock.nanoTime(), PIECE);
      } finally {
        LookHolds.end(hold, taken);
        unlock();
      }
      left -= PIECE;
    } while (left > 0);
  }

  /** Returns at most so many fibers of the registry, from an index on. */
  public final List<FiberCore<?>> someFibers(int from, int most) {
    @Nullable Object[] places = new @Nullable Object[0];
    lock();
    LookHolds hold = LookHolds.begin();
    try {
      places = fibers.copy(from, most);
    } finally {
      LookHolds.end(hold, places.length);
      unlock();
    }
    return FiberRegistry.fibersIn(places);
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

  /**
   * Removes a fiber that has ended here from the registry; from another worker's registry not at
   * once but with others, because a lock for each of many short fibers that were stolen would hold
   * up that worker.
   */
  final void unregisterEnded(FiberCore<?> fiber) {
    if (fiber.registeredAt == this) {
      unregister(fiber);
      return;
    }
    if (endedElsewhere == ended.length) {
      unregisterEnded();
    }
    ended[endedElsewhere++] = fiber;
  }

  /** Removes the fibers that have ended here from other workers' registries. */
  final void unregisterEnded() {
    for (int i = 0; i < endedElsewhere; ) {
      WorkerQueue at = ended[i].registeredAt;
      if (at == null) {
        ended[i++] = null;
        continue;
      }
      at.lock();
      try {
        while (i < endedElsewhere && ended[i].registeredAt == at) {
          at.fibers.remove(ended[i]);
          ended[i].registeredAt = null;
          ended[i++] = null;
        }
      } finally {
        at.unlock();
      }
    }
    endedElsewhere = 0;
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
  @GuardedBy("this")
  final void takeInbox(long time) {
    takeInbox(time, Integer.MAX_VALUE);
  }

  /** Returns how many fibers it has taken. */
  @GuardedBy("this")
  private int takeInbox(long time, int most) {
    int taken = 0;
    while (taken < most) {
      FiberCore<?> fiber = inbox.relaxedPoll();
      if (fiber == null || !putReady(fiber, time)) {
        break; // no more; or the ready queue threw, and the fiber is in the inbox again
      }
      taken++;
    }
    if (taken > 0) {
      countWaiting(); // the sentry does not see them in the inbox any more
    }
    return taken;
  }

  /** Returns what the ready queue threw since the last call, or null. */
  @GuardedBy("this")
  final @Nullable Throwable takeFailure() {
    Throwable taken = failure;
    failure = null;
    return taken;
  }

  /** Puts back a fiber that has run here and is to run again. */
  @GuardedBy("this")
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
  @GuardedBy("this")
  final boolean putReady(FiberCore<?> fiber, long time) {
    return putReady(fiber, time, false);
  }

  @GuardedBy("this")
  final boolean putReady(FiberCore<?> fiber, long time, boolean begunHere) {
    if (FlightEvents.recording() && fiber.since != 0) {
      FlightEvents.noteWait(fiber, time - fiber.since);
    }
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

  @GuardedBy("this")
  private void keepForLater(FiberCore<?> fiber, Throwable e) {
    failure = e;
    addRemote(fiber);
  }

  /** Hands a fiber to this worker from any other thread. */
  abstract void addRemote(FiberCore<?> fiber);

  @GuardedBy("this")
  private void countBound(FiberCore<?> fiber) {
    fiber.countedAsBound = fiber.isBound();
    boundReady += fiber.countedAsBound ? 1 : 0;
  }

  /** Takes the fiber that is to run next, or null if none is ready. */
  @GuardedBy("this")
  final @Nullable FiberCore<?> takeReady(long time) {
    return taken(ready.next(time));
  }

  /** Counts out a fiber that the ready queue has returned. */
  @GuardedBy("this")
  private @Nullable FiberCore<?> taken(@Nullable Fiber<?> given) {
    FiberCore<?> fiber = (FiberCore<?>) given;
    boundReady -= fiber != null && fiber.countedAsBound ? 1 : 0;
    return fiber;
  }

  /** Counts the fibers that other workers could take, and publishes the count. */
  @GuardedBy("this")
  final int countWaiting() {
    int count = readySize() - boundReady;
    waiting = count;
    return count;
  }

  /**
   * Returns the size of the ready queue. If the queue throws, the answer is one more than the bound
   * fibers: this worker and others then look into the queue.
   */
  @GuardedBy("this")
  final int readySize() {
    try {
      return ready.size();
    } catch (Throwable e) {
      failure = e;
      return boundReady + 1;
    }
  }

  @GuardedBy("this")
  final int readyAndInbox() {
    return readySize() + inbox.size();
  }

  @GuardedBy("this")
  private void register(FiberCore<?> fiber) {
    if (fiber.registeredAt == null) {
      fibers.add(fiber);
      fiber.registeredAt = (Worker) this;
    }
  }
}
