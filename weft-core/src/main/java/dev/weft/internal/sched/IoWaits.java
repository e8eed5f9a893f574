package dev.weft.internal.sched;

import dev.weft.internal.poller.CallMemory;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.poller.ReadyEvent;
import dev.weft.internal.switching.Mounting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How a fiber, or any thread, waits for I/O: what sockets need of the scheduler. */
public final class IoWaits {
  /** The call memory of threads that are not workers. */
  private static final ThreadLocal<CallMemory> MEMORY =
      ThreadLocal.withInitial(CallMemory::ofOther);

  private IoWaits() {}

  /**
   * Returns memory for system calls: the worker's, so that no socket needs its own. It is the
   * current thread's until that thread waits or yields.
   */
  public static CallMemory callMemory() {
    Worker worker = workerHere();
    return worker == null ? MEMORY.get() : worker.callMemory();
  }

  /**
   * Begins a section in which the memory is used, so that the caller must not wait or yield; to be
   * ended by {@link #endNoPark}. For assertions: returns false if the caller has changed workers
   * since it asked for the memory.
   */
  public static boolean beginNoPark(CallMemory memory) {
    return memory == callMemory() && beginNoPark();
  }

  /** Begins a section in which the current fiber must not wait or yield. For assertions. */
  public static boolean beginNoPark() {
    return WorkerCounts.beginNoPark(workerHere());
  }

  /** Ends the section that beginNoPark has begun. For assertions. */
  public static boolean endNoPark() {
    return WorkerCounts.endNoPark(workerHere());
  }

  private static @Nullable Worker workerHere() {
    FiberCore<?> self = FiberCore.currentOrNull();
    return self == null ? null : self.workerHere();
  }

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
