package dev.weft;

import dev.weft.internal.policy.FifoQueue;
import dev.weft.internal.policy.PriorityReadyQueue;
import dev.weft.internal.policy.ResponseRatioQueue;
import dev.weft.internal.policy.WokenFirstQueue;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which ready fiber a worker runs next, and whether idle workers take from busy ones.
 *
 * <p>Implement it to bring your own order: each worker asks {@link #newQueue} once for a queue of
 * its own and calls that from one thread at a time, so a queue needs no synchronization. It must
 * not block, nor call into Weft. Should it throw, that is logged, and a fiber that it did not take
 * is given to it again.
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
     * Adds a new fiber that a fiber of this worker has begun, which still runs; the same as {@link
     * #add} unless told otherwise. New ones that come from elsewhere are added by {@link #add}.
     */
    default void addNew(Fiber<?> fiber, long now) {
      add(fiber, now);
    }

    /** Adds a fiber that has yielded; the same as {@link #add} unless told otherwise. */
    default void addYielded(Fiber<?> fiber, long now) {
      add(fiber, now);
    }

    /** Removes and returns the fiber to run next, or null if there is none. */
    @Nullable Fiber<?> next(long now);

    /**
     * Removes and returns the fiber that another worker is to have, which has nothing to do; the
     * same as {@link #next} unless told otherwise.
     */
    default @Nullable Fiber<?> nextForOther(long now) {
      return next(now);
    }

    /** Returns how many fibers are in the queue. */
    int size();

    /** Told after each slice how long it took, if {@link Policy#measuresSlices} says so. */
    default void ran(Fiber<?> fiber, long nanos) {}
  }

  /** Creates the queue of one worker. */
  ReadyQueue newQueue();

  /**
   * Returns whether new and woken fibers stay with the worker that made them ready, and workers
   * with nothing to do take from others. If not, new fibers are dealt round the workers and stay
   * there.
   */
  default boolean steals() {
    return false;
  }

  /**
   * Returns how long a fiber may run before its next call into Weft makes it yield; zero for as
   * long as it likes.
   */
  default Duration slice() {
    return Duration.ZERO;
  }

  /**
   * Returns whether slices are timed, for {@link ReadyQueue#ran} and so that the times that {@link
   * ReadyQueue#add} and {@link ReadyQueue#next} are told are those of the slice and not of the
   * batch; costs a clock read a slice.
   */
  default boolean measuresSlices() {
    return false;
  }

  /** First come, first served. The default. */
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
   * Highest response ratio next: (time waited + usual slice) / usual slice. Short ones go first,
   * and what waits long enough comes before anything.
   */
  static Policy responseRatio() {
    return of(ResponseRatioQueue::new, false, Duration.ZERO, true);
  }

  /** First come, first served, with a limit on how long a fiber runs at a stretch. */
  static Policy timeSlice(Duration slice) {
    if (slice.isNegative() || slice.isZero()) {
      throw new IllegalArgumentException("slice must be positive, not " + slice);
    }
    return of(FifoQueue::new, false, slice, false);
  }

  /**
   * For throughput: idle workers steal half of what another one has, new ones of the oldest family
   * first; a family is what a fiber has begun in one slice. On each worker fibers that have been
   * woken run first; then new ones, the latest family first; then those that have yielded or come
   * from elsewhere. So a tree of fibers is gone through in depth, and few of them are alive at a
   * time. Of any 64 in a row one is of the oldest family, and one the first of the rest, even so.
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
