package dev.weft;

import dev.weft.internal.jdk.RequiredFlags;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerConfig;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.SchedulerLife;
import dev.weft.internal.start.Wiring;
import dev.weft.io.IoManager;
import dev.weft.time.Timers;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs fibers on a fixed number of threads; the caller's thread can be one of them.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="scheduler"}
 *
 * <p>{@link #go} only submits. {@link #stop} drains: it returns when every fiber has ended and
 * every one-shot timer and I/O event has fired; recurring timers end with the last fiber. With
 * {@code useCaller(true)} the thread that calls {@link #start} is thread 0 of the scheduler and
 * runs fibers inside {@code stop()}; with {@code threads(1)} it is the only thread.
 */
public abstract sealed class Scheduler implements Executor, AutoCloseable permits SchedulerLife {
  static {
    RequiredFlags.check(); // first: some classes cannot be loaded without the flags
    Wiring.connect();
  }

  /** For Weft's own subclass. */
  protected Scheduler() {}

  /**
   * Returns a builder; by default all cores, without the caller's thread, with work stealing, or
   * first in, first out on one thread.
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the scheduler that runs the calling fiber, or empty outside fibers. */
  public static Optional<Scheduler> current() {
    FiberCore<?> self = FiberCore.currentOrNull();
    return self == null ? Optional.empty() : Optional.of(self.scheduler());
  }

  /**
   * Returns the default scheduler, which uses all cores and cannot be stopped. Its fibers keep the
   * process alive until they end; when it is idle it does not.
   */
  public static Scheduler shared() {
    return SchedulerCore.shared();
  }

  // ---- life ----

  /**
   * Starts the threads; with {@code useCaller(true)} the calling thread will be one of them.
   *
   * @throws IllegalStateException if it has been started before
   */
  public abstract Scheduler start();

  /**
   * Waits until no fiber, one-shot timer or I/O event is left, and ends the threads. With {@code
   * useCaller(true)} the caller runs fibers until then.
   *
   * @throws IllegalStateException if called by one of its own fibers, or by a handler of {@code
   *     onUncaught} on one of its threads; with {@code useCaller} if called by another thread than
   *     the one that started it, in a coroutine, or inside {@code synchronized}; or if its fibers
   *     wait for ever and {@code failOnDeadlock} is set
   */
  public abstract void stop();

  /**
   * Like {@link #stop()}, but at the time limit cancels the fibers and timers that are left, and
   * logs them. Returns whether all ended by themselves.
   */
  public abstract boolean stop(Duration limit);

  /** Stops: see {@link #stop()}. */
  @Override
  public abstract void close();

  // ---- submitting ----

  /** Submits a body; it runs later, as a fiber of this scheduler. */
  public abstract Fiber<Void> go(Body body);

  /** Submits a body with a result. */
  public abstract <T> Fiber<T> go(Callable<T> body);

  /**
   * Submits a body with a name, a priority, a thread.
   *
   * @throws IllegalArgumentException if there is no such thread
   */
  public abstract Fiber<Void> go(FiberOptions options, Body body);

  /** Submits a body with a result, and with a name, a priority, a thread. */
  public abstract <T> Fiber<T> go(FiberOptions options, Callable<T> body);

  /** Submits a command, as {@link #go(Body)} does. */
  @Override
  public abstract void execute(Runnable command);

  /**
   * Wakes a fiber that waits in {@link Fiber#suspend}, or makes its next suspend return at once.
   *
   * @throws IllegalArgumentException if it is a fiber of another scheduler
   */
  public abstract void schedule(Fiber<?> fiber);

  /**
   * Wakes a suspended fiber and binds it to a thread of this scheduler.
   *
   * @throws IllegalArgumentException if there is no such thread, or it is a fiber of another
   *     scheduler
   */
  public abstract void schedule(Fiber<?> fiber, int thread);

  /**
   * Makes this the scheduler of the virtual threads that platform threads start, in a program with
   * {@code -Dweft.threads=all}. Otherwise they run on the scheduler of the program's main under
   * {@code ./weft run}, else on the {@linkplain #shared shared} one, and they do so again once this
   * scheduler is told to stop. {@link #stop} waits for those that run here, as for all fibers.
   *
   * @throws IllegalStateException if it is not running, or if the virtual threads that platform
   *     threads start run on the JDK's scheduler
   */
  public abstract void hostVirtualThreads();

  // ---- looking ----

  /** Returns the timers of this scheduler. */
  public abstract Timers timers();

  /** Returns the I/O events of this scheduler. */
  public abstract IoManager io();

  /** Returns the number of fibers in each state, and the counters of the threads. */
  public abstract SchedulerStats stats();

  /** Returns every fiber with its state, what it waits for, and its stack. */
  public abstract FiberDump dump();

  /**
   * Returns the fibers in groups, with troubles first: of a million fibers a page. It takes some 3
   * µs a fiber and bounded memory, where {@link #dump} keeps every fiber and its stack.
   */
  public abstract GroupedDump groupedDump();

  /**
   * Returns the leaked fibers: they wait for something that nothing alive can reach, such as a
   * channel, a condition or a lock that only leaked fibers can still reach. Nothing happens to
   * them; {@link Fiber#cancel} and {@link #stop(Duration)} unwind them.
   *
   * <p>A fiber counts only if no thread holds its {@link Fiber} object, since that thread could
   * cancel or schedule it. A call takes a full garbage collection or two: it is for tests and for
   * the diagnosis of a process that grows.
   *
   * @throws IllegalStateException if this JVM was told to ignore {@code System.gc()} or not to
   *     finalize objects
   */
  public abstract List<FiberDump.Entry> leaks();

  /** Returns the number of threads, the caller's included. */
  public abstract int threads();

  /** Returns its name. */
  public abstract String name();

  /** The settings of a new scheduler. */
  public static final class Builder {
    private int threads = Runtime.getRuntime().availableProcessors();
    private boolean useCaller;
    private String name = "";
    private @Nullable Policy policy;
    private long stackSize;
    private boolean daemon;
    private boolean failOnDeadlock;
    private boolean reportLeaks;
    private Duration blockedAfter = SchedulerConfig.BLOCKED_AFTER;
    private boolean separateComputing = SchedulerConfig.SEPARATE_COMPUTING;
    private @Nullable BiConsumer<Fiber<?>, Throwable> onUncaught;

    private Builder() {}

    /** Sets the number of threads, 1 or more; by default as many as there are cores. */
    public Builder threads(int count) {
      if (count < 1) {
        throw new IllegalArgumentException("threads must be 1 or more, not " + count);
      }
      threads = count;
      return this;
    }

    /**
     * Makes the thread that calls start() and stop() one of the threads. If the caller is a fiber,
     * a new thread takes its place while the fiber waits in stop().
     */
    public Builder useCaller(boolean use) {
      useCaller = use;
      return this;
    }

    /** Sets the name; the names of its threads begin with it. */
    public Builder name(String newName) {
      name = Objects.requireNonNull(newName, "name");
      return this;
    }

    /**
     * Sets the order in which ready fibers run, and whether idle threads help busy ones; by default
     * {@link Policy#fifo} on one thread and {@link Policy#workStealing} on several.
     */
    public Builder policy(Policy newPolicy) {
      policy = Objects.requireNonNull(newPolicy, "policy");
      return this;
    }

    /**
     * Sets the stack size of its threads in bytes, which bounds the stacks of its fibers; 0: the
     * JVM's default.
     */
    public Builder stackSize(long bytes) {
      if (bytes < 0) {
        throw new IllegalArgumentException("stackSize must be 0 or more, not " + bytes);
      }
      stackSize = bytes;
      return this;
    }

    /** Lets the process end while its threads still wait for work. */
    public Builder daemon(boolean isDaemon) {
      daemon = isDaemon;
      return this;
    }

    /**
     * Sets the handler for unobserved failures. Without it they go to the default handler of the
     * JVM, {@link Thread#setDefaultUncaughtExceptionHandler}; a handler that is set on the thread
     * of the fiber comes before either. They are logged in any case.
     */
    public Builder onUncaught(BiConsumer<Fiber<?>, Throwable> handler) {
      onUncaught = Objects.requireNonNull(handler, "handler");
      return this;
    }

    /**
     * Makes stop() fail if all fibers wait and nothing is left that could wake them; the fibers are
     * cancelled first, so that their finally blocks run.
     */
    public Builder failOnDeadlock(boolean fail) {
      failOnDeadlock = fail;
      return this;
    }

    /** Has Weft log the {@linkplain Scheduler#leaks leaks} that keep stop() waiting. */
    Builder reportLeaks(boolean report) {
      reportLeaks = report;
      return this;
    }

    /**
     * Sets after how long in one slice a fiber is reported for holding its thread; a second by
     * default. Other threads take over the ready fibers of that thread after 20 ms, or after this
     * limit if it is shorter.
     */
    public Builder blockedAfter(Duration limit) {
      if (limit.isNegative() || limit.isZero()) {
        throw new IllegalArgumentException("blockedAfter must be positive, not " + limit);
      }
      blockedAfter = limit;
      return this;
    }

    /**
     * Sets whether fibers that compute are set apart: a fiber with two slices of more than 10 ms
     * within a second goes on on separate threads, as many as there are cores in all, until its
     * slices are short again; so the fibers that wait for I/O keep their threads. On by default,
     * unless {@code -Dweft.separateComputing=false}. It never concerns fibers that are bound to a
     * thread, nor a scheduler with one thread.
     */
    public Builder separateComputing(boolean separate) {
      separateComputing = separate;
      return this;
    }

    /** Builds a scheduler that is still to be started. */
    public Scheduler build() {
      return SchedulerCore.of(
          new SchedulerConfig(
              threads,
              useCaller,
              name,
              policy != null ? policy : SchedulerConfig.defaultPolicy(threads),
              stackSize,
              daemon,
              failOnDeadlock,
              reportLeaks,
              false,
              blockedAfter,
              separateComputing,
              onUncaught));
    }
  }
}
