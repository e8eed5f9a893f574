package dev.weft.internal.sched;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Policy;
import dev.weft.SchedulerStats;
import dev.weft.internal.events.FlightEvents;
import dev.weft.internal.events.Lane;
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

  /** The size of a batch after a sleep, when it is not known whether slices are short. */
  private static final int FIRST_BATCH = 8;

  /** How long a batch is to take: fewer slices if they are long. */
  private static final long LONG_BATCH_NANOS = 1_000_000;

  /**
   * How long the poller may go without a poll. It counts only where slices take more than some 16
   * µs: with shorter ones {@link #BATCH} slices are over sooner. A poll is a system call of about 1
   * µs, so this costs 0.1 % at most.
   */
  private static final long LATE_POLL_NANOS = 1_000_000;

  /** How many rounds of the loop one call of {@link #serve} runs. */
  private static final int ROUNDS = 256;

  /** How often a worker stands in for stuck workers. */
  private static final long STAND_IN_NANOS = 1_000_000;

  /**
   * For how long a worker spins instead of sleeping: a sleep would cost as much time of the core,
   * and end some 50 µs late.
   */
  private static final long SHORT_SLEEP_NANOS = 5_000;

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

  // fibers taken over from other workers; "this" is the duty lock
  @GuardedBy("this")
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
  private long slicesBefore;
  private boolean justSlept = true;

  // true while it polls, and so makes fibers ready that wait for sockets; this worker's thread only
  private boolean polls;

  // when it last stood in for stuck workers; this worker's thread only
  private long lastStandIn;

  // the last look at its poller: after how many slices, and when; a stale value does no harm
  private long polledAt;
  private long polledTime;

  // the index of the worker that gets the next fiber which a fiber of this worker starts; this
  // worker's thread only
  int nextPlace;

  // whether it is in a short sleep, so that it can become the sentry without being woken
  private volatile boolean dozes;

  // the slices that it had run when it last fell asleep; this worker's thread only
  private long slicesBeforeSleep;

  // set by the watchdog while a slice takes too long: other workers stand in for this worker
  public volatile boolean stuck;

  // set by the watchdog every 10 ms: a batch under way ends with its current slice, in case slices
  // have just become long
  public volatile boolean batchIsLong;

  // set by the watchdog to the number of a slice that takes 10 ms or more
  public volatile long longSlice;

  // what it did in the last seconds, while a console looks; else null
  public volatile @Nullable Lane lane;

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

  /** Returns the current platform thread's worker, or null if it serves none. */
  public static @Nullable Worker ofThisThread() {
    return OF_THIS_THREAD.get();
  }

  // ---- the loop ----

  /** Serves until the scheduler has stopped. */
  void run() {
    beginServing();
    try {
      while (!scheduler.hasStopped()) {
        serve();
      }
    } finally {
      endServing();
      poller.close();
      if (interrupted) {
        Thread.currentThread().interrupt(); // meant for the caller, not for a fiber
      }
    }
  }

  private void beginServing() {
    Surroundings.get().awaitPreparation();
    thread = Thread.currentThread();
    OF_THIS_THREAD.set(this);
    interrupted = Thread.interrupted();
  }

  private void endServing() {
    unregisterEnded();
    thread = null;
    OF_THIS_THREAD.remove();
  }

  /**
   * Serves as the world says, one slice at a time, until the world is over. A loop of its own, so
   * that the loop of other schedulers pays nothing for worlds; in a world nothing sleeps or polls.
   */
  public void serve(World world) {
    beginServing();
    try {
      FiberCore<?> yielded = null;
      while (!world.isOver()) {
        world.settle();
        now = scheduler.clock.nanoTime();
        takeInboxAndTimers(now, due, takeDue);
        FiberCore<?> fiber = next(yielded);
        yielded = null;
        if (fiber != null) {
          int end = Slice.runOn(this, fiber);
          yielded = Slice.leaveOn(this, fiber, end) ? fiber : null;
          world.afterSlice(fiber);
        } else if (inboxIsEmpty() && setWakeTimeIfEmpty()) {
          world.jump(wakeTime());
        }
      }
      if (yielded != null) {
        addReady(yielded);
      }
    } finally {
      endServing();
    }
  }

  /**
   * Runs some rounds of the loop. A method of its own, so that the JIT compiles it as one: a loop
   * that is entered once stays interpreted at times, which adds a microsecond to each wake-up.
   */
  private void serve() {
    for (int i = 0; i < ROUNDS && !scheduler.hasStopped(); i++) {
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

  /** Polls, takes the inbox and fires the timers of this worker or of a stuck worker. */
  private void doDuties(Worker worker) {
    now = scheduler.clock.nanoTime();
    if (worker == this) {
      fitBatch();
      unregisterEnded();
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
    if (!justSlept) {
      noteBatch(took, slices() - slicesBefore);
    }
    slicesBefore = slices();
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

  /** Moves the inbox to the ready queue and fires due timers, collected in an empty list. */
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
   * Polls and fires timers in this worker's place; called by the watchdog while no worker can stand
   * in. A pinned fiber that holds the worker may itself wait for such an event or timer.
   */
  public void doDutiesFromOutside() {
    poller.poll();
    List<TimerNode> expired = new ArrayList<>();
    takeInboxAndTimers(scheduler.clock.nanoTime(), expired, expired::add);
  }

  /**
   * Returns whether it is time to poll. A worker that has run few and short slices since the last
   * poll is about to sleep, and polls there.
   */
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
    } catch (Throwable e) { // the other timers must fire all the same
      scheduler.reportBroken(this, e);
    }
  }

  /** Does the duties of a worker in a long slice; called by the sentry, inside its sleep. */
  void doDutiesOf(Worker busy) {
    doDuties(busy);
  }

  /** Does the duties of the stuck workers and takes over their ready fibers. */
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
    FiberCore<?> yielded = null;
    for (int i = 0; i < batch && !(batchIsLong && i > 0); i++) {
      FiberCore<?> fiber = next(yielded);
      if (fiber == null) {
        return i > 0;
      }
      int end = Slice.runOn(this, fiber);
      yielded = Slice.leaveOn(this, fiber, end) ? fiber : null;
    }
    if (yielded != null) {
      lock();
      try {
        putBack(yielded, now);
      } finally {
        unlock();
      }
    }
    return true;
  }

  /** Puts back the fiber that has just yielded, if any, and takes the next, under one lock(). */
  private @Nullable FiberCore<?> next(@Nullable FiberCore<?> yielded) {
    FiberCore<?> next;
    int left;
    lock();
    try {
      if (yielded != null) {
        putBack(yielded, now);
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
      if (next != null && scheduler.hasSleeper()) {
        tellOfDuties();
      }
    } else {
      tellOthers(steals && yielded != null && isCrowd(left));
    }
    return next;
  }

  /** Tells other workers that fibers wait here; does not throw, since its caller holds a fiber. */
  private void tellOthers(boolean wakeThief) {
    try {
      if (wakeThief) {
        scheduler.wakeIdle();
      }
      scheduler.sentry.noteWaiting();
    } catch (Throwable e) { // no memory for the call that wakes a thread
      noteFailure(e);
    }
  }

  /** Tells other workers that a slice begins; does not throw, since its caller holds a fiber. */
  private void tellOfDuties() {
    try {
      noteDuties();
    } catch (Throwable e) { // no memory for the call that wakes a thread
      noteFailure(e);
    }
  }

  @Override
  void noteDuties() {
    scheduler.sentry.noteDuties(this);
  }

  /** Called by {@link Slice} before the slice of a fiber. */
  void beginSlice(FiberCore<?> fiber) {
    countSlice(fiber);
    if (timed) {
      fiber.since = now; // read after the last slice, or before the first of the batch
    }
    Lane watched = lane;
    if (watched != null) {
      watched.beginSlice(fiber, now);
    }
  }

  /** Called by {@link Slice} after the slice, before the fiber can be made ready elsewhere. */
  void endSlice(FiberCore<?> fiber, boolean recording) {
    if (timed) {
      long start = now;
      now = scheduler.clock.nanoTime();
      noteSlice(fiber, now - start);
    } else if (recording || lane != null) {
      now = scheduler.clock.nanoTime(); // the wait that begins is measured from here
    }
    if (longSlice == slices()) {
      noteLongSlice(fiber);
    }
    Lane watched = lane;
    if (watched != null) {
      watched.endSlice(now);
    }
    countNoSlice();
    assert checkNoPark(fiber);
  }

  /** Called after a slice that the watchdog has found to be long. */
  private void noteLongSlice(FiberCore<?> fiber) {
    // A fiber that has called switchTo is to go to its new scheduler, and to be counted out here.
    if (scheduler.separatesComputing() && fiber.core() == scheduler) {
      try {
        SetApart.noteLongSlice(fiber, scheduler.clock.nanoTime());
      } catch (Throwable e) { // no memory: the fiber stays here
        noteFailure(e);
      }
    }
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
    } else { // the fiber has called switchTo, and the target scheduler counts it already
      unregister(fiber);
      countGone(fiber);
      target.addRemote(fiber);
      target.scheduler.noteLate(fiber);
    }
    return false;
  }

  /** Forgets a fiber that has ended here. */
  void retire(FiberCore<?> fiber) {
    unregisterEnded(fiber);
    countGone(fiber);
  }

  private void countGone(FiberCore<?> fiber) {
    scheduler.noteGone(fiber);
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
      if (((steals && victim.isCrowded()) || victim.thread == null || victim.stuck)
          && takeFrom(victim)) {
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
    Lane watched = lane;
    if (watched != null) {
      watched.stole(taken.size());
    }
    return true;
  }

  // ---- sleeping ----

  private void sleep() {
    asleep = true;
    scheduler.enterIdle();
    try {
      // Before the last look at the inbox: noteIdle looks at stacks, which may make fibers ready.
      scheduler.noteIdle();
      if (!(steals && scheduler.isCrowded())) {
        scheduler.sentry.volunteer(this);
        if (slices() != slicesBeforeSleep) {
          slicesBeforeSleep = slices();
          dozes = scheduler.sentry.mayBeNeeded(this);
        }
        while (sleepOnce() && sleepsOn()) {}
      }
    } finally {
      if (asleep) { // Check first: a volatile store costs a fence.
        asleep = false;
      }
      if (dozes) {
        dozes = false;
      }
      scheduler.exitIdle();
      scheduler.sentry.leave(this);
    }
  }

  /** Called inside a sleep, after it has slept once; returns whether to sleep again at once. */
  private boolean sleepsOn() {
    boolean dozed = dozes;
    if (dozed) {
      dozes = false; // before the look whether it was appointed: it must not sleep long then
      scheduler.sentry.volunteer(this);
    }
    return scheduler.sentry.isOnDuty(this) ? !takeOver() : dozed;
  }

  /** Sleeps until it is woken or a timer is due; returns false if there is work for it. */
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
    } else if (dozes) {
      nanos = Math.min(nanos, Sentry.dozeNanos());
    }
    if (nanos <= 0 || !asleep || scheduler.hasStopped()) {
      return false;
    }
    if (nanos <= SHORT_SLEEP_NANOS) {
      while (asleep && scheduler.clock.nanoTime() - wakeTime < 0) {
        Thread.onSpinWait();
      }
      return false;
    }
    countSleep();
    polledAt = slices();
    polls = true;
    Lane watched = lane;
    if (watched != null) {
      watched.beginSleep(scheduler.clock.nanoTime());
    }
    try {
      poller.await(nanos);
    } finally {
      polls = false;
      if (watched != null) {
        watched.endSleep(scheduler.clock.nanoTime());
      }
    }
    justSlept = true;
    interrupted |= Thread.interrupted(); // cleared, because the next sleep would return at once
    return asleep;
  }

  /** Returns when the next timer is due, or {@link #NEVER}; called on the thread that serves. */
  public long nextTimer() {
    lock();
    try {
      setWakeTime();
      return wakeTime();
    } finally {
      unlock();
    }
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
   * Called by the sentry: does the duties of workers in a long slice, and takes over fibers that
   * wait there; returns false if it has taken none.
   */
  private boolean takeOver() {
    now = scheduler.clock.nanoTime();
    Worker victim = scheduler.sentry.look(this, now);
    return victim != null && takeFrom(victim);
  }

  @Override
  public boolean wakeUp() {
    if (asleep && ASLEEP.compareAndSet(this, true, false)) {
      poller.wakeUp();
      return true;
    }
    return false;
  }

  /** Makes a worker that was appointed sentry return from its poller, though it stays asleep. */
  void stirSleep() {
    poller.wakeUp();
  }

  // ---- queueing ----

  /** Puts a fiber into the ready queue; called on this worker's thread, also inside a slice. */
  void addReady(FiberCore<?> fiber) {
    int left;
    lock();
    try {
      putReady(fiber, now, fiber.isNew() && !fiber.isGuest());
      left = countWaiting();
    } finally {
      unlock();
    }
    if (asleep) { // an event of its own poller: the worker is awake, though it may lose its core
      asleep = false;
    }
    if (steals && isCrowd(left)) {
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

  /** Returns whether its thread, the caller, is polling. */
  boolean polls() {
    return polls;
  }

  public boolean isAsleep() {
    return asleep;
  }

  /** Returns whether its thread serves and does not sleep. */
  boolean isAwake() {
    return thread != null && !asleep;
  }

  /** Returns whether it will look within Sentry.dozeNanos() whether it has become the sentry. */
  boolean dozes() {
    return dozes;
  }

  /**
   * Returns whether it has more to do than to run fibers: timers, or a poller. Both may have been
   * used up long ago, and a timer that another thread has just added may be missed.
   */
  boolean hasDuties() {
    return poller.isMade() || seemsToHaveTimers();
  }

  public boolean isServing() {
    return thread != null;
  }

  boolean isServedBy(Thread candidate) {
    return thread == candidate;
  }

  /** Returns whether the current thread is this worker's thread and runs a slice of the fiber. */
  boolean runsHere(FiberCore<?> fiber) {
    return isIn(fiber) && thread == Thread.currentThread();
  }

  public SchedulerStats.OfThread stats() {
    lock();
    LookHolds hold = LookHolds.begin();
    try {
      return new SchedulerStats.OfThread(
          index, readyAndInbox(), timersQueued(), slices(), stolen, sleeps(), rescues(), asleep);
    } finally {
      LookHolds.end(hold, 0);
      unlock();
    }
  }
}
