package dev.weft.sim;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Policy;
import dev.weft.internal.Clock;
import dev.weft.internal.net.WorldNetwork;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.World;
import dev.weft.sim.Chooser.Choice;
import dev.weft.sim.Chooser.Moment;
import dev.weft.sim.agent.Agent;
import dev.weft.sim.agent.Sites;
import dev.weft.sim.agent.Sites.Site;
import dev.weft.sim.boot.CurrentWorld;
import dev.weft.sim.boot.RewrittenCalls;
import dev.weft.sim.boot.RewrittenSockets;
import dev.weft.sim.net.Kernel;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler in a simulated world, on which runs take place one after the other. One thread serves
 * it; the fiber that runs calls in too, on that same thread.
 *
 * <pre>
 *   next ──► the fiber runs ──► point: another fiber is chosen ──► it yields, next takes that one
 *    ▲            └────────────► it waits or ends ──► afterSlice ──┐
 *    └── settle ◄──────────────────────────────────────────────────┘  nothing ready: jump
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Time moves in {@link #jump} only, and, if timers may fire early, in {@link #settle}.
 *   <li>Fibers are numbered in the order in which they become ready for the first time, and ready
 *       fibers are sorted by number: no choice depends on an address, an id or a real thread.
 *   <li>A stage is used again only if the run before has left no fiber and no timer.
 * </ul>
 *
 * <p>The file is long because the scheduler's world, its ready queue and what rewritten code calls
 * all change the one state of a run. What has a state of its own is elsewhere: {@link Lanes},
 * {@link ReadyLanes}, {@link Disks}, {@link RunRecord}, {@link Surroundings}, {@link Unwinding}.
 */
final class Stage implements World, WorldNetwork.Provider, Policy, Policy.ReadyQueue, CurrentWorld {
  /** The virtual time at which each run begins, by {@code System.nanoTime}. */
  static final long START = 1_000_000_000L;

  /** 2026-01-01T00:00:00Z, when each run begins, in nanoseconds. */
  private static final long EPOCH = 1_767_225_600_000_000_000L;

  /** After so many points without a switch the current fiber is taken to spin. */
  private static final int SPIN_POINTS = 2_000;

  private final SchedulerCore scheduler = SchedulerCore.of("simulation", this, this);
  private final Choice choice = new Choice();
  private final MonitorWaits monitors = new MonitorWaits();
  private final RunRecord run = new RunRecord();

  private final ReadyLanes ready = new ReadyLanes();
  private final Disks disks = new Disks(this);
  private final FileCalls files = new FileCalls(this, disks);
  private final HostClocks clocks = new HostClocks(this::now);
  private final Events events = new Events();
  private final EarlyTimers earlyTimers = new EarlyTimers();

  private final NamedPoints points;

  // the state of the run
  private long now = START;
  private Chooser chooser = Choosers.plain();
  private SplittableRandom random = new SplittableRandom(0);
  private final Lanes lanes = new Lanes();
  private final Unwinding unwinding = new Unwinding();
  private final PlainThreads threads = new PlainThreads();
  private Surroundings around = new Surroundings(this, 0);
  private @Nullable Host starting; // the host whose main starts
  private @Nullable Lane current; // the fiber that runs
  private @Nullable Lane yielded; // the fiber that ran last, if it has yielded
  private @Nullable Lane nominated; // the fiber that a point has chosen
  private int last = -1;
  private int live;
  private long maxSteps;
  private long pointsInSlice;
  private long fixedRandom;
  private @Nullable Throwable failure;
  private boolean mainEnded;
  private boolean lastsAsAProcess;
  private boolean timePasses; // though fibers are ready
  private boolean tooLong; // more steps than allowed
  private boolean over;
  private boolean clean = true;

  // read by the thread that waits for the run: whether it moves
  private volatile long steps;

  // guards the two fields below it, and that no run enters after the stage was given up
  private final Object entrance = new Object();
  private volatile boolean givenUp;
  private @Nullable Kernel kernel;

  /** Creates a stage for an exploration with these points. */
  Stage(NamedPoints points) {
    this.points = points;
  }

  // ---- a run ----

  /** Runs the body once; on the thread that serves. */
  RunResult run(long seed, Chooser newChooser, long newMaxSteps, boolean recorded, Body body) {
    begin(seed, newChooser, newMaxSteps, recorded);
    enter();
    try {
      scheduler.go(FiberOptions.named("main"), () -> runMain(body));
      scheduler.workers[0].serve(this);
      RunResult result = result(seed);
      disks.stop();
      unwind();
      return result;
    } finally {
      RewrittenCalls.leave(this);
      files.end();
      disks.end();
      RewrittenSockets.leave(kernel);
    }
  }

  /** Has rewritten code call this stage, unless the stage was given up. */
  private void enter() {
    synchronized (entrance) {
      if (givenUp) {
        throw new IllegalStateException("the exploration was given up");
      }
      kernel = around.kernel();
      RewrittenCalls.enter(this);
      RewrittenSockets.enter(kernel);
    }
  }

  /**
   * Has rewritten code never call this stage again, though a fiber of it still runs; called by
   * another thread. The run ends when that fiber waits.
   */
  void giveUp() {
    synchronized (entrance) {
      givenUp = true;
      RewrittenCalls.leave(this);
      RewrittenSockets.leave(kernel);
    }
  }

  /** Returns where the fiber is that runs on a thread, as far as another thread can see it. */
  StackTraceElement[] stackOf(Thread serving) {
    Lane lane = current;
    Thread thread = lane == null ? null : lane.fiber.threadOrNull();
    return (thread == null ? serving : thread).getStackTrace();
  }

  /** The program of a run. */
  interface Body {
    void run() throws Throwable;
  }

  private void runMain(Body body) {
    try {
      body.run();
    } catch (Throwable e) {
      fail(e);
    }
    mainEnded = true;
  }

  private void begin(long seed, Chooser newChooser, long newMaxSteps, boolean recorded) {
    now = START;
    chooser = newChooser;
    random = new SplittableRandom(seed ^ 0x9E3779B97F4A7C15L);
    lanes.clear();
    threads.clear();
    monitors.clear();
    disks.begin(seed);
    events.clear();
    around = new Surroundings(this, seed);
    clocks.begin(around.counts());
    clocks.hosts(this::hostHere);
    around.hosts().listen(this::filesCrash);
    starting = null;
    run.begin(recorded);
    earlyTimers.begin(seed);
    if (earlyTimers.isEnabled()) {
      around.expect(Fault.EARLY_TIMER);
    }
    timePasses = false;
    current = null;
    yielded = null;
    nominated = null;
    last = -1;
    live = 0;
    maxSteps = newMaxSteps;
    steps = 0;
    pointsInSlice = 0;
    fixedRandom = 0;
    failure = null;
    mainEnded = false;
    lastsAsAProcess = false;
    tooLong = false;
    over = false;
    unwinding.end();
    clean = false;
    choice.index = 0;
  }

  /** The process on a host has ended, and its disk with it. */
  private void filesCrash(Host host) {
    files.releaseLocks(host);
    disks.crashOf(host.name());
  }

  private RunResult result(long seed) {
    if (failure == null && tooLong) {
      failure = endless();
    }
    if (failure == null) {
      List<Throwable> unobserved = scheduler.unobserved.takeAll();
      failure = unobserved.isEmpty() ? null : unobserved.getFirst();
    }
    return run.result(seed, failure, lanes.all(), steps, now - START, around.faults());
  }

  /** Lets the fibers that are left end, so that their finally blocks run and release locks. */
  private void unwind() {
    if (clean) {
      return;
    }
    unwinding.begin();
    over = false;
    run.stopRecording();
    steps = 0;
    lanes.interruptAll(ready);
    scheduler.workers[0].serve(this);
    scheduler.unobserved.takeAll();
  }

  /** Returns whether the last run has left nothing behind. */
  boolean isClean() {
    return clean;
  }

  /** Releases what the JVM holds of it. */
  void close() {
    scheduler.release();
  }

  /** Returns a number that grows while a run makes progress; for any thread. */
  long progress() {
    return steps;
  }

  void fail(Throwable cause) {
    if (failure == null && !unwinding.isActive()) {
      failure = cause;
      over = true;
    }
  }

  /** Returns whether the run has ended; after that fibers are unwound. */
  boolean hasEnded() {
    return over || unwinding.isActive();
  }

  /** Has the run last as long as a process with these threads would. */
  void lastAsAProcess() {
    lastsAsAProcess = true;
  }

  /** Returns whether a fiber is left that the run has to wait for. */
  private boolean isKeptAlive() {
    if (!mainEnded) {
      return true;
    }
    return lastsAsAProcess
        && (threads.hasNonDaemon()
            || lanes.all().stream()
                .anyMatch(lane -> !lane.ended && !lane.frozen && !lane.fiber.isGuest()));
  }

  // ---- the world ----

  @Override
  public Clock clock() {
    return () -> now;
  }

  @Override
  public void settle() {
    events.runDue(now);
    monitors.settle();
    if (timePasses || (ready.size() > 0 && earlyTimers.fire())) {
      timePasses = false;
      passTimeEarly();
    }
  }

  /**
   * Moves the clock to the next timer. Not while a fiber is stopped inside Weft: it may hold a lock
   * that the worker needs to fire a timer.
   */
  private void passTimeEarly() {
    long next = Math.min(scheduler.workers[0].nextTimer(), events.next());
    if (next == Long.MAX_VALUE || next <= now || unwinding.isActive()) {
      return;
    }
    for (Lane lane : lanes.all()) {
      Site site = lane.ended ? null : Sites.get(lane.site);
      if (site != null && site.type().startsWith("dev/weft/internal/")) {
        return;
      }
    }
    now = next;
    run.mix(now);
    around.happened(Fault.EARLY_TIMER, "time passes early, to the next timer");
  }

  /** Sets whether timers may fire although fibers are ready. */
  void timersEarly(boolean enabled) {
    earlyTimers.enable(enabled);
  }

  @Override
  public boolean isOver() {
    return over || givenUp;
  }

  @Override
  public void afterSlice(FiberCore<?> fiber) {
    Lane lane = current;
    current = null;
    if (lane == null) {
      return;
    }
    last = lane.number;
    lane.timersPassed = 0;
    pointsInSlice = 0;
    if (fiber.status() == Fiber.Status.DONE) {
      lane.ended = true;
      live--;
      run.note(now - START, lane, "ends", "");
    } else {
      Thread thread = fiber.threadOrNull();
      if (thread != null) {
        monitors.noteAfterSlice(thread);
        if (nominated == null && !over) {
          run.noteWait(now - START, lane, thread);
        }
      }
    }
    step();
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes it
  private void step() {
    steps++;
    if (unwinding.isActive()) {
      over |= unwinding.hasTooManySteps(steps);
    } else if (steps > maxSteps) {
      tooLong = true;
      over = true;
    }
  }

  private SimulationFailure endless() {
    List<Lane> waiting = lanes.all().stream().filter(lane -> !ready.has(lane)).toList();
    String waits = Deadlocks.waits(waiting, lanes.all());
    return new SimulationFailure.Endless(
        "the run has not ended after "
            + maxSteps
            + " steps: fibers that are ready: "
            + ready
            + (waits.isEmpty() ? "" : "\n  fibers that wait:" + waits));
  }

  @Override
  public void jump(long nextTimer) {
    long next = Math.min(nextTimer, events.next());
    boolean none = next == Long.MAX_VALUE;
    if (unwinding.isActive() || !isKeptAlive()) {
      String circle = unwinding.isActive() ? null : Deadlocks.circleAtEnd(lanes.all());
      if (circle != null) {
        fail(new SimulationFailure.Deadlock(circle));
        return;
      }
      if (live == 0 || none || !unwinding.isActive() || unwinding.jumpsTooOften()) {
        over = true;
        clean = live == 0 && nextTimer == Long.MAX_VALUE;
        return;
      }
    } else if (none) {
      fail(new SimulationFailure.Deadlock(Deadlocks.allWait(lanes.all())));
      return;
    } else {
      String circle = Deadlocks.circleBeforeTimer(lanes.all());
      if (circle != null) {
        fail(new SimulationFailure.Deadlock(circle));
        return;
      }
    }
    now = Math.max(now, next);
    run.mix(now);
  }

  // ---- the ready queue ----

  @Override
  public Policy.ReadyQueue newQueue() {
    return this;
  }

  @Override
  public int size() {
    return ready.size();
  }

  @Override
  public void add(Fiber<?> fiber, long time) {
    Lane lane = lanes.get((FiberCore<?>) fiber);
    if (lane == null) {
      Lane starter = current;
      Host host =
          starting != null ? starting : starter != null ? starter.host : around.hosts().main();
      lane = lanes.add((FiberCore<?>) fiber, host);
      live++;
      chooser.begun(lane);
    }
    if (lane.frozen) {
      lane.readyWhileFrozen = true;
    } else {
      ready.add(lane);
    }
  }

  @Override
  public void addYielded(Fiber<?> fiber, long time) {
    add(fiber, time);
    Lane lane = lanes.get((FiberCore<?>) fiber);
    yielded = lane == null || lane.frozen ? null : lane;
  }

  @Override
  public @Nullable Fiber<?> next(long time) {
    if (ready.size() == 0) {
      return null;
    }
    Lane chosen = nominated;
    nominated = null;
    if (chosen == null) {
      chosen = ready.size() == 1 ? ready.first() : choose(yielded);
    }
    yielded = null;
    ready.remove(chosen);
    run.mix(chosen.number * 31L + ready.size());
    current = chosen;
    return chosen.fiber;
  }

  private Lane choose(@Nullable Lane yielding) {
    ready.copyTo(choice, null);
    choice.current = yielding == null ? -1 : choice.indexOf(yielding.number);
    return decide(yielding == null ? Moment.BLOCKED : Moment.YIELD, -1);
  }

  private Lane decide(Moment moment, int site) {
    choice.moment = moment;
    choice.last = last;
    int usual = choice.usual();
    int chosen = unwinding.isActive() ? usual : chooser.choose(choice);
    Lane lane = choice.ready[chosen];
    run.decided(choice, lane, chosen != usual, site);
    choice.index++;
    return lane;
  }

  // ---- hosts and the network ----

  Surroundings around() {
    return around;
  }

  Events events() {
    return events;
  }

  Host hostHere() {
    Lane lane = current;
    return lane == null ? around.hosts().main() : lane.host;
  }

  /** Runs an action of the test in a new fiber of a host; its failure is that of the run. */
  void start(Host host, String name, long delayNanos, Simulation.Action action) {
    Runnable body =
        () -> {
          try {
            action.run();
          } catch (Throwable e) {
            fail(e);
          }
        };
    starting = host;
    try {
      PlainThreads.runLater(body, delayNanos, name);
    } finally {
      starting = null;
    }
  }

  /** Freezes the fibers of a host; returns whether the current fiber is among them. */
  boolean freeze(Host host) {
    List<Lane> frozen = lanes.freeze(host, ready);
    if (!frozen.isEmpty()) {
      run.note(now - START, frozen.getFirst(), "── crash ──", "");
    }
    return current != null && frozen.contains(current);
  }

  /** Parks the current fiber, whose host has crashed. */
  void parkFrozen() {
    unwinding.parkWhileFrozen(Objects.requireNonNull(current));
  }

  /** Puts a fault into the trace, at the fiber that runs; at main if none runs. */
  void noteFault(String what) {
    run.note(now - START, current == null ? lanes.all().getFirst() : current, what, "");
  }

  /** Called before each call of the network. */
  void beforeOperation() {
    if (unwinding.isActive() && inside()) {
      unwinding.atOperation(Objects.requireNonNull(current));
    }
  }

  /** Called before and after each wait for a socket of the JDK. */
  void aroundWait() {
    if (inside()) {
      unwinding.checkWait();
    }
  }

  @Override
  public WorldNetwork network() {
    return around;
  }

  // ---- the fiber that runs calls these ----

  @Override
  public boolean inside() {
    Lane lane = current;
    if (lane == null) {
      return false;
    }
    Thread thread = Thread.currentThread();
    if (lane.thread == null && thread.isVirtual()) {
      lane.thread = lane.fiber.threadOrNull();
    }
    return lane.thread == thread;
  }

  @Override
  public void point(@Nullable Object owner, int site) {
    if (!inside()) {
      return;
    }
    Lane lane = Objects.requireNonNull(current);
    if (lane.initializers > 0 || !points.has(site)) {
      return;
    }
    if (unwinding.isActive()) {
      unwindAtPoint();
      return;
    }
    lane.site = site;
    lane.owner = owner;
    pass(lane, ++pointsInSlice % SPIN_POINTS == 0 ? Moment.YIELD : Moment.POINT, site);
    lane.site = -1;
  }

  @Override
  public void spin() {
    if (inside() && !unwinding.isActive()) {
      pass(Objects.requireNonNull(current), Moment.YIELD, -1);
    } else if (unwinding.isActive()) {
      unwindAtPoint();
    }
  }

  /** Lets another fiber run if the chooser says so. */
  private void pass(Lane lane, Moment moment, int site) {
    step();
    if (over) {
      leave(lane, null, site);
      return;
    }
    if (earlyTimers.fire()) {
      timePasses = true;
      leave(lane, null, site);
      return;
    }
    if (ready.size() == 0) {
      return;
    }
    Lane chosen = chooseAmongAll(lane, moment, site);
    if (chosen != lane) {
      leave(lane, chosen, site);
    }
  }

  private Lane chooseAmongAll(Lane lane, Moment moment, int site) {
    ready.copyTo(choice, lane);
    choice.current = choice.indexOf(lane.number);
    int before = last;
    last = lane.number;
    Lane chosen = decide(moment, site);
    last = before;
    return chosen;
  }

  private void leave(Lane lane, @Nullable Lane chosen, int site) {
    run.noteStop(now - START, lane, site);
    nominated = chosen;
    Thread.yield();
    if (nominated == chosen && chosen != null && current == lane && !over) {
      nominated = null; // a native frame pins the fiber to the thread: it goes on
    }
  }

  private void unwindAtPoint() {
    step();
    unwinding.atPoint(steps, over);
  }

  @Override
  public void initializer(boolean begins) {
    Lane lane = current;
    if (lane != null) {
      lane.initializers += begins ? 1 : -1;
    }
  }

  @Override
  public void waits(@Nullable Object monitor) {
    Lane lane = Objects.requireNonNull(current);
    if (monitor != null && lane.initializers > 0) {
      refuse(Agent.HOLDS_ITS_THREAD);
    }
    lane.leftMonitor = monitor;
  }

  @Override
  public @Nullable Object leftMonitor(FiberCore<?> fiber) {
    Lane lane = lanes.get(fiber);
    return lane == null ? null : lane.leftMonitor;
  }

  /** Returns the simulation's own time. */
  long now() {
    return now;
  }

  @Override
  public long nanoTime() {
    clocks.countLook(false);
    return clocks.nanoTime();
  }

  @Override
  public long wallNanos() {
    clocks.countLook(true);
    return timeOfDay();
  }

  /** Returns the time of day on the host of the running fiber, and counts no look at it. */
  long timeOfDay() {
    return EPOCH + (clocks.nanoTime() - START) + clocks.offsetNanos();
  }

  @Override
  public long simulationNanos(long hostNanos) {
    clocks.countLook(false);
    return clocks.simulationNanos(hostNanos);
  }

  HostClocks clocks() {
    return clocks;
  }

  Disks disks() {
    return disks;
  }

  @Override
  public FileCalls files() {
    return files;
  }

  /** Returns the line of the program where the running fiber is, if a report wants it. */
  String placeIfRecorded() {
    String place = run.isRecorded() ? Where.programLine(Thread.currentThread()) : "";
    return place.isEmpty() ? "" : " (" + place + ")";
  }

  boolean isInInitializer() {
    return current != null && current.initializers > 0;
  }

  @Override
  public long random() {
    Lane lane = current;
    if (lane != null && lane.initializers > 0) {
      // class initializers run in the first run of a JVM only: the others must not differ
      return ++fixedRandom * 0x9E3779B97F4A7C15L;
    }
    return random.nextLong();
  }

  @Override
  public boolean isDaemon() {
    Lane lane = Objects.requireNonNull(current);
    return lane.number != 0 && threads.isDaemon(Objects.requireNonNull(lane.thread));
  }

  @Override
  public String threadName() {
    return threads.nextName();
  }

  @Override
  public int poolNumber() {
    return threads.nextPool();
  }

  @Override
  public int timerNumber() {
    return threads.nextTimer();
  }

  @Override
  public boolean startInPlace(Thread plain) {
    String refused = PlainThreads.refused(plain);
    if (refused != null) {
      refuse(refused);
    }
    return threads.startInPlace(plain);
  }

  @Override
  public @Nullable Thread inPlaceOf(Thread plain) {
    return threads.inPlaceOf(plain);
  }

  @Override
  public Thread plainOf(Thread thread) {
    return threads.plainOf(thread);
  }

  @Override
  public void runLater(Runnable task, long delayNanos, String name) {
    PlainThreads.runLater(task, delayNanos, name);
  }

  @Override
  public void exit(int status) {
    if (status != 0) {
      fail(new SimulationFailure.Exit(status));
    }
    over = true;
    if (!unwinding.isActive()) {
      String place = Where.programLine(Thread.currentThread());
      run.note(now - START, Objects.requireNonNull(current), "calls System.exit", place);
      Thread.yield();
    }
    throw new SimulationFailure("the run has ended"); // unwinds the fiber that called
  }

  @Override
  public void refuse(String what) {
    String place = Where.programLine(Thread.currentThread());
    SimulationFailure refusal =
        new SimulationFailure.Unsupported(
            "cannot simulate " + what + (place.isEmpty() ? "" : ", used at " + place));
    fail(refusal);
    throw refusal;
  }
}
