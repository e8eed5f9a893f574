package dev.weft.bench.run;

import dev.weft.bench.model.EntryPoint;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.util.List;
import java.util.Optional;

/** Runs a {@link WindowProbe} in a fresh JVM with flags of its own, in turns with its peers. */
public record ForkedWindows(Class<? extends WindowProbe> probe, List<String> flags)
    implements InTurns {
  public ForkedWindows {
    flags = List.copyOf(flags);
  }

  /** Runs the probe with these JVM flags in addition to those that Weft needs. */
  public static ForkedWindows of(Class<? extends WindowProbe> probe, String... flags) {
    return new ForkedWindows(probe, List.of(flags));
  }

  @Override
  public Optional<EntryPoint> entryPoint() {
    return Optional.of(new EntryPoint(probe));
  }

  @Override
  public Outcome measure(Trial trial) throws InterruptedException {
    return Turns.take(List.of(this), trial).getFirst();
  }

  @Override
  public Session open(Trial trial) throws InterruptedException {
    return ProbeProcess.start(probe, flags, trial).session();
  }
}
