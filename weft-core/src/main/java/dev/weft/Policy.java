package dev.weft;

import dev.weft.internal.policy.FifoQueue;
import dev.weft.internal.policy.PriorityReadyQueue;
import dev.weft.internal.policy.ResponseRatioQueue;
import dev.weft.internal.policy.WokenFirstQueue;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which ready fiber a worker runs next, and whether idle workers steal from busy workers.
 *
 * <p>Implement it for an order of your own: each worker calls {@link #newQueue} once for its ready
 * queue and uses the queue on one thread at a time, so a queue needs no synchronization. The queue
 * must not block, nor call into Weft. If it throws, Weft logs the failure and adds the fiber that
 * the queue did not take again.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="policy"}
 */
@FunctionalInterface
public interface Policy {
  /** The ready fibers of one worker. Times are nanoseconds of a monotonic clock. */
  interface ReadyQueue {
    /** Adds a fiber that has become ready. */
    void add(Fiber<?> fiber, long now);

    /**
     * Adds a new fiber that the running fiber of this worker has started; by default the same as
     * {@link #add}. New fibers from elsewhere, and virtual threads that code inside a fiber has
     * started, are added by {@link #add}.
     */
    default void addNew(Fiber<?> fiber, long now) {
      add(fiber, now);
    }

    /** Adds a fiber that has yielded; by default the same as {@link #add}. */
    default void addYielded(Fiber<?> fiber, long now) {
      add(fiber, now);
    }

    /** Removes and returns the fiber to run next, or null if there is none. */
    @Nullable Fiber<?> next(long now);

    /**
     * Removes and returns a fiber for another worker, which is idle; by default the same as {@link
     * #next}.
     */
    default @Nullable Fiber<?> nextForOther(long now) {
      return next(now);
    }

    /** Returns how many fibers are in the queue. */
    int size();

    /** Called after each slice with its length, if {@link Policy#measuresSlices} returns true. */
    default void ran(Fiber<?> fiber, long nanos) {}
  }

  /** Creates the queue of one worker. */
  ReadyQueue newQueue();

  /**
   * Returns whether new and woken fibers stay with the worker that made them ready, and idle
   * workers steal from busy workers. If not, new fibers go to the workers in turn and stay there.
   */
  default boolean steals() {
    return false;
  }

  /**
   * Returns how long a fiber may run before its next call into Weft makes it yield; zero: no limit.
   */
  default Duration slice() {
    return Duration.ZERO;
  }

  /**
   * Returns whether slices are timed: for {@link ReadyQueue#ran}, and so that {@link
   * ReadyQueue#add} and {@link ReadyQueue#next} get the time of the slice and not of the batch.
   * Costs a clock read for each slice.
   */
  default boolean measuresSlices() {
    return false;
  }

  /**
   * First in, first out; new fibers go to the threads in turn. The default of a scheduler with one
   * thread.
   */
  static Policy fifo() {
    return FifoQueue::new;
  }

  /**
   * Highest {@linkplain FiberOptions#priority priority} first. A fiber that waits gains one step of
   * priority every 10 ms, so none starves.
   */
  static Policy priority() {
    return of(PriorityReadyQueue::new, false, Duration.ZERO, true);
  }

  /**
   * Highest response ratio next: (time waited + usual slice) / usual slice. Fibers with short
   * slices run first, and a fiber that has waited long enough runs before any other.
   */
  static Policy responseRatio() {
    return of(ResponseRatioQueue::new, false, Duration.ZERO, true);
  }

  /** First in, first out, with a limit on how long a fiber runs before it has to yield. */
  static Policy timeSlice(Duration slice) {
    if (slice.isNegative() || slice.isZero()) {
      throw new IllegalArgumentException("slice must be positive, not " + slice);
    }
    return of(FifoQueue::new, false, slice, false);
  }

  /**
   * The default of a scheduler with several threads: an idle worker steals half of the ready fibers
   * of a busy worker once they would wait for longer than a wake-up takes, new fibers of the oldest
   * family first; a family is the fibers that one fiber has started in one slice. On each worker
   * woken fibers run first; then new fibers, the latest family first; then, first in, first out,
   * fibers that have yielded, new fibers from elsewhere, and new virtual threads of the program. So
   * a worker runs a tree of fibers in depth-first order, with few of them alive at a time. A fiber
   * that has started a family and joins its fibers runs after them. No fiber starves: of any 64
   * fibers in a row one is of the oldest family, and one is the first of the last group.
   */
  static Policy workStealing() {
    return of(WokenFirstQueue::new, true, Duration.ZERO, false);
  }

  private static Policy of(
      Supplier<ReadyQueue> queues, boolean steals, Duration slice, boolean measuresSlices) {
    return new Policy() {
      @Override
      public ReadyQueue newQueue() {
        return queues.get();
      }

      @Override
      public boolean steals() {
        return steals;
      }

      @Override
      public Duration slice() {
        return slice;
      }

      @Override
      public boolean measuresSlices() {
        return measuresSlices;
      }
    };
  }
}
