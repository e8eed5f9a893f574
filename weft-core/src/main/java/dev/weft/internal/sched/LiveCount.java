package dev.weft.internal.sched;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * How many fibers of a scheduler have not ended. Each worker counts for itself, without a shared
 * counter that every go() would contend for.
 *
 * <p>Invariants: a fiber is counted as begun before it can run, and as ended after its last slice;
 * counts only grow. So if the sum of the ended, read first, equals the sum of the begun, read
 * second, there was a moment in between when no fiber was live.
 */
public final class LiveCount {
  private final Worker[] workers;
  private final AtomicLong begunOutside = new AtomicLong();
  private final AtomicLong endedOutside = new AtomicLong();

  LiveCount(Worker[] workers) {
    this.workers = workers;
  }

  /** Counts a fiber that a thread outside the scheduler starts. */
  public void beginOutside() {
    begunOutside.incrementAndGet();
  }

  /** Counts a fiber that did not end on a worker: it failed to start, or moved away. */
  public void endOutside() {
    endedOutside.incrementAndGet();
  }

  public boolean isZero() {
    return get() == 0;
  }

  /** Returns whether the condition held at a moment when no fiber was live, nor had just been. */
  public boolean isZeroWhile(BooleanSupplier condition) {
    long ended = ended();
    return condition.getAsBoolean() && begun() == ended;
  }

  public long get() {
    long ended = ended();
    return begun() - ended;
  }

  public long begun() {
    long sum = begunOutside.get();
    for (Worker worker : workers) {
      sum += worker.begun();
    }
    return sum;
  }

  public long ended() {
    long sum = endedOutside.get();
    for (Worker worker : workers) {
      sum += worker.ended();
    }
    return sum;
  }
}
