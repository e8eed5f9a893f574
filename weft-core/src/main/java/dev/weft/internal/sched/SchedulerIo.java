package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.FiberOptions;
import dev.weft.internal.io.IoHost;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.poller.ReadyEvent;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A scheduler's I/O: each worker polls for what its own fibers wait for. */
final class SchedulerIo implements IoHost {
  private static final FiberOptions IO = FiberOptions.named("io");

  private final SchedulerCore scheduler;
  private final AtomicInteger pending = new AtomicInteger();

  SchedulerIo(SchedulerCore scheduler) {
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
            scheduler.unobserved.report(Objects.requireNonNull(FiberCore.currentOrNull()), e);
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
    FiberCore<?> self = FiberCore.currentOrNull();
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

  @Override
  public boolean await(ReadyEvent event, @Nullable Duration limit) throws InterruptedException {
    return EventWait.await(event, limit);
  }
}
