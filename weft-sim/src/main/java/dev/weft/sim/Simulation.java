package dev.weft.sim;

import dev.weft.sim.agent.Agent;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;

/**
 * One simulated run of a program, as the program's test sees it; and the way to run many.
 *
 * {@snippet class="dev.weft.sim.SimulationSnippetsTest" region="explore"}
 *
 * <p>The body runs as a fiber. Every thread that it starts, virtual or plain, is a fiber of the
 * simulation. Time is virtual: it moves only when no fiber can go on. One fiber runs at a time, so
 * bugs of the memory model are not found; jcstress finds those.
 *
 * <p>Sockets are those of a simulated {@linkplain #network network}, between {@linkplain #host
 * hosts} that can crash and restart.
 */
public final class Simulation {
  private final long seed;
  private final Stage stage;

  Simulation(long seed, Stage stage) {
    this.seed = seed;
    this.stage = stage;
  }

  /**
   * Runs a program once for each seed, until a run fails. Some seeds are run again, to check that
   * runs of a seed do not differ.
   *
   * @throws SimulationFailure.NotDeterministic if two runs of a seed differ
   * @throws SimulationFailure.Unsupported if the program uses something that cannot be simulated
   * @throws IllegalStateException if this JVM cannot simulate; the message says what to do
   */
  public static SimulationResult explore(SimulationOptions options, SimulationBody body) {
    return explore(options, body, (runs, schedules, digest) -> {});
  }

  /**
   * Like {@link #explore(SimulationOptions, SimulationBody)}, and reports the progress.
   *
   * @param progress called after each seed, on a thread of the simulation
   */
  public static SimulationResult explore(
      SimulationOptions options, SimulationBody body, Progress progress) {
    return explore(options, body, progress, Explorer.Limits.USUAL);
  }

  static SimulationResult explore(
      SimulationOptions options, SimulationBody body, Progress progress, Explorer.Limits limits) {
    Agent.prepare(options.points()); // before any class that needs rewritten ones is loaded
    return Explorer.explore(options, body, progress, limits);
  }

  /** Is told how far an exploration has come. */
  @FunctionalInterface
  public interface Progress {
    /**
     * Called with the number of runs so far, how many of them differed, and the digest of the run
     * that has just ended: runs with the same schedule have the same.
     */
    void at(long runs, long schedules, long digest);
  }

  /** Returns the seed of this run. */
  public long seed() {
    return seed;
  }

  /** Returns how much virtual time has passed in this run. */
  public Duration elapsed() {
    return Duration.ofNanos(stage.now() - Stage.START);
  }

  /** Returns whether the run has ended: fibers that are left are unwound. */
  public boolean hasEnded() {
    return stage.hasEnded();
  }

  /** Returns how much virtual time has passed in this run; the same as {@link #elapsed}. */
  public Duration now() {
    return elapsed();
  }

  /** Returns random numbers of the seed, for the test's own choices. */
  public Random random() {
    return stage.around().random();
  }

  /** Returns the network of this run, to set its faults. */
  public Network network() {
    return stage.around().network();
  }

  /**
   * Adds a host, and runs its main as a fiber of it. The run does not wait for hosts; it fails if
   * main throws. The body itself is on a host too, {@code main}.
   *
   * @param name its name in the network
   * @throws IllegalArgumentException if there is a host of this name
   */
  public Host host(String name, Action main) {
    Objects.requireNonNull(main, "main");
    return stage.around().hosts().start(name, main);
  }

  /**
   * Runs an action in a fiber of its own on the host of the body, after a delay. The run does not
   * wait for it.
   */
  public void at(Duration delay, Action action) {
    Objects.requireNonNull(action, "action");
    stage.start(stage.around().hosts().main(), "at " + delay, Math.max(1, delay.toNanos()), action);
  }

  Hosts hosts() {
    return stage.around().hosts();
  }

  /**
   * Returns the disk with a name. It is empty when it is first asked for in a run, and its files
   * are deleted after the run.
   */
  public Disk disk(String name) {
    return stage.disks().disk(name);
  }

  /** Returns the clock of the host that the body of the test runs on. */
  public HostClock clock() {
    return clocks().of(stage.around().hosts().main());
  }

  HostClocks clocks() {
    return stage.clocks();
  }

  Disks disks() {
    return stage.disks();
  }

  /**
   * Has this run last as long as a process would: until the body has returned, and every plain
   * thread that is no daemon and every fiber of {@code Weft.go} has ended. Virtual threads do not
   * count. Without this call a run ends soon after its body.
   */
  public void lastAsAProcess() {
    stage.lastAsAProcess();
  }

  /** Code that may throw. */
  @FunctionalInterface
  public interface Action {
    /** Runs it. */
    void run() throws Exception;
  }
}
