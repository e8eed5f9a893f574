package dev.weft.stress.sim;

import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationOptions;
import dev.weft.sim.SimulationResult;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Runs the programs over Weft's own parts in simulations. */
public final class OwnHouse {
  /** The packages and classes of Weft that have points: what runs in fibers. */
  private static final String[] POINTS = {
    "dev.weft.stress.sim", "dev.weft.channel", "dev.weft.sync", "dev.weft.internal"
  };

  /** All programs. */
  public static final List<OwnProgram> ALL =
      Stream.of(
              ChannelPrograms.ALL,
              SelectPrograms.ALL,
              LockPrograms.ALL,
              ScopePrograms.ALL,
              TimerPrograms.ALL)
          .flatMap(List::stream)
          .toList();

  private static final String OUTLASTS = "its limits have to outlast what they wait for";
  private static final String FOR_EVER = "an hour stands for ever";
  private static final String FIRST = "its sleeps let other fibers do something first";
  private static final String CALLBACK = "its last sleep has to outlast a callback";

  /** Programs that need that no time passes while they compute: why, by name. */
  private static final Map<String, String> EXACT_TIMES =
      Map.ofEntries(
          Map.entry("cancelledReceiver", OUTLASTS),
          Map.entry("cancelledBufferedReceiver", OUTLASTS),
          Map.entry("cancelledSender", OUTLASTS),
          Map.entry("cancelledBufferedSender", OUTLASTS),
          Map.entry("selectOfOneChannelTwice", OUTLASTS),
          Map.entry("selectIsCancelled", FOR_EVER),
          Map.entry("sharedMutexWriterGivesUp", FOR_EVER),
          Map.entry("waitGroup", FOR_EVER),
          Map.entry("shieldMeetsCancel", FOR_EVER),
          Map.entry("poolShutsDown", FOR_EVER),
          Map.entry("selectOtherwise", FIRST),
          Map.entry("fairMutexIsFair", FIRST),
          Map.entry("conditionSignalMeetsCancel", FIRST),
          Map.entry("conditionSignalMeetsTimeout", FIRST),
          Map.entry("sleepersWakeInOrder", FIRST),
          Map.entry("timerMeetsCancel", CALLBACK),
          Map.entry("recurringTimerMeetsCancel", CALLBACK),
          Map.entry("timerMeetsRefresh", CALLBACK));

  /** The programs that keep their promises also if timers fire while fibers can go on. */
  public static final List<OwnProgram> WITH_EARLY_TIMERS =
      ALL.stream().filter(program -> !EXACT_TIMES.containsKey(program.name())).toList();

  private OwnHouse() {}

  static String[] points() {
    return POINTS.clone();
  }

  /** Runs a program with so many seeds, or until it fails. */
  public static SimulationResult explore(OwnProgram program, long firstSeed, int seeds) {
    return explore(program, firstSeed, seeds, () -> {});
  }

  /** Runs a program with so many seeds, or until it fails, and calls back after each. */
  public static SimulationResult explore(
      OwnProgram program, long firstSeed, int seeds, Runnable afterSeed) {
    return explore(program, options(program, firstSeed, seeds), afterSeed);
  }

  /**
   * Like {@link #explore(OwnProgram, long, int, Runnable)}, and timers fire early: time passes also
   * while fibers can go on.
   */
  public static SimulationResult exploreWithEarlyTimers(
      OwnProgram program, long firstSeed, int seeds, Runnable afterSeed) {
    return explore(program, options(program, firstSeed, seeds).timersEarly(true), afterSeed);
  }

  private static SimulationOptions options(OwnProgram program, long firstSeed, int seeds) {
    return SimulationOptions.seeds(seeds).firstSeed(firstSeed).name(program.name()).points(POINTS);
  }

  private static SimulationResult explore(
      OwnProgram program, SimulationOptions options, Runnable afterSeed) {
    return Simulation.explore(
        options, simulation -> program.body().run(), (runs, schedules, digest) -> afterSeed.run());
  }

  /** Repeats one run of a program, as a report names it. */
  public static SimulationResult replay(String name, String run) {
    return explore(named(name), SimulationOptions.replay(run).name(name).points(POINTS), () -> {});
  }

  /** Repeats one run of a program in which timers fire early, as a report names it. */
  public static SimulationResult replayWithEarlyTimers(String name, String run) {
    return explore(
        named(name),
        SimulationOptions.replay(run).name(name).points(POINTS).timersEarly(true),
        () -> {});
  }

  /** Returns a program by its name. */
  public static OwnProgram named(String name) {
    return ALL.stream()
        .filter(program -> program.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no program " + name));
  }
}
