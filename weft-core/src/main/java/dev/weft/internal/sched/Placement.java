package dev.weft.internal.sched;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Which worker of a scheduler gets a fiber or a timer: see decision 0032. */
final class Placement {
  private final Worker[] workers;

  // the workers over and over, a power of two of them: a thread's own is found by its number
  // without a division, which would take longer than all the rest; and the mask is not taken from
  // the length, for then one load would wait for the other
  final Worker[] byThread;
  final int threadMask;
  private final boolean steals;
  final boolean useCaller;

  // where the next fiber goes that comes from outside
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
   * Where a new fiber goes: with the one who made it if idle workers steal, else round the workers,
   * past one that is stuck and past a caller who has not come to work yet.
   *
   * @param here the worker of this scheduler whose fiber made it, if any
   */
  Worker forNew(@Nullable Worker here) {
    if (workers.length == 1) {
      return workers[0];
    }
    if (steals && here != null) {
      return here;
    }
    int i = Math.floorMod(here != null ? here.nextPlace++ : next.getAndIncrement(), workers.length);
    Worker dealt = workers[i];
    return isAway(dealt) || dealt.stuck ? workers[(i + 1) % workers.length] : dealt;
  }

  /** Where a timer goes that a thread of no scheduler sets: always the same worker for a thread. */
  Worker forThread() {
    Worker own = byThread[(int) Thread.currentThread().threadId() & threadMask];
    return isAway(own) ? workers[workers.length - 1] : own;
  }

  private boolean isAway(Worker worker) {
    return useCaller && worker.index == 0 && !worker.isServing();
  }

  /**
   * Where a fiber goes that has become ready: to its home. But if that sleeps, and the one who
   * wakes the fiber has nothing else to run, it stays with him: two that talk to each other end up
   * on one thread instead of waking each other's. Should it have to wait there, the watchdog sees
   * to it that the sleeper takes it back. And who has waited for a socket stays with its poller,
   * should another worker have taken it over meanwhile: or each of its events would cross threads.
   *
   * @param here the worker, of whatever scheduler, on whose thread this is called, if any
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

  private boolean isForeign(Worker worker) {
    return worker.scheduler != workers[0].scheduler;
  }
}
