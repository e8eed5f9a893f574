package dev.weft;

import dev.weft.internal.pool.FiberPoolCore;
import dev.weft.internal.pool.PoolOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An {@link ExecutorService} that bounds how much runs at once: a limited number of fibers, each of
 * which runs task after task, and a limited queue for what they have not come to yet.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="pool"}
 *
 * <p>A fiber costs next to nothing: use a pool to bound something else, such as connections, and
 * {@link Weft#go} where nothing needs a bound. Fibers are made when a task finds none free, a batch
 * at a time; fibers that find no task for a while ({@link Builder#keepAlive}) end, so a forgotten
 * pool delays the stop of its scheduler by that time at most.
 *
 * <p>A task finds the thread locals, and the coroutine locals, that earlier tasks of the same fiber
 * have left, as in any pool. Its interrupt status is clear when it begins. A task that fails does
 * no harm: {@link #submit} keeps the exception in the future, and that of a bare {@link #execute}
 * goes to the scheduler's handler for uncaught failures. A task that submits to its own pool when
 * this is full and waits, waits for the others to make room; if all do so, they wait for ever.
 */
public abstract sealed class FiberPool extends AbstractExecutorService permits FiberPoolCore {
  /** What becomes of a task when all fibers are busy and the queue is full. */
  public enum WhenFull {
    /**
     * The submitter waits for room, first come first served: a fiber or a thread, but no worker
     * thread. If it is interrupted or cancelled meanwhile, the task is refused with a {@link
     * RejectedExecutionException} and the interrupt status is set.
     */
    WAIT,
    /** The task is refused with a {@link RejectedExecutionException}. */
    REJECT,
    /** The submitter runs it, there and then. */
    RUN_IN_CALLER
  }

  /** For Weft's own subclass. */
  protected FiberPool() {}

  /** Returns a builder: at most 256 fibers and 1024 queued tasks, then submitters wait. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Has a task run by one of the fibers, or does with it what {@link WhenFull} says.
   *
   * @throws RejectedExecutionException if it is refused: the pool or its scheduler has been shut
   *     down, the pool is full, or the caller was interrupted while it waited for room
   */
  @Override
  public abstract void execute(Runnable task);

  /** Takes no more tasks; what it has been given is run. Waiting submitters are refused. */
  @Override
  public abstract void shutdown();

  /**
   * Takes no more tasks, cancels the fibers that run one, and returns those that have not begun.
   */
  @Override
  public abstract List<Runnable> shutdownNow();

  /** Returns how many fibers it has at the moment, busy and idle. */
  public abstract int fibers();

  /** Returns how many tasks wait in its queue. */
  public abstract int queued();

  /** Returns its name. */
  public abstract String name();

  /** Returns how many fibers wait for a task. */
  public abstract int idle();

  /** How a pool is to be. */
  public static final class Builder {
    private static final AtomicInteger LAST_NAME = new AtomicInteger();

    private @Nullable Scheduler scheduler;
    private String name = "";
    private int fibers = 256;
    private int growBy = 1;
    private int queue = 1024;
    private WhenFull whenFull = WhenFull.WAIT;
    private Duration keepAlive = Duration.ofSeconds(10);

    private Builder() {}

    /** Sets the scheduler of the fibers; else the current fiber's scheduler, or the shared one. */
    public Builder scheduler(Scheduler newScheduler) {
      scheduler = Objects.requireNonNull(newScheduler, "scheduler");
      return this;
    }

    /** Sets how many fibers there are at most, 1 or more. */
    public Builder fibers(int newMax) {
      fibers = atLeast(1, newMax, "fibers");
      return this;
    }

    /** Sets how many fibers are made at a time, 1 or more. */
    public Builder growBy(int newBatch) {
      growBy = atLeast(1, newBatch, "growBy");
      return this;
    }

    /**
     * Sets how many tasks can wait for a fiber; 0: a task is handed to a free fiber or not at all.
     */
    public Builder queue(int newCapacity) {
      queue = atLeast(0, newCapacity, "queue");
      return this;
    }

    /** Sets what becomes of a task when all fibers are busy and the queue is full. */
    public Builder whenFull(WhenFull newWhenFull) {
      whenFull = Objects.requireNonNull(newWhenFull, "whenFull");
      return this;
    }

    /** Sets the name, which its fibers bear too. */
    public Builder name(String newName) {
      name = Objects.requireNonNull(newName, "name");
      return this;
    }

    /** Sets after how long without a task a fiber ends; 10 seconds unless told otherwise. */
    public Builder keepAlive(Duration newKeepAlive) {
      if (newKeepAlive.isNegative()) {
        throw new IllegalArgumentException("keepAlive must be zero or more, not " + newKeepAlive);
      }
      keepAlive = newKeepAlive;
      return this;
    }

    /** Builds the pool, which has no fiber yet. */
    public FiberPool build() {
      String chosen = name.isEmpty() ? "pool-" + LAST_NAME.incrementAndGet() : name;
      return new FiberPoolCore(
          new PoolOptions(scheduler, chosen, fibers, growBy, queue, whenFull, keepAlive));
    }

    private static int atLeast(int least, int value, String what) {
      if (value < least) {
        throw new IllegalArgumentException(what + " must be " + least + " or more, not " + value);
      }
      return value;
    }
  }
}
