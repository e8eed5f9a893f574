package dev.weft.internal.sched;

import dev.weft.FiberOptions;

/** Moves the current fiber to another worker or scheduler: it yields, and goes on there. */
final class Moving {
  private Moving() {}

  /** Moves the current fiber to a worker, bound to its thread or to none. */
  static void move(FiberCore<?> self, SchedulerCore target, Worker place, int bound) {
    self.returnToWorker();
    if (self.isOnHelper()) {
      throw new IllegalStateException(
          "cannot switch " + self + ": it is in a blocking call, pinned to a helper thread");
    }
    SchedulerCore from = self.core();
    Worker left = self.worker;
    if (target == from && (place == left || bound == FiberOptions.ANY_THREAD)) {
      self.home = left;
      self.setBoundThread(bound);
      return;
    }
    if (!self.canLeaveThread()) {
      throw pinned(self, "Hook.disable()");
    }
    if (target != from) {
      countBegun(self, target); // first: a stopped scheduler throws
    }
    int boundBefore = self.boundThread();
    self.setBoundThread(bound);
    self.home = place;
    if (target != from) {
      self.setScheduler(target); // The old worker retires it later: until then both count it.
      Deadline.move(self.blocks, place);
    }
    long slicesBefore = left.slices();
    Thread.yield(); // returns on the new worker: see FiberCore.enqueue
    if (self.worker == left && left.slices() == slicesBefore) { // still the same slice
      self.setBoundThread(boundBefore);
      self.home = left;
      if (target != from) {
        self.setScheduler(from);
        target.countEnded(self);
        Deadline.move(self.blocks, left);
      }
      throw pinned(self, "a native method on its stack");
    }
  }

  private static void countBegun(FiberCore<?> self, SchedulerCore target) {
    if (self.isGuest()) {
      target.countGuest();
    } else {
      target.countBegun(null);
    }
  }

  private static IllegalStateException pinned(FiberCore<?> self, String by) {
    return new IllegalStateException(
        "cannot switch " + self + ": it is pinned to its thread by " + by);
  }
}
