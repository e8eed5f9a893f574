package dev.weft;

import dev.weft.internal.Faults;
import dev.weft.internal.TimerHost;
import dev.weft.internal.TimerPlace;
import dev.weft.internal.jdk.JdkPollers;
import dev.weft.internal.jdk.Pinning;
import dev.weft.internal.jdk.Slices;
import dev.weft.internal.poller.CallMemory;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.timer.TimerNode;
import dev.weft.internal.timer.TimerQueue;
import dev.weft.internal.wait.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * One thread's share of a scheduler: its ready fibers, its inbox, its timers, and the loop that
 * serves them. Pool threads and the caller thread run the same loop.
 *
 * <pre>
 *   other threads ──► inbox ─┐
 *   timers ──────────────────┼──► ready ──► slice ──► parked, or done
 *   fibers of this worker ───┘      ▲          │
 *                                   └─ yield ──┘
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>ready, timers and the list of fibers are touched only under the duty lock, which is the
 *       {@link SpinLock} that a worker is. It is held for a few instructions at a time and never
 *       during a slice, so that another worker can stand in for one that is stuck, and anyone may
 *       look.
 *   <li>Slices run on one thread at a time: the one inside {@link #run}.
 *   <li>No wake-up is lost: a producer puts into the inbox (or adds a timer), then looks at asleep;
 *       the worker sets asleep, then looks at the inbox and the timers, then sleeps. Likewise for
 *       what it could steal: idle workers are counted before they look, and who adds looks at the
 *       count after.
 *   <li>A fiber is in at most one ready queue or inbox, and in none while a worker runs it: see the
 *       turns in {@link Fiber}.
 *   <li>No fiber is lost if something throws around its slice: the ready queue, which may be the
 *       user's, an event of the Flight Recorder, the JDK. A fiber that the ready queue does not
 *       take goes to the inbox, and the failure is logged with the next duties.
 * </ul>
 */
final class Worker extends SpinLock implements TimerPlace {
  /** How many slices to run at most before inbox, timers and poller are looked at again. */
  private static final int BATCH = 64;

  /** How many while it is not known whether slices are short. */
  private static final int FIRST_BATCH = 8;

  /** How long a batch is to take: fewer slices if they are long. */
  private static final long LONG_BATCH_NANOS = 1_000_000;

  /** How long the poller may wait for its turn: longer, for to look at it is a system call. */
  private static final long LATE_POLL_NANOS = 10_000_000;

  /** How many turns of the loop to take at a time. */
  private static final int TURNS = 256;

  /** How many fibers to steal at once: what keeps the victim's duty lock only for a moment. */
  private static final int MOST_STOLEN = 256;

  /** How often a worker looks after stuck ones. */
  private static final long STAND_IN_NANOS = 1_000_000;

  /** How long to wait after a failure in the loop itself: it may fail again at once. */
  private static final long BROKEN_NANOS = 10_000_000;

  private static final long NEVER = Long.MAX_VALUE;
  private static final ThreadLocal<@Nullable Worker> OF_THIS_THREAD = new ThreadLocal<>();
  private static final VarHandle ASLEEP;
  private static final VarHandle RUNNING;
  private static final VarHandle SLICES;
  private static final VarHandle SLEEPS;
  private static final VarHandle BEGUN;
  private static final VarHandle ENDED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      ASLEEP = lookup.findVarHandle(Worker.class, "asleep", boolean.class);
      RUNNING = lookup.findVarHandle(Worker.class, "running", long.class);
      SLICES = lookup.findVarHandle(Worker.class, "slices", long.class);
      SLEEPS = lookup.findVarHandle(Worker.class, "sleeps", long.class);
      BEGUN = lookup.findVarHandle(Worker.class, "begun", long.class);
      ENDED = lookup.findVarHandle(Worker.class, "ended", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final Scheduler scheduler;
  final int index;
  final Poller poller;
  private final boolean steals;
  private final boolean timed;
  private final MpscUnboundedVarHandleArrayQueue<Fiber<?>> inbox =
      new MpscUnboundedVarHandleArrayQueue<>(256);

  // under duty
  private final Policy.ReadyQueue ready;
  private int boundReady; // how many of the ready ones nobody may steal
  private int waiting; // how many others could steal, when last counted; read by any
  private @Nullable Throwable failure; // what the ready queue threw, until it is reported
  private final TimerQueue timers;
  private int oneShots; // that began here and have not ended
  private final FiberRegistry fibers = new FiberRegistry();
  private long stolen;

  // true from before the last look at the inbox until awake again
  private volatile boolean asleep;

  // when it will wake by itself; valid while asleep
  private volatile long wakeTime;

  // the thread inside run(), if any
  private volatile @Nullable Thread thread;

  // the id of the fiber whose slice runs, 0 if none does; written by this worker's thread, read by
  // any. Not the fiber itself: to store a reference in an old object twice a slice costs more, by
  // the garbage collector's barrier, than the ready queue does
  private long running;

  // whether somebody has interrupted the thread inside run(); that thread only
  private boolean interrupted;

  // slices begun; written by this worker's thread, read by any
  private long slices;

  // the time as this worker's thread last read it
  private long now;

  // how many slices the next batch has at most, when it began, and whether its thread slept before;
  // this worker's thread only
  private int batch = FIRST_BATCH;
  private long batchBegan;
  private boolean justSlept = true;

  // true while it looks at a poller, and so makes ready whose sockets are ready; this worker's
  // thread only
  private boolean polls;

  // when it last stood in for stuck workers; this worker's thread only
  private long lastStandIn;

  // the last look at its poller: after how many slices, and when; a stale value does no harm
  private long polledAt;
  private long polledTime;

  // how often it slept; written by this worker's thread, read by any
  private long sleeps;

  // how often the watchdog has woken it though it should have woken by itself; the watchdog only
  private volatile int rescues;

  // fibers begun by fibers of this worker, fibers ended on it; written by its thread, read by any
  private long begun;
  private long ended;

  // where the next fiber goes that one of this worker's begins; this worker's thread only
  int nextPlace;

  // set by the watchdog while a slice takes too long: others do this worker's duties
  volatile boolean stuck;

  // set by the watchdog every 10 ms: a batch under way ends with its slice, should slices have
  // become long all at once
  volatile boolean batchIsLong;

  // set by this worker's thread when it has taken its last ready fiber, cleared by the sentry: a
  // worker that emptied its queue since the last look is not overloaded
  volatile boolean ranDry;

  // how many sections are open in which the fiber that runs here must not park; this worker's
  // thread only, and only with assertions on
  private int noParkSections;

  // what its fibers' calls of the system go through; made when first needed, this worker's thread
  // only
  private @Nullable CallMemory callMemory;

  // timers taken from a queue and not called yet; this worker's thread only
  private final ArrayList<TimerNode> due = new ArrayList<>();
  private final Consumer<TimerNode> takeDue = due::add;

  Worker(Scheduler scheduler, int index, Policy policy, Poller poller) {
    this.scheduler = scheduler;
    this.index = index;
    this.poller = poller;
    this.ready = policy.newQueue();
    this.steals = policy.steals();
    this.timed = policy.measuresSlices() || scheduler.sliceNanos > 0;
    this.now = scheduler.clock.nanoTime();
    this.timers = new TimerQueue(now);
  }

  /** Returns the worker whose thread this is, between two slices. */
  static @Nullable Worker ofThisThread() {
    return OF_THIS_THREAD.get();
  }

  // ---- the loop ----

  /** Serves until the scheduler has stopped. */
  void run() {
    JdkPollers.await();
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

  /** Fits the next batch to what the last one took. */
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
    if (batchIsLong) {
      batchIsLong = false; // not for nothing: it is a fence
    }
  }

  /** Moves the inbox to the ready queue and fires what is due, by way of a list that is empty. */
  private void takeInboxAndTimers(
      long time, List<TimerNode> expired, Consumer<TimerNode> takeExpired) {
    Throwable failed;
    lock();
    try {
      failed = failure;
      failure = null;
      takeInbox(time);
      timers.expire(time, takeExpired);
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
  void doDutiesFromOutside() {
    poller.poll();
    List<TimerNode> expired = new ArrayList<>();
    takeInboxAndTimers(scheduler.clock.nanoTime(), expired, expired::add);
  }

  /** With few and short slices behind it a worker is about to sleep, and polls there. */
  private boolean pollIsDue(Worker asker) {
    if (asker == this && slices - polledAt < BATCH && now - polledTime < LATE_POLL_NANOS) {
      return false;
    }
    polledAt = slices;
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

  /** Runs ready fibers; returns false if there was none. */
  private boolean runBatch() {
    Fiber<?> again = null;
    for (int i = 0; i < batch && !(batchIsLong && i > 0); i++) {
      Fiber<?> fiber = next(again);
      if (fiber == null) {
        return i > 0;
      }
      again = runSlice(fiber) ? fiber : null;
    }
    if (again != null) {
      lock();
      try {
        putBack(again);
      } finally {
        unlock();
      }
    }
    return true;
  }

  /** Puts back the fiber that ran last, if it is to run again, and takes the next, in one go. */
  private @Nullable Fiber<?> next(@Nullable Fiber<?> again) {
    Fiber<?> next;
    int left;
    lock();
    try {
      if (again != null) {
        putBack(again);
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

  /**
   * Runs one slice of a fiber; returns whether it is to be put back into the ready queue here. From
   * where the fiber is taken to where it is left nothing may throw past it: what is not Weft's own
   * is called in a try of its own, and its failure {@linkplain #noteFailure kept}.
   */
  private boolean runSlice(Fiber<?> fiber) {
    fiber.enterSlice(this);
    RUNNING.setOpaque(this, fiber.id());
    SLICES.setOpaque(this, slices + 1);
    if (timed) {
      fiber.since = now; // read after the last slice, or before the first of the batch
    }
    Object event = FlightEvents.recording() ? FlightEvents.beginSlice() : null;
    int end = runBody(fiber);
    if (event != null) {
      FlightEvents.endSlice(event, this, fiber);
    }
    if (timed) {
      long start = now;
      now = scheduler.clock.nanoTime();
      lock();
      try {
        ready.ran(fiber, now - start);
      } catch (Throwable e) {
        failure = e; // the fiber goes on
      } finally {
        unlock();
      }
    }
    RUNNING.setOpaque(this, 0L);
    assert checkNoPark(fiber);
    if (fiber.leaveLastSlice(end)) {
      FlightEvents.ended(fiber);
      retire(fiber);
      return false;
    }
    return fiber.leaveSlice(end, now) && isPlaceOf(fiber);
  }

  private int runBody(Fiber<?> fiber) {
    try {
      return fiber.runSlice();
    } catch (Throwable e) { // the JDK failing: if the fiber can go on it is queued again
      noteFailure(e);
      return Slices.LEFT;
    }
  }

  /** Returns whether a ready fiber is to be queued here; else sends it where it belongs. */
  private boolean isPlaceOf(Fiber<?> fiber) {
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

  /** Takes some of what another worker has ready; returns false if there is nothing to take. */
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
    List<Fiber<?>> taken = victim.giveAway(now);
    if (taken.isEmpty()) {
      return false;
    }
    lock();
    try {
      stolen += taken.size();
      for (Fiber<?> fiber : taken) {
        fiber.home = this;
        putReady(fiber, fiber.since);
      }
    } finally {
      unlock();
    }
    FlightEvents.stolen(this, victim, taken.size());
    return true;
  }

  /** Hands out some of the ready fibers, half at most unless stuck; bound fibers stay. */
  private List<Fiber<?>> giveAway(long time) {
    lock();
    try {
      takeInbox(time);
      int count = readySize();
      if (count == boundReady) {
        return List.of();
      }
      int most = Math.min(stuck ? count : (count + 1) / 2, MOST_STOLEN);
      List<Fiber<?>> given = new ArrayList<>(most); // with room: a fiber that is taken is not lost
      List<Fiber<?>> bound = new ArrayList<>(most);
      try {
        for (int i = most; i > 0; i--) {
          Fiber<?> fiber = taken(ready.nextForOther(time));
          if (fiber == null) {
            break;
          }
          (fiber.isBound() ? bound : given).add(fiber);
        }
      } catch (Throwable e) {
        failure = e; // what it has given can go
      }
      bound.forEach(fiber -> putReady(fiber, fiber.since));
      countWaiting();
      return given;
    } finally {
      unlock();
    }
  }

  /** Does the duties of workers whose slice takes too long, and takes over what they have ready. */
  private void standIn() {
    for (Worker worker : scheduler.workers) {
      if (worker != this && worker.stuck) {
        doDuties(worker);
        takeFrom(worker);
      }
    }
  }

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
    if (!inbox.isEmpty() || !setWakeTime()) {
      return false;
    }
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
    SLEEPS.setOpaque(this, sleeps + 1);
    polledAt = slices;
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

  /** Says until when this worker sleeps; returns false if it has a fiber to run after all. */
  private boolean setWakeTime() {
    lock();
    try {
      wakeTime = timers.nextWake();
      return readySize() == 0;
    } finally {
      unlock();
    }
  }

  // ---- called by others, and by this worker's own fibers ----

  /** Returns memory for calls of the fiber that runs here, until it waits or yields. */
  CallMemory callMemory() {
    CallMemory memory = callMemory;
    if (memory == null) {
      memory = CallMemory.ofWorker();
      callMemory = memory;
    }
    return memory;
  }

  /** Puts a fiber into the ready queue; called on this worker's thread, also inside a slice. */
  void addReady(Fiber<?> fiber) {
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
    if (running != 0) {
      scheduler.sentry.noteWaiting();
    }
  }

  /** Hands a fiber to this worker from any other thread. */
  void addRemote(Fiber<?> fiber) {
    offer(fiber);
    if (!wakeUp()) {
      scheduler.sentry.noteWaiting();
    }
  }

  /** Puts a fiber into the inbox; waits for memory if there is none, since it would be lost. */
  private void offer(Fiber<?> fiber) {
    while (true) {
      try {
        inbox.offer(fiber);
        return;
      } catch (OutOfMemoryError e) {
        Pinning.nap();
      }
    }
  }

  /** Has the sleeping worker look round without waking it for work. */
  void stirSleep() {
    poller.wakeUp();
  }

  /**
   * Begins a section in which the fiber that calls must not park, since it has asked for the worker
   * it runs on: after a park it may run on another one. For assertions, so returns true.
   */
  static boolean beginNoPark(@Nullable Worker here) {
    if (here != null) {
      here.noParkSections++;
    }
    return true;
  }

  /** Ends the section that {@link #beginNoPark} has begun. */
  static boolean endNoPark(@Nullable Worker here) {
    if (here != null) {
      here.noParkSections--;
    }
    return true;
  }

  /** Called after each slice, with assertions on: reports a park inside a no-park section. */
  private boolean checkNoPark(Fiber<?> fiber) {
    if (noParkSections != 0) {
      noParkSections = 0;
      Faults.report(
          fiber
              + " parked on thread "
              + index
              + " of "
              + scheduler
              + " in a section in which it must stay on its worker");
    }
    return true;
  }

  /** Wakes this worker's thread if it sleeps, or is about to; returns whether it did. */
  boolean wakeUp() {
    if (asleep && ASLEEP.compareAndSet(this, true, false)) {
      poller.wakeUp();
      return true;
    }
    return false;
  }

  // ---- timers: called on any thread ----

  @Override
  public TimerHost host() {
    return scheduler.timerHost;
  }

  @Override
  public void beginOneShot(TimerNode timer, long deadline) {
    addTimer(timer, deadline, 1);
  }

  @Override
  public void add(TimerNode timer, long deadline) {
    addTimer(timer, deadline, 0);
  }

  private void addTimer(TimerNode timer, long deadline, int oneShotsMore) {
    TimerQueue queue = timers; // before the lock: no load after it begins until it is taken
    boolean sooner;
    lock();
    try {
      queue.add(timer, deadline);
      oneShots += oneShotsMore;
      sooner = isSooner(deadline);
    } finally {
      unlock();
    }
    if (sooner) {
      wakeUp();
    }
  }

  /** Returns whether this worker sleeps and would wake too late. */
  private boolean isSooner(long deadline) {
    return asleep && (wakeTime == NEVER || deadline - wakeTime < 0);
  }

  @Override
  public boolean cancelOneShot(TimerNode timer) {
    return removeTimer(timer, 1);
  }

  @Override
  public boolean remove(TimerNode timer) {
    return removeTimer(timer, 0);
  }

  private boolean removeTimer(TimerNode timer, int oneShotsLess) {
    TimerQueue queue = timers; // as in addTimer
    int left;
    lock();
    try {
      if (!queue.remove(timer)) {
        return false;
      }
      left = oneShots -= oneShotsLess;
    } finally {
      unlock();
    }
    if (left == 0 && oneShotsLess > 0) {
      scheduler.wakeToStop();
    }
    return true;
  }

  @Override
  public void endOneShot() {
    int left;
    lock();
    try {
      left = --oneShots;
    } finally {
      unlock();
    }
    if (left == 0) {
      scheduler.wakeToStop();
    }
  }

  @Override
  public boolean move(TimerNode timer, long deadline) {
    boolean sooner;
    lock();
    try {
      if (!timers.remove(timer)) {
        return false;
      }
      timers.add(timer, deadline);
      sooner = isSooner(deadline);
    } finally {
      unlock();
    }
    if (sooner) {
      wakeUp();
    }
    return true;
  }

  int oneShots() {
    lock();
    try {
      return oneShots;
    } finally {
      unlock();
    }
  }

  // ---- counts and looks ----

  /** Takes note of a fiber that a fiber of this worker begins; called on this worker's thread. */
  void countBegun() {
    BEGUN.setRelease(this, begun + 1);
  }

  long begun() {
    return (long) BEGUN.getAcquire(this);
  }

  long ended() {
    return (long) ENDED.getAcquire(this);
  }

  long slices() {
    return (long) SLICES.getOpaque(this);
  }

  /** Returns the id of the fiber whose slice runs, or 0. */
  long running() {
    return (long) RUNNING.getOpaque(this);
  }

  long sleeps() {
    return (long) SLEEPS.getOpaque(this);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // by the watchdog's thread alone
  void countRescue() {
    rescues++;
  }

  boolean hasReadyOrInbox() {
    return !inbox.isEmpty() || hasReady();
  }

  boolean hasReady() {
    lock();
    try {
      return readySize() > 0;
    } finally {
      unlock();
    }
  }

  /** Returns whether other workers could take something over. */
  boolean hasStealable() {
    lock();
    try {
      return readySize() > boundReady;
    } finally {
      unlock();
    }
  }

  /**
   * Returns whether other workers could have taken something over a moment ago. Without the lock,
   * so that the worker never has to wait for the sentry: a first wait for a lock that was always
   * free makes the JVM throw away what it has compiled.
   */
  boolean seemsToHaveWaiting() {
    return waiting > 0 || !inbox.isEmpty();
  }

  /** Returns whether its thread, which calls, looks at a poller. */
  boolean polls() {
    return polls;
  }

  boolean isAsleep() {
    return asleep;
  }

  boolean isServing() {
    return thread != null;
  }

  boolean isServedBy(Thread candidate) {
    return thread == candidate;
  }

  /** Returns whether the current thread is this worker's, and in a slice of this fiber. */
  boolean runsHere(Fiber<?> fiber) {
    return running == fiber.id() && thread == Thread.currentThread();
  }

  int timerCount() {
    lock();
    try {
      return timers.size();
    } finally {
      unlock();
    }
  }

  /** Calls the visitor with each fiber that began here and has not ended. */
  void forEachFiber(Consumer<Fiber<?>> visitor) {
    List<Fiber<?>> found;
    lock();
    try {
      takeInbox(scheduler.clock.nanoTime());
      found = fibers.all();
    } finally {
      unlock();
    }
    found.forEach(visitor);
  }

  /** Returns the fibers that began here and have not ended, from a place of the registry on. */
  List<Fiber<?>> someFibers(int from, int most) {
    lock();
    try {
      return fibers.some(from, most);
    } finally {
      unlock();
    }
  }

  /** Holds the fibers that wait without a limit weakly, for a leak check. */
  List<FiberRegistry.WeakPlace> weakenRegistry(LeakCheck check) {
    Set<Fiber<?>> waiting = Collections.newSetFromMap(new IdentityHashMap<>());
    forEachFiber(
        fiber -> { // without the lock: a look at a stack may make a fiber ready
          if (DeadlockReport.waitsWithoutLimit(fiber)) {
            waiting.add(fiber);
          }
        });
    lock();
    try {
      return fibers.weaken(check, this, waiting);
    } finally {
      unlock();
    }
  }

  boolean strengthenRegistry(Fiber<?> fiber, FiberRegistry.WeakPlace place) {
    lock();
    try {
      return fibers.strengthen(fiber, place);
    } finally {
      unlock();
    }
  }

  SchedulerStats.OfThread stats() {
    lock();
    try {
      return new SchedulerStats.OfThread(
          index,
          readySize() + inbox.size(),
          timers.size(),
          slices(),
          stolen,
          sleeps,
          rescues,
          asleep);
    } finally {
      unlock();
    }
  }

  // ---- the ready queue and the list of fibers, under duty ----

  private void takeInbox(long time) {
    for (Fiber<?> fiber = inbox.relaxedPoll(); fiber != null; fiber = inbox.relaxedPoll()) {
      if (!putReady(fiber, time)) {
        return; // it is in the inbox again
      }
    }
  }

  /** Puts back a fiber that has run here and is to run again. */
  private void putBack(Fiber<?> fiber) {
    try {
      ready.addYielded(fiber, now);
    } catch (Throwable e) {
      keepForLater(fiber, e);
      return;
    }
    countBound(fiber);
  }

  /**
   * Puts a fiber that is ready since then; one that comes from another worker keeps its age.
   * Returns false if it has to be tried again.
   */
  private boolean putReady(Fiber<?> fiber, long time) {
    return putReady(fiber, time, false);
  }

  private boolean putReady(Fiber<?> fiber, long time, boolean begunHere) {
    fiber.since = time;
    try {
      register(fiber);
      if (begunHere) {
        ready.addNew(fiber, time);
      } else {
        ready.add(fiber, time);
      }
    } catch (Throwable e) {
      keepForLater(fiber, e);
      return false;
    }
    countBound(fiber);
    return true;
  }

  /**
   * Asks the ready queue how many fibers it has. If it does not say, one that can be stolen: then
   * this worker and others look, and find what there is.
   */
  private int readySize() {
    try {
      return ready.size();
    } catch (Throwable e) {
      failure = e;
      return boundReady + 1;
    }
  }

  /** Keeps a failure for the next duties; called without the lock. */
  private void noteFailure(Throwable e) {
    lock();
    try {
      failure = e;
    } finally {
      unlock();
    }
  }

  private void keepForLater(Fiber<?> fiber, Throwable e) {
    failure = e;
    addRemote(fiber);
  }

  private void countBound(Fiber<?> fiber) {
    fiber.countedAsBound = fiber.isBound();
    boundReady += fiber.countedAsBound ? 1 : 0;
  }

  private @Nullable Fiber<?> takeReady(long time) {
    return taken(ready.next(time));
  }

  /** Takes note of a fiber that the ready queue has given out. */
  private @Nullable Fiber<?> taken(@Nullable Fiber<?> fiber) {
    boundReady -= fiber != null && fiber.countedAsBound ? 1 : 0;
    return fiber;
  }

  /** Counts those whom others could steal, and leaves the number for who looks without the lock. */
  private int countWaiting() {
    int count = readySize() - boundReady;
    waiting = count;
    return count;
  }

  private void register(Fiber<?> fiber) {
    if (fiber.registeredAt == null) {
      fibers.add(fiber);
      fiber.registeredAt = this;
    }
  }

  /** Forgets a fiber that has ended here, or has left the scheduler. */
  void retire(Fiber<?> fiber) {
    unregister(fiber);
    ENDED.setRelease(this, ended + 1);
  }

  static void unregister(Fiber<?> fiber) {
    Worker at = fiber.registeredAt;
    if (at != null) {
      at.lock();
      try {
        at.fibers.remove(fiber);
        fiber.registeredAt = null;
      } finally {
        at.unlock();
      }
    }
  }
}
