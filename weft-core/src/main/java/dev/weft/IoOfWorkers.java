package dev.weft;

import dev.weft.internal.FiberAccess;
import dev.weft.internal.IoHost;
import dev.weft.internal.IoWaits;
import dev.weft.internal.jdk.Slices;
import dev.weft.internal.poller.CallMemory;
import dev.weft.internal.poller.Poller;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A scheduler's I/O: each worker polls for what its own fibers wait for. */
final class IoOfWorkers implements IoHost {
  private static final FiberOptions IO = FiberOptions.named("io");

  private final Scheduler scheduler;
  private final AtomicInteger pending = new AtomicInteger();

  IoOfWorkers(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  @Override
  public Poller poller() {
    Worker worker = scheduler.servingWorker();
    return (worker != null ? worker : scheduler.placement.forThread()).poller;
  }

  @Override
  public void fire(Body callback) {
    Body reported =
        () -> {
          try {
            callback.run();
          } catch (Throwable e) {
            scheduler.unobserved.report(Fiber.current().orElseThrow(), e);
          }
        };
    try {
      scheduler.begin(IO, reported);
    } catch (RejectedExecutionException e) {
      // the scheduler has given up on what was left
    }
  }

  @Override
  public Runnable wakerOfCurrentFiber() {
    Fiber<?> self = Fiber.currentOrNull();
    if (self == null) {
      throw new IllegalStateException(
          "cannot add an event without a callback outside a fiber: there is none to schedule");
    }
    return self.suspendWaker();
  }

  @Override
  public void pending(int change) {
    int left = pending.addAndGet(change);
    if (left == 0) {
      scheduler.wakeToStop();
    }
    if (change > 0 && !scheduler.isOpen()) {
      pending(-change);
      throw new RejectedExecutionException(scheduler + " has been stopped");
    }
  }

  @Override
  public int pending() {
    return pending.get();
  }

  /** How fibers and other threads wait; one for all schedulers. */
  static final class Waits extends IoWaits {
    /** For threads that are no worker's. */
    private static final ThreadLocal<CallMemory> MEMORY =
        ThreadLocal.withInitial(CallMemory::ofOther);

    @Override
    public CallMemory callMemory() {
      Fiber<?> self = Fiber.currentOrNull();
      Worker worker = self == null ? null : self.workerHere();
      return worker == null ? MEMORY.get() : worker.callMemory();
    }

    @Override
    public Poller poller() {
      Fiber<?> self = Fiber.currentOrNull();
      if (self != null && !self.worker.poller.isClosed()) {
        return self.worker.poller;
      }
      return Scheduler.shared().placement.forThread().poller; // its own has stopped, or has none
    }

    @Override
    public boolean await(Event event, @Nullable Duration limit) throws InterruptedException {
      Fiber<?> self = Fiber.currentOrNull();
      Fiber.throwIfInterrupted(self);
      if (limit == null) {
        while (!event.hasCome()) {
          Slices.park(event);
          Fiber.throwIfInterrupted(self);
        }
        return true;
      }
      try (FiberAccess.Limit timeout = Timeout.of(self, limit)) {
        while (!event.hasCome()) {
          if (!timeout.park(event)) {
            return event.hasCome();
          }
          Fiber.throwIfInterrupted(self);
        }
        return true;
      }
    }

    @Override
    public void sleep(Duration time) throws InterruptedException {
      Fiber.sleep(time);
    }
  }
}
