package dev.weft.internal.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.FiberOptions;
import dev.weft.FiberPool;
import dev.weft.Scheduler;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.SchedulerCore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The machinery of a pool: which task is run by which fiber, and when. One lock guards all of it,
 * because a submitter must see the free fibers, the queue and the other waiting submitters at once
 * to be served in FIFO order.
 */
public final class FiberPoolCore extends FiberPool {
  /*
   * Invariants, whenever the lock is free:
   *
   *   fibers.size() <= max
   *   queue.size() <= capacity + tasks taken back from fibers that were cancelled before they ran
   *   idle is in fibers; a fiber in idle has no task and gets the next one that comes
   *   idle not empty     =>  queue and waiting are empty
   *   queue not empty    =>  fibers.size() == max, or a fiber is about to end and will look at the queue
   *   waiting not empty  =>  no room in the queue
   *   state > RUNNING    =>  waiting is empty, and no fiber joins idle
   *   terminated         =>  state > RUNNING, fibers and queue are empty
   *
   * So a task is in one place: with a fiber, in the queue, or with a waiting submitter. The task
   * is handed over under the lock, and the receiver is unparked after it has been given what it
   * waits for, so no wake-up is lost.
   */

  /**
   * Whether the pool takes tasks (RUNNING), runs its last ones (SHUTDOWN), or cancels them (STOP).
   */
  private enum State {
    RUNNING,
    SHUTDOWN,
    STOP
  }

  final SchedulerCore scheduler;
  private final String name;
  private final int max;
  private final int batch;
  private final int capacity;
  private final WhenFull whenFull;
  private final Duration keepAlive;
  private final CountDownLatch terminated = new CountDownLatch(1);
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Set<PoolFiber> fibers = new LinkedHashSet<>();

  @GuardedBy("lock")
  private final Deque<PoolFiber> idle = new ArrayDeque<>(); // the fiber that worked last comes last

  @GuardedBy("lock")
  private final Deque<Runnable> queue = new ArrayDeque<>();

  @GuardedBy("lock")
  private final Deque<PoolSubmitter> waiting = new ArrayDeque<>();

  @GuardedBy("lock")
  private long lastNumber;

  // written under the lock, read without it by fibers that wait for a task
  private volatile State state = State.RUNNING;

  /** Creates a pool, which has no fiber yet. */
  public FiberPoolCore(PoolOptions options) {
    Scheduler chosen = options.scheduler();
    this.scheduler = chosen != null ? (SchedulerCore) chosen : SchedulerCore.here();
    this.name = options.name();
    this.max = options.fibers();
    this.batch = options.growBy();
    this.capacity = options.queue();
    this.whenFull = options.whenFull();
    this.keepAlive = options.keepAlive();
  }

  // ---- submitting ----

  @Override
  public void execute(Runnable task) {
    Objects.requireNonNull(task, "task");
    CurrentFiber.yieldIfSliceExpired();
    PoolSubmitter submitter = null;
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
        submitter = new PoolSubmitter(this, task);
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

  @GuardedBy("lock")
  private boolean offer(Runnable task) {
    PoolFiber free = free();
    if (free != null) {
      free.give(task);
      return true;
    }
    return queue.size() < capacity && queue.add(task);
  }

  /** Returns a fiber that has nothing to do, a new one if there may be more, or null. */
  @GuardedBy("lock")
  private @Nullable PoolFiber free() {
    PoolFiber last = idle.pollLast();
    return last == null && fibers.size() < max ? grow() : last;
  }

  /** Makes a batch of fibers; all but the one returned are idle. */
  @GuardedBy("lock")
  private PoolFiber grow() {
    int wanted = Math.min(batch, max - fibers.size());
    PoolFiber first = newMember();
    for (int i = 1; i < wanted; i++) {
      try {
        PoolFiber more = newMember();
        more.idle = true;
        idle.addFirst(more);
      } catch (RejectedExecutionException e) {
        break; // the first has begun; this is noticed when the next batch is needed
      }
    }
    return first;
  }

  @GuardedBy("lock")
  private PoolFiber newMember() {
    PoolFiber member = new PoolFiber(this);
    member.fiber = scheduler.begin(FiberOptions.named(name + "-" + ++lastNumber), member);
    fibers.add(member);
    member.end = member.fiber.toFuture().whenComplete((result, failure) -> ended(member));
    if (member.end.isDone() || member.fiber.isCancelling()) { // by stop(limit)
      throw new RejectedExecutionException(this + " cannot grow: its new fiber was cancelled");
    }
    return member;
  }

  /** Takes back the task of a submitter that gives up; returns false if the pool has it. */
  boolean withdraw(PoolSubmitter submitter) {
    lock.lock();
    try {
      return waiting.remove(submitter);
    } finally {
      lock.unlock();
    }
  }

  RejectedExecutionException shutDown() {
    return new RejectedExecutionException(this + " has been shut down");
  }

  // ---- the fibers ----

  /** Returns what the fiber is to run next; null if it is to end. */
  @Nullable Runnable take(PoolFiber member) {
    lock.lock();
    try {
      return takeOrRest(member);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private @Nullable Runnable takeOrRest(PoolFiber member) {
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
    }
  }

  @GuardedBy("lock")
  private void rest(PoolFiber member) {
    if (!member.idle) { // a new one is there from the start, with the others of its batch
      member.idle = true;
      idle.addLast(member);
    }
    lock.unlock();
    try {
      member.await(keepAlive);
    } finally {
      lock.lock();
    }
  }

  @GuardedBy("lock")
  private void leaveIdle(PoolFiber member) {
    if (member.idle) {
      member.idle = false;
      idle.remove(member);
    }
  }

  @GuardedBy("lock")
  private @Nullable Runnable takeNow(PoolFiber member) {
    Thread.interrupted(); // what the last task left behind, or a late Future.cancel
    if (member.fiber.isCancelling()) {
      return null; // another fiber gets what it was given: see ended
    }
    Runnable given = member.task;
    member.task = null;
    return given != null ? given : pollQueue();
  }

  @GuardedBy("lock")
  private @Nullable Runnable pollQueue() {
    Runnable first = queue.poll();
    PoolSubmitter submitter = waiting.peek();
    if (submitter != null && queue.size() < Math.max(capacity, 1)) {
      waiting.remove();
      submitter.accept();
      queue.add(submitter.task);
      return first != null ? first : queue.poll();
    }
    return first;
  }

  /** Called when a fiber has ended, even if it was cancelled before it began. */
  private void ended(PoolFiber member) {
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
  @GuardedBy("lock")
  private void replace() {
    try {
      while (!(queue.isEmpty() && waiting.isEmpty())) {
        PoolFiber free = free();
        if (free == null) {
          return;
        }
        free.give(pollQueue());
      }
    } catch (RejectedExecutionException e) { // the scheduler has stopped: no fiber will run them
      state = State.STOP;
      refuseWaiting();
      drain().forEach(FiberPoolCore::cancel);
    }
  }

  private static void cancel(Runnable task) {
    if (task instanceof Future<?> future) {
      future.cancel(false);
    }
  }

  // ---- ending ----

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

  @Override
  public List<Runnable> shutdownNow() {
    lock.lock();
    try {
      state = State.STOP;
      refuseWaiting();
      List<Runnable> rest = drain();
      dismissIdle();
      for (PoolFiber member : fibers) {
        if (member.busy) {
          member.fiber.cancel();
        }
      }
      return rest;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void refuseWaiting() {
    waiting.forEach(PoolSubmitter::refuse);
    waiting.clear();
  }

  @GuardedBy("lock")
  private void dismissIdle() {
    for (PoolFiber member : idle) {
      member.idle = false;
      member.wake();
    }
    idle.clear();
    if (fibers.isEmpty() && queue.isEmpty()) {
      terminated.countDown();
    }
  }

  /** Takes back what has not begun: given to a fiber that has not looked yet, or queued. */
  @GuardedBy("lock")
  private List<Runnable> drain() {
    List<Runnable> rest = new ArrayList<>();
    for (PoolFiber member : fibers) {
      if (member.task != null) {
        rest.add(member.task);
        member.task = null;
      }
    }
    rest.addAll(queue);
    queue.clear();
    return rest;
  }

  /** Returns whether it takes tasks; without the lock. */
  boolean isRunning() {
    return state == State.RUNNING;
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

  @Override
  public int fibers() {
    lock.lock();
    try {
      return fibers.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int queued() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
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
}
