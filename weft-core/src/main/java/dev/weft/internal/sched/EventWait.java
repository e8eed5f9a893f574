package dev.weft.internal.sched;

import dev.weft.internal.poller.Poller;
import dev.weft.internal.poller.ReadyEvent;
import dev.weft.internal.switching.Mounting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The wait of a fiber, or of any thread, for an event of a poller. */
public final class EventWait {
  private EventWait() {}

  /**
   * Returns the poller of the current fiber's worker; outside fibers one of the shared scheduler.
   */
  public static Poller poller() {
    FiberCore<?> self = FiberCore.currentOrNull();
    if (self != null && !self.worker.poller.isClosed()) {
      return self.worker.poller;
    }
    // A plain thread has no poller, and the poller of a stopped scheduler is closed.
    return SchedulerCore.shared().placement.forThread().poller;
  }

  /**
   * Parks the current thread until the event has come; returns false if the limit, if any, passes
   * first. A cancel point.
   *
   * @throws InterruptedException if the thread is interrupted, or the fiber cancelled
   */
  public static boolean await(ReadyEvent event, @Nullable Duration limit)
      throws InterruptedException {
    FiberCore<?> self = FiberCore.currentOrNull();
    FiberCore.throwIfInterrupted(self);
    if (limit == null) {
      while (!event.hasCome()) {
        Mounting.park(event);
        FiberCore.throwIfInterrupted(self);
      }
      return true;
    }
    try (WaitLimit timeout = Timeout.of(self, limit)) {
      while (!event.hasCome()) {
        if (!timeout.park(event)) {
          return event.hasCome();
        }
        FiberCore.throwIfInterrupted(self);
      }
      return true;
    }
  }
}
