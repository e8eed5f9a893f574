package dev.weft.internal.sched;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Which worker of a scheduler gets a fiber or a timer: see decision 0032. */
final class Placement {
  /** At how many workers to look for a free one: each may cost a cache miss, at each start. */
  private static final int MOST_LOOKS = 8;

  private final Worker[] workers;

  // the workers, repeated to a power of two: a thread id selects one without a division, which
  // would take longer than all the rest. The mask is a field of its own and not read from the
  // array's length, because that load would wait for the load of the array
  private final Worker[] byThread;
  private final int threadMask;
  private final boolean steals;
  private final boolean useCaller;

  // counts the fibers that plain threads start: selects the worker of the next one
  private final AtomicInteger next = new AtomicInteger();

  Placement(Worker[] workers, boolean steals, boolean useCaller) {
    this.workers = workers;
    this.byThread = new Worker[4 * Integer.highestOneBit(workers.length)];
    this.threadMask = byThread.length - 1;
    Arrays.setAll(byThread, i -> workers[i % workers.length]);
    this.steals = steals;
    this.useCaller = useCaller;
  }

  /**
   * Returns the worker of a new fiber. Under work stealing that is the worker of the fiber that
   * starts it; if a plain thread starts it, a worker that is awake and about to be free, else one
   * that sleeps. Without work stealing, and if all workers are busy, it is the next worker in turn,
   * skipping a stuck worker and a caller thread that does not serve yet.
   *
   * @param here the worker of this scheduler that runs the starting fiber, if any
   */
  Worker forNew(@Nullable Worker here) {
    if (workers.length == 1) {
      return workers[0];
    }
    if (steals && here != null) {
      return here;
    }
    int i = Math.floorMod(here != null ? here.nextPlace++ : next.getAndIncrement(), workers.length);
    Worker free = steals ? freeFrom(i) : null;
    if (free != null) {
      return free;
    }
    Worker dealt = workers[i];
    return isAway(dealt) || dealt.stuck ? workers[(i + 1) % workers.length] : dealt;
  }

  /**
   * Returns the first worker from an index on that is awake and about to be free, else the first
   * that sleeps, else null. An awake worker comes first because the plain thread would pay for the
   * wake-up of a sleeping worker, which takes longer than a short slice.
   */
  private @Nullable Worker freeFrom(int start) {
    Worker sleeper = null;
    int looks = Math.min(workers.length, MOST_LOOKS);
    for (int k = 0; k < looks; k++) {
      Worker worker = workers[(start + k) % workers.length];
      if (isAway(worker)) {
        continue;
      }
      if (worker.isAsleep()) {
        sleeper = sleeper == null ? worker : sleeper;
      } else if (isAboutToBeFree(worker)) {
        return worker;
      }
    }
    return sleeper;
  }

  /** Returns whether an awake worker would soon run a fiber that is queued there now. */
  private static boolean isAboutToBeFree(Worker worker) {
    return !worker.stuck
        && !worker.seemsToHaveWaiting()
        && (worker.running() == 0 || !worker.hasLongSlices());
  }

  /** Returns the worker for timers that the current, plain thread sets: always the same one. */
  Worker forThread() {
    Worker own = byThread[(int) Thread.currentThread().threadId() & threadMask];
    return isAway(own) ? workers[workers.length - 1] : own;
  }

  private boolean isAway(Worker worker) {
    return useCaller && worker.index == 0 && !worker.isServing();
  }

  /**
   * Returns where to queue a fiber that has become ready: at its home worker. But if the home
   * worker sleeps and the waking worker has nothing else to run, the fiber goes to the waking
   * worker: two fibers that talk to each other end up on one thread and need no wake-ups. If the
   * fiber then has to wait behind a long slice, the {@link Sentry} takes it over. And a fiber that
   * waited for a socket goes to the worker that polls the socket, although another worker may have
   * taken the fiber over meanwhile: each of its events would cross threads otherwise.
   *
   * @param here the current thread's worker, of any scheduler, if it has one
   */
  Worker forReady(FiberCore<?> fiber, @Nullable Worker here) {
    int bound = fiber.boundThread();
    if (bound >= 0 && bound < workers.length) {
      return workers[bound];
    }
    Worker home = fiber.home;
    if (isForeign(home)) { // schedule(fiber, thread) met it as it moved here
      home = forNew(null);
      fiber.home = home;
    }
    if (here == null || here == home || isForeign(here)) {
      return home;
    }
    if (steals || (!fiber.isNew() && (here.polls() || (home.isAsleep() && !here.hasReady())))) {
      fiber.home = here;
      return here;
    }
    return home;
  }

  /**
   * Gives a fiber that a plain thread wakes a sleeping worker as its home, if its home is awake and
   * not about to be free. A fiber that another fiber wakes needs no such look: it goes to the
   * waker's worker, and its own worker steals it if that takes too long.
   */
  void leaveBusyHome(FiberCore<?> fiber) {
    Worker home = fiber.home;
    if (!steals
        || fiber.isBound()
        || isForeign(home)
        || home.isAsleep()
        || isAboutToBeFree(home)
        || !home.scheduler.hasSleeper()) {
      return;
    }
    Worker sleeper = sleeperFrom(home.index + 1);
    if (sleeper != null) {
      fiber.home = sleeper;
    }
  }

  private @Nullable Worker sleeperFrom(int start) {
    int looks = Math.min(workers.length, MOST_LOOKS);
    for (int k = 0; k < looks; k++) {
      Worker worker = workers[(start + k) % workers.length];
      if (worker.isAsleep() && !isAway(worker)) {
        return worker;
      }
    }
    return null;
  }

  private boolean isForeign(Worker worker) {
    return worker.scheduler != workers[0].scheduler;
  }
}
