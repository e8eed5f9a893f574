package dev.weft.sim;

import dev.weft.internal.switching.CarrierThread;
import dev.weft.sim.agent.Agent;
import dev.weft.sim.agent.Sites;
import dev.weft.sim.agent.Sites.Site;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Runs the seeds of one exploration, on a thread of its own. One exploration at a time: rewritten
 * code knows one simulation.
 */
final class Explorer {
  private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();

  private static final Logger LOGGER = System.getLogger("dev.weft");

  /** How much longer a run may make no step if it does not compute either. */
  private static final int WAITS = 10;

  private final SimulationOptions options;
  private final SimulationBody body;
  private final Simulation.Progress progress;
  private final Limits limits;

  // the result or an exception; if the caller has given up, set before the thread has ended
  private final AtomicReference<@Nullable Object> outcome = new AtomicReference<>();
  private volatile Stage stage;

  // read by the thread that waits: a run that begins is progress
  private volatile long begun;
  private long runs;

  // how many choices the plain run has
  private int steps;
  private long virtualNanos;
  private final Set<Long> digests = new HashSet<>();
  private final FaultCounts faults = new FaultCounts();

  /**
   * What an exploration may use up.
   *
   * @param patience how much CPU time a run may take without a step; without CPU time it may take
   *     ten times as long
   * @param shrinking how long to look for a smaller schedule
   */
  record Limits(Duration patience, Duration shrinking) {
    static final Limits USUAL = new Limits(Duration.ofSeconds(20), Duration.ofSeconds(30));
  }

  private Explorer(
      SimulationOptions options, SimulationBody body, Simulation.Progress progress, Limits limits) {
    this.options = options;
    this.stage = stage();
    this.body = body;
    this.progress = progress;
    this.limits = limits;
  }

  static SimulationResult explore(
      SimulationOptions options, SimulationBody body, Simulation.Progress progress, Limits limits) {
    ONE_AT_A_TIME.lock();
    try {
      return new Explorer(options, body, progress, limits).exploreInThread();
    } finally {
      ONE_AT_A_TIME.unlock();
    }
  }

  // ---- the caller's thread ----

  private SimulationResult exploreInThread() {
    Thread thread = CarrierThread.create("weft-simulation", true, 0, this::exploreHere);
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler(
        (failed, cause) -> {
          if (stage.inside()) {
            stage.fail(cause);
          } else if (before != null) {
            before.uncaughtException(failed, cause);
          }
        });
    try {
      thread.start();
      await(thread);
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
      stage.close();
    }
    Object result = outcome.get();
    if (result instanceof SimulationResult good) {
      return good;
    }
    if (result instanceof Error error) {
      throw error;
    }
    throw new IllegalStateException("the simulation itself has failed", (Throwable) result);
  }

  /**
   * Waits for the thread, and gives up if a run makes no step. CPU time counts, because a machine
   * that is busy, or was asleep, is no fault of the program.
   */
  private void await(Thread thread) {
    Duration look = Duration.ofMillis(Math.clamp(limits.patience().toMillis() / 4, 1, 200));
    boolean interrupted = false;
    long seen = -1;
    long sinceReal = 0;
    long sinceCpu = 0;
    while (thread.isAlive() && outcome.get() == null) {
      try {
        thread.join(look);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      long progress = begun * 31 + stage.progress();
      Duration real = Duration.ofNanos(System.nanoTime() - sinceReal);
      Duration cpu = Duration.ofNanos(cpuNanos(thread) - sinceCpu);
      if (progress != seen) {
        seen = progress;
        sinceReal = System.nanoTime();
        sinceCpu = cpuNanos(thread);
      } else if (cpu.compareTo(limits.patience()) > 0) {
        giveUp(
            thread,
            "a fiber has run for "
                + limits.patience()
                + " of CPU time without waiting: name its package in points, so that it can be"
                + " stopped");
      } else if (real.compareTo(limits.patience().multipliedBy(WAITS)) > 0) {
        giveUp(
            thread,
            "for "
                + limits.patience().multipliedBy(WAITS)
                + " the simulation has made no step, and has hardly computed either: a fiber waits"
                + " for something outside of it");
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static long cpuNanos(Thread thread) {
    return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
  }

  /**
   * Ends the exploration, though its thread cannot be stopped: when the fiber lets go of it, it
   * must touch nothing that the next exploration uses.
   */
  private synchronized void giveUp(Thread thread, String why) {
    StringBuilder text = new StringBuilder(why);
    for (StackTraceElement frame : stage.stackOf(thread)) {
      text.append("\n    at ").append(frame);
    }
    if (outcome.compareAndSet(null, new SimulationFailure.Endless(text.toString()))) {
      stage.giveUp();
    }
  }

  // ---- the simulation's thread ----

  private void exploreHere() {
    ThreadLocalRandom.current(); // else the first fiber that uses it seeds that of this thread too
    try {
      outcome.compareAndSet(null, exploreSeeds());
    } catch (Throwable e) {
      outcome.compareAndSet(null, e);
    }
  }

  private SimulationResult exploreSeeds() {
    RunResult plain = null;
    if (!(options.strategy() instanceof Strategy.Replay)) {
      // The first run of all initializes classes and caches, and so may differ from others.
      RunResult first = run(0, Choosers.plain(), false);
      plain = run(0, Choosers.plain(), false);
      if (first.failed() && !plain.failed()) {
        throw onlyTheFirst(first);
      }
      count(plain);
      if (plain.failed() && options.seeds() > 1) { // of a single seed the user wants that seed
        return result(Optional.of(report(plain)));
      }
      steps = plain.decisions().length;
    }
    for (int i = 0; i < options.seeds(); i++) {
      RunResult result = run(options.firstSeed() + i);
      count(result);
      if (result.failed()) {
        return result(Optional.of(report(result)));
      }
      if (Integer.bitCount(i) <= 1) {
        checkRepeats(result);
      }
    }
    return result(plain != null && plain.failed() ? Optional.of(report(plain)) : Optional.empty());
  }

  private void count(RunResult result) {
    runs++;
    virtualNanos += result.virtualNanos();
    digests.add(result.digest());
    faults.addAll(result.faults());
    progress.at(runs, digests.size(), result.digest());
  }

  /** Runs the body with a seed, as the options say. */
  RunResult run(long seed) {
    return run(seed, Choosers.of(options.strategy(), seed, steps), false);
  }

  private SimulationResult result(Optional<FailureReport> failure) {
    Agent.check();
    Map<Fault, Long> counts = faults.snapshot();
    if (failure.isEmpty()) {
      warnOfFaultsThatNeverHappened(counts);
    }
    return new SimulationResult(
        runs, digests.size(), Duration.ofNanos(virtualNanos), counts, failure);
  }

  private void warnOfFaultsThatNeverHappened(Map<Fault, Long> counts) {
    counts.forEach(
        (fault, count) -> {
          if (count == 0) {
            LOGGER.log(
                Level.WARNING,
                "{0}: {1} in {2} runs: the program asks for them, and none has happened",
                options.name(),
                fault.times(0),
                runs);
          }
        });
  }

  /** Runs the body once. */
  RunResult run(long seed, Chooser chooser, boolean recorded) {
    Stage here = cleanStage();
    here.timersEarly(options.timersEarly());
    Simulation simulation = new Simulation(seed, here);
    RunResult result =
        here.run(seed, chooser, options.maxSteps(), recorded, () -> body.run(simulation));
    checkNotGivenUp();
    if (result.failure() instanceof SimulationFailure.Unsupported unsupported) {
      throw unsupported;
    }
    return result;
  }

  private synchronized Stage cleanStage() {
    checkNotGivenUp();
    if (!stage.isClean()) {
      stage.close();
      stage = stage();
    }
    begun++;
    return stage;
  }

  private Stage stage() {
    return new Stage(new NamedPoints(options.points()));
  }

  private void checkNotGivenUp() {
    if (outcome.get() != null) {
      throw new IllegalStateException("the exploration was given up");
    }
  }

  private FailureReport report(RunResult first) {
    checkRepeats(first);
    return new Shrinker(this, options, limits.shrinking(), runs, digests.size(), faults.snapshot())
        .report(first);
  }

  private void checkRepeats(RunResult first) {
    RunResult again = run(first.seed());
    if (again.digest() != first.digest() || !again.kind().equals(first.kind())) {
      throw differ(first, again);
    }
  }

  private SimulationFailure onlyTheFirst(RunResult first) {
    SimulationFailure failure =
        new SimulationFailure.NotDeterministic(
            ("%s: the first run of all has failed, with %s, and the same run, repeated, has not:"
                    + " something in the program does not come from the simulation. Usual cause:"
                    + " static state, such as a cache, that only the first run finds empty")
                .formatted(options.name(), first.failure()));
    failure.initCause(first.failure());
    return failure;
  }

  private SimulationFailure differ(RunResult first, RunResult second) {
    int at = 0;
    long[] one = first.decisions();
    long[] other = second.decisions();
    while (at < one.length
        && at < other.length
        && one[at] == other[at]
        && first.sites()[at] == second.sites()[at]) {
      at++;
    }
    return new SimulationFailure.NotDeterministic(
        ("%s: two runs with seed %d differ: something in the program does not come from the"
                + " simulation.%n  The first choice that differs is number %d:%n    first run:  %s%n"
                + "    second run: %s%n  Usual causes: static state that a run leaves behind; identity hash"
                + " codes (add -XX:+UnlockExperimentalVMOptions -XX:hashCode=2); files; threads of a"
                + " library that run outside")
            .formatted(
                options.name(),
                first.seed(),
                at,
                describe(first, one, at),
                describe(second, other, at)));
  }

  private static String describe(RunResult run, long[] decisions, int at) {
    if (at >= decisions.length) {
      return "the run had ended, "
          + (run.failed() ? "with " + run.failure() : "without a failure")
          + ", after "
          + run.virtualNanos() / 1_000
          + " µs of virtual time and "
          + run.steps()
          + " steps";
    }
    Site site = Sites.get(run.sites()[at]);
    return "fiber number %d of %d that could go on%s"
        .formatted(
            run.chosen(at),
            decisions[at] >> 32,
            site == null
                ? ", where a fiber waited or ended"
                : ", before the running fiber " + site.what() + " at " + site.place());
  }
}
