package dev.weft.internal.sched;

import dev.weft.Policy;
import dev.weft.SchedulerStats;
import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.poller.CallMemory;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.timer.TimerNode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One thread's share of a scheduler: the loop that serves its ready fibers, its inbox, its timers
 * and its poller. Pool threads and the caller thread run the same loop.
 *
 * <pre>
 *   other threads ──► inbox ─┐
 *   timers ──────────────────┼──► ready ──► Slice ──► parked, or done
 *   fibers of this worker ───┘      ▲          │
 *                                   └─ yield ──┘
 * </pre>
 *
 * <p>Its fibers are in the layer {@link WorkerQueue}, its timers in the layer {@link WorkerTimers};
 * both are guarded by the duty lock, the {@link dev.weft.internal.lock.SpinLock} that a worker is.
 * The lock is held for a few instructions at a time and never during a slice. The layers are
 * superclasses and not objects because each slice would pay for the way to them.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Slices run on one thread at a time: the one inside {@link #run}.
 *   <li>No wake-up is lost: a producer puts into the inbox (or adds a timer), then looks at asleep;
 *       the worker sets asleep, then looks at the inbox and the timers, then sleeps. Likewise for
 *       stealing: an idle worker is counted before it looks, and a producer looks at the count
 *       after it has added.
 * </ul>
 *
 * <p>The file is long because the loop, from duties to sleep, is meant to be read in one place.
 */
public final class Worker extends WorkerQueue {
  /** How many slices to run at most before inbox, timers and poller are looked at again. */
  private static final int BATCH = 64;

  /** How many while it is not known whether slices are short. */
  private static final int FIRST_BATCH = 8;

  /** How long a batch is to take: fewer slices if they are long. */
  private static final long LONG_BATCH_NANOS = 1_000_000;

  /** How long the poller may wait for its turn: longer, since to look at it is a system call. */
  private static final long LATE_POLL_NANOS = 10_000_000;

  /** How many turns of the loop to take at a time. */
  private static final int TURNS = 256;

  /** How often a worker looks after stuck ones. */
  private static final long STAND_IN_NANOS = 1_000_000;

  /** How long to wait after a failure in the loop itself: it may fail again at once. */
  private static final long BROKEN_NANOS = 10_000_000;

  private static final ThreadLocal<@Nullable Worker> OF_THIS_THREAD = new ThreadLocal<>();
  private static final VarHandle ASLEEP;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      ASLEEP = lookup.findVarHandle(WorkerTimers.class, "asleep", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  public final Poller poller;
  private final boolean steals;
  private final boolean timed;

  // fibers taken over from other workers; under the duty lock
  private long stolen;

  // the thread inside run(), if any
  private volatile @Nullable Thread thread;

  // whether the thread inside run() has been interrupted; that thread only
  private boolean interrupted;

  // the time as this worker's thread last read it
  private long now;

  // how many slices the next batch has at most, when it began, and whether its thread slept before;
  // this worker's thread only
  private int batch = FIRST_BATCH;
  private long batchBegan;
  private boolean justSlept = true;

  // true while it looks at a poller, and so makes fibers ready that wait for sockets; this worker's
  // thread only
  private boolean polls;

  // when it last stood in for stuck workers; this worker's thread only
  private long lastStandIn;

  // the last look at its poller: after how many slices, and when; a stale value does no harm
  private long polledAt;
  private long polledTime;

  // where the next fiber goes that a fiber of this worker begins; this worker's thread only
  int nextPlace;

  // set by the watchdog while a slice takes too long: others do this worker's duties
  public volatile boolean stuck;

  // set by the watchdog every 10 ms: a batch under way ends with its slice, should slices have
  // become long all at once
  public volatile boolean batchIsLong;

  // set by this worker's thread when it has taken its last ready fiber, cleared by the sentry: a
  // worker that emptied its queue since the last look is not overloaded
  volatile boolean ranDry;

  // memory for system calls of its fibers; made when first needed, this worker's thread only
  private @Nullable CallMemory callMemory;

  // timers taken from a queue and not called yet; this worker's thread only
  private final ArrayList<TimerNode> due = new ArrayList<>();
  private final Consumer<TimerNode> takeDue = due::add;

  Worker(SchedulerCore scheduler, int index, Policy policy, Poller poller) {
    super(scheduler, index, policy);
    this.poller = poller;
    this.steals = policy.steals();
    this.timed = policy.measuresSlices() || scheduler.sliceNanos > 0;
    this.now = scheduler.clock.nanoTime();
  }

  /** Returns the worker whose thread this is, between two slices. */
  public static @Nullable Worker ofThisThread() {
    return OF_THIS_THREAD.get();
  }

  // ---- the loop ----

  /** Serves until the scheduler has stopped. */
  void run() {
    Surroundings.get().awaitPreparation();
    thread = Thread.currentThread();
    OF_THIS_THREAD.set(this);
    interrupted = Thread.interrupted();
    try {
      while (!scheduler.hasStopped()) {
        serve();
      }
    } finally {
      thread = null;
      OF_THIS_THREAD.remove();
      poller.close();
      if (interrupted) {
        Thread.currentThread().interrupt(); // meant for the caller, not for a fiber
      }
    }
  }

  /**
   * Some turns of the loop. A method of its own, so that it is compiled as one: a loop that is
   * entered once and for all stays interpreted at times, which costs a wake-up a microsecond.
   */
  private void serve() {
    for (int i = 0; i < TURNS && !scheduler.hasStopped(); i++) {
      serveOnce();
    }
  }

  private void serveOnce() {
    try {
      doDuties(this);
      if (scheduler.anyStuck && now - lastStandIn >= STAND_IN_NANOS) {
        lastStandIn = now;
        standIn();
      }
      if (!runBatch() && !steal()) {
        sleep();
      }
    } catch (Throwable e) { // no memory, or a policy of the user's that fails
      goOnAfter(e);
    }
  }

  private void goOnAfter(Throwable e) {
    scheduler.reportBroken(this, e);
    LockSupport.parkNanos(BROKEN_NANOS);
  }

  // ---- duties: inbox, timers, poller ----

  /** Takes the inbox and fires the timers of a worker, be it this one or a stuck one; polls. */
  private void doDuties(Worker worker) {
    now = scheduler.clock.nanoTime();
    if (worker == this) {
      fitBatch();
    }
    if (worker.poller.isMade() && worker.pollIsDue(this)) {
      polls = true;
      try {
        worker.poller.poll();
      } finally {
        polls = false;
      }
    }
    worker.takeInboxAndTimers(now, due, takeDue);
  }

  /** Fits the next batch to the time that the last one took. */
  private void fitBatch() {
    long took = now - batchBegan;
    if (justSlept) {
      batch = FIRST_BATCH;
      polledTime = now;
      justSlept = false;
    } else if (took > LONG_BATCH_NANOS) {
      batch = Math.max(1, (int) (batch * LONG_BATCH_NANOS / took));
    } else {
      batch = Math.min(2 * batch, BATCH);
    }
    batchBegan = now;
    if (batchIsLong) { // Check first: a volatile store costs a fence.
      batchIsLong = false;
    }
  }

  /** Moves the inbox to the ready queue and fires due timers, by way of a list that is empty. */
  private void takeInboxAndTimers(
      long time, List<TimerNode> expired, Consumer<TimerNode> takeExpired) {
    Throwable failed;
    lock();
    try {
      failed = takeFailure();
      takeInbox(time);
      expireTimers(time, takeExpired);
    } finally {
      unlock();
    }
    if (!expired.isEmpty()) {
      for (TimerNode timer : expired) {
        fire(timer);
      }
      expired.clear();
    }
    if (failed != null) {
      goOnAfter(failed);
    }
  }

  /**
   * Polls and fires timers in this worker's place, called by the watchdog while no worker can: a
   * fiber that holds the thread may itself wait for one of these.
   */
  public void doDutiesFromOutside() {
    poller.poll();
    List<TimerNode> expired = new ArrayList<>();
    takeInboxAndTimers(scheduler.clock.nanoTime(), expired, expired::add);
  }

  /** With few and short slices behind it a worker is about to sleep, and polls there. */
  private boolean pollIsDue(Worker asker) {
    if (asker == this && slices() - polledAt < BATCH && now - polledTime < LATE_POLL_NANOS) {
      return false;
    }
    polledAt = slices();
    polledTime = asker.now;
    return true;
  }

  private void fire(TimerNode timer) {
    try {
      timer.onExpired();
    } catch (Throwable e) { // the others must not suffer
      scheduler.reportBroken(this, e);
    }
  }

  /** Does the duties of workers whose slice takes too long, and takes over their ready fibers. */
  private void standIn() {
    for (Worker worker : scheduler.workers) {
      if (worker != this && worker.stuck) {
        doDuties(worker);
        takeFrom(worker);
      }
    }
  }

  // ---- slices ----

  /** Runs ready fibers; returns false if there was none. */
  private boolean runBatch() {
    FiberCore<?> again = null;
    for (int i = 0; i < batch && !(batchIsLong && i > 0); i++) {
      FiberCore<?> fiber = next(again);
      if (fiber == null) {
        return i > 0;
      }
      again = Slice.runOn(this, fiber) ? fiber : null;
    }
    if (again != null) {
      lock();
      try {
        putBack(again, now);
      } finally {
        unlock();
      }
    }
    return true;
  }

  /** Puts back the fiber that ran last, if it is to run again, and takes the next, in one go. */
  private @Nullable FiberCore<?> next(@Nullable FiberCore<?> again) {
    FiberCore<?> next;
    int left;
    lock();
    try {
      if (again != null) {
        putBack(again, now);
      }
      next = takeReady(now);
      left = countWaiting();
    } finally {
      unlock();
    }
    if (left <= 0) {
      if (!ranDry) { // Check first: a volatile store costs a fence.
        ranDry = true;
      }
    } else {
      tellOthers(steals && again != null);
    }
    return next;
  }

  /** Tells other workers that fibers wait here; does not throw, since its caller holds a fiber. */
  private void tellOthers(boolean more) {
    try {
      if (more) {
        scheduler.wakeIdle();
      }
      scheduler.sentry.noteWaiting();
    } catch (Throwable e) { // no memory for the call that wakes a thread
      noteFailure(e);
    }
  }

  /** Called by {@link Slice} before the slice of a fiber. */
  void beginSlice(FiberCore<?> fiber) {
    countSlice(fiber);
    if (timed) {
      fiber.since = now; // read after the last slice, or before the first of the batch
    }
  }

  /** Called by {@link Slice} after the slice, before the fiber can be made ready elsewhere. */
  void endSlice(FiberCore<?> fiber) {
    if (timed) {
      long start = now;
      now = scheduler.clock.nanoTime();
      noteSlice(fiber, now - start);
    }
    countNoSlice();
    assert checkNoPark(fiber);
  }

  /** Returns whether a ready fiber is to be queued here; else sends it where it belongs. */
  boolean keepsReady(FiberCore<?> fiber) {
    if (fiber.handToHelper()) {
      return false;
    }
    Worker target = fiber.placeFrom(this);
    if (target == this) {
      return true;
    }
    if (target.scheduler == scheduler) {
      target.addRemote(fiber);
    } else { // it has switched, and is counted there
      retire(fiber);
      target.addRemote(fiber);
      target.scheduler.noteLate(fiber);
    }
    return false;
  }

  /** Forgets a fiber that has ended here, or has left the scheduler. */
  void retire(FiberCore<?> fiber) {
    unregister(fiber);
    countEnded();
  }

  /** Returns the time as this worker's thread last read it. */
  long now() {
    return now;
  }

  // ---- stealing ----

  /** Takes ready fibers of another worker; returns false if there is nothing to take. */
  private boolean steal() {
    Worker[] workers = scheduler.workers;
    for (int i = 1; i < workers.length; i++) {
      Worker victim = workers[(index + i) % workers.length];
      if ((steals || victim.thread == null || victim.stuck) && takeFrom(victim)) {
        return true;
      }
    }
    return false;
  }

  private boolean takeFrom(Worker victim) {
    List<FiberCore<?>> taken = victim.giveAway(now, victim.stuck);
    if (taken.isEmpty()) {
      return false;
    }
    lock();
    try {
      stolen += taken.size();
      for (FiberCore<?> fiber : taken) {
        fiber.home = this;
        putReady(fiber, fiber.since);
      }
    } finally {
      unlock();
    }
    FlightEvents.stolen(index, victim.index, taken.size());
    return true;
  }

  // ---- sleeping ----

  private void sleep() {
    asleep = true;
    scheduler.enterIdle();
    try {
      scheduler.noteIdle(); // before the last look: it looks at stacks, and may make fibers ready
      if (!(steals && scheduler.hasStealable())) {
        scheduler.sentry.volunteer(this);
        while (sleepOnce() && scheduler.sentry.isOnDuty(this) && !takeOver()) {}
      }
    } finally {
      if (asleep) { // Check first: a volatile store costs a fence.
        asleep = false;
      }
      scheduler.sentry.resign(this);
      scheduler.exitIdle();
    }
  }

  /** Sleeps until it is woken or a timer is due; returns false if it has something to do. */
  private boolean sleepOnce() {
    if (!inboxIsEmpty() || !setWakeTimeIfEmpty()) {
      return false;
    }
    long wakeTime = wakeTime();
    long nanos = wakeTime == NEVER ? NEVER : wakeTime - scheduler.clock.nanoTime();
    if (scheduler.anyStuck) {
      nanos = Math.min(nanos, STAND_IN_NANOS);
    }
    if (scheduler.sentry.isOnDuty(this)) {
      nanos = Math.min(nanos, scheduler.sentry.nanosToNextLook());
    }
    if (nanos <= 0 || !asleep || scheduler.hasStopped()) {
      return false;
    }
    countSleep();
    polledAt = slices();
    polls = true;
    try {
      poller.await(nanos);
    } finally {
      polls = false;
    }
    justSlept = true;
    interrupted |= Thread.interrupted(); // or the next wait would not wait
    return asleep;
  }

  /** Sets until when this worker sleeps; returns false if it has a fiber to run after all. */
  private boolean setWakeTimeIfEmpty() {
    lock();
    try {
      setWakeTime();
      return readySize() == 0;
    } finally {
      unlock();
    }
  }

  /**
   * Called by the sentry: takes over fibers that wait elsewhere; returns whether there were any.
   */
  private boolean takeOver() {
    now = scheduler.clock.nanoTime();
    Worker victim = scheduler.sentry.look(this, now);
    if (victim == null || !takeFrom(victim)) {
      return false;
    }
    asleep = false; // not to be appointed again
    scheduler.sentry.resign(this);
    scheduler.sentry.noteWaiting(); // another sleeping worker may take some of the rest
    return true;
  }

  @Override
  public boolean wakeUp() {
    if (asleep && ASLEEP.compareAndSet(this, true, false)) {
      poller.wakeUp();
      return true;
    }
    return false;
  }

  /** Has the sleeping worker look round without waking it for work. */
  void stirSleep() {
    poller.wakeUp();
  }

  // ---- queueing ----

  /** Puts a fiber into the ready queue; called on this worker's thread, also inside a slice. */
  void addReady(FiberCore<?> fiber) {
    int left;
    lock();
    try {
      putReady(fiber, now, fiber.isNew());
      left = countWaiting();
    } finally {
      unlock();
    }
    if (steals && left > 1) {
      scheduler.wakeIdle();
    }
    if (running() != 0) {
      scheduler.sentry.noteWaiting();
    }
  }

  @Override
  void addRemote(FiberCore<?> fiber) {
    offer(fiber);
    if (!wakeUp()) {
      scheduler.sentry.noteWaiting();
    }
  }

  /** Returns memory for calls of the fiber that runs here, until it waits or yields. */
  CallMemory callMemory() {
    CallMemory memory = callMemory;
    if (memory == null) {
      memory = CallMemory.ofWorker();
      callMemory = memory;
    }
    return memory;
  }

  // ---- counts and looks ----

  /** Returns whether its thread, which calls, looks at a poller. */
  boolean polls() {
    return polls;
  }

  public boolean isAsleep() {
    return asleep;
  }

  public boolean isServing() {
    return thread != null;
  }

  boolean isServedBy(Thread candidate) {
    return thread == candidate;
  }

  /** Returns whether the current thread is this worker's, and in a slice of this fiber. */
  boolean runsHere(FiberCore<?> fiber) {
    return isIn(fiber) && thread == Thread.currentThread();
  }

  public SchedulerStats.OfThread stats() {
    lock();
    try {
      return new SchedulerStats.OfThread(
          index, readyAndInbox(), timersQueued(), slices(), stolen, sleeps(), rescues(), asleep);
    } finally {
      unlock();
    }
  }
}
