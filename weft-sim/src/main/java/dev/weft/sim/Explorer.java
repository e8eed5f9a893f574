package dev.weft.sim;

import dev.weft.internal.switching.CarrierThread;
import dev.weft.sim.agent.Agent;
import dev.weft.sim.agent.Sites;
import dev.weft.sim.agent.Sites.Site;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
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

  /** How long in real time a run may make no step. */
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final SimulationOptions options;
  private final SimulationBody body;
  private final Simulation.Progress progress;
  private final AtomicReference<@Nullable Object> outcome = new AtomicReference<>();
  private volatile Stage stage = new Stage();
  private long runs;

  // how many choices the plain run has
  private int steps;
  private long virtualNanos;
  private final Set<Long> digests = new HashSet<>();
  private final FaultCounts faults = new FaultCounts();

  private Explorer(SimulationOptions options, SimulationBody body, Simulation.Progress progress) {
    this.options = options;
    this.body = body;
    this.progress = progress;
  }

  static SimulationResult explore(
      SimulationOptions options, SimulationBody body, Simulation.Progress progress) {
    ONE_AT_A_TIME.lock();
    try {
      return new Explorer(options, body, progress).exploreInThread();
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

  private void await(Thread thread) {
    boolean interrupted = false;
    long seen = -1;
    long since = System.nanoTime();
    while (thread.isAlive() && outcome.get() == null) {
      try {
        thread.join(Duration.ofMillis(200));
      } catch (InterruptedException e) {
        interrupted = true;
      }
      long progress = runs * 31 + stage.progress();
      if (progress != seen) {
        seen = progress;
        since = System.nanoTime();
      } else if (System.nanoTime() - since > PATIENCE.toNanos()) {
        outcome.compareAndSet(null, stuck(thread));
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static Error stuck(Thread thread) {
    StringBuilder text =
        new StringBuilder("a fiber has run for ")
            .append(PATIENCE)
            .append(" without waiting: name its package in points, so that it can be stopped");
    for (StackTraceElement frame : thread.getStackTrace()) {
      text.append("\n    at ").append(frame);
    }
    return new SimulationFailure.Endless(text.toString());
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
      run(0, Choosers.plain(), false);
      plain = run(0, Choosers.plain(), false);
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
    if (!stage.isClean()) {
      stage.close();
      stage = new Stage();
    }
    Stage here = stage;
    here.timersEarly(options.timersEarly());
    Simulation simulation = new Simulation(seed, here);
    RunResult result =
        here.run(seed, chooser, options.maxSteps(), recorded, () -> body.run(simulation));
    if (result.failure() instanceof SimulationFailure.Unsupported unsupported) {
      throw unsupported;
    }
    return result;
  }

  private FailureReport report(RunResult first) {
    RunResult again = run(first.seed());
    if (again.digest() != first.digest() || again.failed() != first.failed()) {
      throw differ(first, again);
    }
    return new Shrinker(this, options, runs, digests.size(), faults.snapshot()).report(first);
  }

  private void checkRepeats(RunResult first) {
    RunResult again = run(first.seed());
    if (again.digest() != first.digest()) {
      throw differ(first, again);
    }
  }

  private SimulationFailure differ(RunResult first, RunResult second) {
    int at = 0;
    long[] one = first.decisions();
    long[] other = second.decisions();
    while (at < one.length && at < other.length && one[at] == other[at]) {
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
    long decision = decisions[at];
    Site site = Sites.get((int) (decision >> 32));
    return "fiber number %d of %d that could go on%s"
        .formatted(
            decision & 0xffff,
            decision >> 16 & 0xffff,
            site == null
                ? ", where a fiber waited or ended"
                : ", before the running fiber " + site.what() + " at " + site.place());
  }
}
