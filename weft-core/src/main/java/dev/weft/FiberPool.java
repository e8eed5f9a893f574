package dev.weft;

import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.ScopeTree;
import dev.weft.internal.sched.Timeout;
import dev.weft.internal.sched.WaitLimit;
import dev.weft.internal.switching.Mounting;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An {@link ExecutorService} that bounds how much runs at once: a limited number of fibers, each of
 * which runs task after task, and a limited queue for what they have not come to yet.
 *
 * {@snippet class="dev.weft.FiberSnippetsTest" region="pool"}
 *
 * <p>A fiber costs next to nothing: use a pool to bound something else, such as connections, and
 * {@link Weft#go} where nothing needs a bound. Fibers are made when a task finds none free, a batch
 * at a time; those that find no task for a while ({@link Builder#keepAlive}) end, so a pool that is
 * forgotten does not keep its scheduler from stopping for ever.
 *
 * <p>A task finds the thread locals, and the coroutine locals, that earlier tasks of the same fiber
 * have left, as in any pool. Its interrupt status is clear when it begins. A task that fails hurts
 * nobody: {@link #submit} keeps the exception in the future, and that of a bare {@link #execute}
 * goes to the scheduler's handler for uncaught failures. A task that submits to its own pool when
 * this is full and waits, waits for the others to make room; if all do so, they wait for ever.
 */
public final class FiberPool extends AbstractExecutorService {
  /*
   * Invariants, whenever the lock is free:
   *
   *   fibers.size() <= max
   *   queue.size() <= capacity + tasks taken back from fibers that were cancelled before they ran
   *   idle is in fibers; a member of idle has no task and gets the next one that comes
   *   idle not empty     =>  queue and waiting are empty
   *   queue not empty    =>  fibers.size() == max, or one is about to end and will look at the queue
   *   waiting not empty  =>  no room in the queue
   *   state > RUNNING    =>  waiting is empty, and nobody joins idle
   *   terminated         =>  state > RUNNING, fibers and queue are empty
   *
   * So a task always is somebody's: of a fiber, the queue, or a submitter who waits. It is handed
   * over under the lock and the receiver is unparked after it has been given what it waits for, so
   * no waiter is lost.
   */

  /** What becomes of a task when all fibers are busy and the queue is full. */
  public enum WhenFull {
    /**
     * The submitter waits for room, first come first served: a fiber or a thread, but no worker
     * thread. If it is interrupted or cancelled meanwhile, the task is refused with a {@link
     * RejectedExecutionException} and the interrupt status is set.
     */
    WAIT,
    /** It is refused with a {@link RejectedExecutionException}. */
    REJECT,
    /** The submitter runs it, there and then. */
    RUN_IN_CALLER
  }

  /** Takes tasks; runs what it has; tries to stop what it runs. */
  private enum State {
    RUNNING,
    SHUTDOWN,
    STOP
  }

  private final SchedulerCore scheduler;
  private final String name;
  private final int max;
  private final int batch;
  private final int capacity;
  private final WhenFull whenFull;
  private final Duration keepAlive;
  private final CountDownLatch terminated = new CountDownLatch(1);
  private final ReentrantLock lock = new ReentrantLock();

  // all under lock
  private final Set<Member> fibers = new LinkedHashSet<>();
  private final Deque<Member> idle = new ArrayDeque<>(); // the one that worked last comes last
  private final Deque<Runnable> queue = new ArrayDeque<>();
  private final Deque<Submitter> waiting = new ArrayDeque<>();
  private long lastNumber;

  // written under lock
  private volatile State state = State.RUNNING;

  private FiberPool(Builder config) {
    this.scheduler =
        config.scheduler != null ? (SchedulerCore) config.scheduler : SchedulerCore.here();
    this.name = config.name.isEmpty() ? "pool-" + Builder.LAST_NAME.incrementAndGet() : config.name;
    this.max = config.fibers;
    this.batch = config.growBy;
    this.capacity = config.queue;
    this.whenFull = config.whenFull;
    this.keepAlive = config.keepAlive;
  }

  /** Returns a builder: at most 256 fibers and 1024 queued tasks, then submitters wait. */
  public static Builder builder() {
    return new Builder();
  }

  // ---- submitting ----

  /**
   * Has a task run by one of the fibers, or does with it what {@link WhenFull} says.
   *
   * @throws RejectedExecutionException if it is refused: the pool or its scheduler has been shut
   *     down, the pool is full, or the caller was interrupted while it waited for room
   */
  @Override
  public void execute(Runnable task) {
    Objects.requireNonNull(task, "task");
    CurrentFiber.yieldIfSliceExpired();
    Submitter submitter = null;
    lock.lock();
    try {
      if (state != State.RUNNING) {
        throw shutDown();
      }
      if (offer(task)) {
        return;
      }
      if (whenFull == WhenFull.REJECT) {
        throw new RejectedExecutionException(
            this + " is full: its " + max + " fibers are busy and its queue holds " + capacity);
      }
      if (whenFull == WhenFull.WAIT) {
        submitter = new Submitter(task);
        waiting.add(submitter);
      }
    } finally {
      lock.unlock();
    }
    if (submitter != null) {
      submitter.await();
    } else {
      task.run();
    }
  }

  private boolean offer(Runnable task) {
    Member free = free();
    if (free != null) {
      free.give(task);
      return true;
    }
    return queue.size() < capacity && queue.add(task);
  }

  /** Returns a fiber that has nothing to do, a new one if there may be more, or null. */
  private @Nullable Member free() {
    Member last = idle.pollLast();
    return last == null && fibers.size() < max ? grow() : last;
  }

  /** Makes a batch of fibers; all but the one returned are idle. */
  private Member grow() {
    int wanted = Math.min(batch, max - fibers.size());
    Member first = newMember();
    for (int i = 1; i < wanted; i++) {
      try {
        Member more = newMember();
        more.idle = true;
        idle.addFirst(more);
      } catch (RejectedExecutionException e) {
        break; // the first has begun; this is noticed when the next batch is needed
      }
    }
    return first;
  }

  private Member newMember() {
    Member member = new Member();
    member.fiber = scheduler.begin(FiberOptions.named(name + "-" + ++lastNumber), member);
    fibers.add(member);
    member.end = member.fiber.toFuture().whenComplete((result, failure) -> ended(member));
    if (member.end.isDone() || member.fiber.isCancelling()) { // by stop(limit), as is any other
      throw new RejectedExecutionException(this + " cannot grow: its new fiber was cancelled");
    }
    return member;
  }

  /** One who waits for room; its task is not the pool's yet. */
  private final class Submitter {
    private final Thread thread = Thread.currentThread();
    private final Runnable task;

    // written under lock
    private volatile boolean accepted;
    private volatile boolean refused;

    Submitter(Runnable task) {
      this.task = task;
    }

    void await() {
      FiberCore<?> self = FiberCore.currentOrNull();
      try {
        while (!accepted && !refused) {
          FiberCore.throwIfInterrupted(self);
          Mounting.park(FiberPool.this);
        }
      } catch (InterruptedException e) {
        thread.interrupt();
        if (givesUp()) {
          throw new RejectedExecutionException(
              "interrupted while it waited for room in " + FiberPool.this, e);
        }
      }
      if (refused) {
        throw shutDown();
      }
    }

    private boolean givesUp() {
      lock.lock();
      try {
        return waiting.remove(this);
      } finally {
        lock.unlock();
      }
    }

    void accept() {
      accepted = true;
      LockSupport.unpark(thread);
    }

    void refuse() {
      refused = true;
      LockSupport.unpark(thread);
    }
  }

  private RejectedExecutionException shutDown() {
    return new RejectedExecutionException(this + " has been shut down");
  }

  // ---- the fibers ----

  /** One fiber of the pool. */
  private final class Member implements Body {
    // set under lock, right after it has been made
    private FiberCore<Void> fiber;
    private Future<?> end;

    // what it is to run next; written under lock
    private volatile @Nullable Runnable task;

    // whether it runs a task, and whether it is in idle; under lock
    private boolean busy;
    private boolean idle;

    @Override
    public void run() {
      for (Runnable next = take(this); next != null; next = take(this)) {
        try {
          next.run();
        } catch (Throwable e) {
          if (!(e instanceof CancellationException && fiber.isCancelling())) {
            scheduler.unobserved.report(fiber, e);
          }
        } finally {
          endScopes();
        }
      }
    }

    /** The next task must not find the scopes that the last one has left open. */
    private void endScopes() {
      if (fiber.hasOpenScope()) {
        scheduler.unobserved.report(fiber, ScopeTree.endLeftOpen(fiber, "a task of " + fiber));
      }
    }

    void give(Runnable next) {
      idle = false;
      task = next;
      wake();
    }

    void wake() {
      LockSupport.unpark(fiber.threadOrNull()); // one that has not begun will look by itself
    }

    /** Waits for a task, for as long as idle fibers are kept. */
    private void await() {
      try (WaitLimit limit = Timeout.of(fiber, keepAlive)) {
        do {
          Thread.interrupted(); // meant for a task that is over
        } while (task == null
            && state == State.RUNNING
            && !fiber.isCancelling()
            && limit.park(FiberPool.this));
      }
    }
  }

  /** Returns what the fiber is to run next; null if it is to end. */
  private @Nullable Runnable take(Member member) {
    lock.lock();
    try {
      member.busy = false;
      Runnable next = takeNow(member);
      if (next == null && state == State.RUNNING && !member.fiber.isCancelling()) {
        rest(member);
        next = takeNow(member);
      }
      member.busy = next != null;
      return next;
    } finally {
      leaveIdle(member);
      lock.unlock();
    }
  }

  private void rest(Member member) {
    if (!member.idle) { // a new one is there from the start, with the others of its batch
      member.idle = true;
      idle.addLast(member);
    }
    lock.unlock();
    try {
      member.await();
    } finally {
      lock.lock();
    }
  }

  private void leaveIdle(Member member) {
    if (member.idle) {
      member.idle = false;
      idle.remove(member);
    }
  }

  private @Nullable Runnable takeNow(Member member) {
    Thread.interrupted(); // what the last task left behind, or a late Future.cancel
    if (member.fiber.isCancelling()) {
      return null; // somebody else gets what it was given: see ended
    }
    Runnable given = member.task;
    member.task = null;
    return given != null ? given : pollQueue();
  }

  private @Nullable Runnable pollQueue() {
    Runnable first = queue.poll();
    Submitter submitter = waiting.peek();
    if (submitter != null && queue.size() < Math.max(capacity, 1)) {
      waiting.remove();
      submitter.accept();
      queue.add(submitter.task);
      return first != null ? first : queue.poll();
    }
    return first;
  }

  /** Called when a fiber has ended, even if it was cancelled before it began. */
  private void ended(Member member) {
    lock.lock();
    try {
      fibers.remove(member);
      leaveIdle(member);
      if (member.task != null) {
        queue.addFirst(member.task);
        member.task = null;
      }
      replace();
      if (state != State.RUNNING && fibers.isEmpty() && queue.isEmpty()) {
        terminated.countDown();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Finds fibers for what waits, if there are any or may be more of them. */
  private void replace() {
    try {
      while (!(queue.isEmpty() && waiting.isEmpty())) {
        Member free = free();
        if (free == null) {
          return;
        }
        free.give(pollQueue());
      }
    } catch (RejectedExecutionException e) { // the scheduler has stopped: nobody will run them
      state = State.STOP;
      refuseWaiting();
      drain().forEach(FiberPool::cancel);
    }
  }

  private static void cancel(Runnable task) {
    if (task instanceof Future<?> future) {
      future.cancel(false);
    }
  }

  // ---- ending ----

  /** Takes no more tasks; what it has been given is run. Submitters who wait are refused. */
  @Override
  public void shutdown() {
    lock.lock();
    try {
      if (state == State.RUNNING) {
        state = State.SHUTDOWN;
        refuseWaiting();
        dismissIdle();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes no more tasks, cancels the fibers that run one, and returns those that have not begun.
   */
  @Override
  public List<Runnable> shutdownNow() {
    lock.lock();
    try {
      state = State.STOP;
      refuseWaiting();
      List<Runnable> rest = drain();
      dismissIdle();
      for (Member member : fibers) {
        if (member.busy) {
          member.fiber.cancel();
        }
      }
      return rest;
    } finally {
      lock.unlock();
    }
  }

  private void refuseWaiting() {
    waiting.forEach(Submitter::refuse);
    waiting.clear();
  }

  private void dismissIdle() {
    for (Member member : idle) {
      member.idle = false;
      member.wake();
    }
    idle.clear();
    if (fibers.isEmpty() && queue.isEmpty()) {
      terminated.countDown();
    }
  }

  /** Takes back what has not begun: given to a fiber that has not looked yet, or queued. */
  private List<Runnable> drain() {
    List<Runnable> rest = new ArrayList<>();
    for (Member member : fibers) {
      if (member.task != null) {
        rest.add(member.task);
        member.task = null;
      }
    }
    rest.addAll(queue);
    queue.clear();
    return rest;
  }

  @Override
  public boolean isShutdown() {
    lock.lock();
    try {
      return state != State.RUNNING;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isTerminated() {
    return terminated.getCount() == 0;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return terminated.await(timeout, unit);
  }

  // ---- looking ----

  /** Returns how many fibers it has at the moment, busy and idle. */
  public int fibers() {
    lock.lock();
    try {
      return fibers.size();
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many tasks wait in its queue. */
  public int queued() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }

  /** Returns its name. */
  public String name() {
    return name;
  }

  /** Returns how many fibers wait for a task. */
  public int idle() {
    lock.lock();
    try {
      return idle.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    return "fiber pool " + name;
  }

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

    /** Sets whose fibers run the tasks; else the current fiber's scheduler, or the shared one. */
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
      return new FiberPool(this);
    }

    private static int atLeast(int least, int value, String what) {
      if (value < least) {
        throw new IllegalArgumentException(what + " must be " + least + " or more, not " + value);
      }
      return value;
    }
  }
}
