package dev.weft.bench.run;

import dev.weft.bench.model.EntryPoint;
import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.util.List;
import java.util.Optional;

/** Runs a {@link Probe} in a fresh JVM with flags of its own. */
public record ForkedProbe(Class<? extends Probe> probe, List<String> flags) implements Measurement {
  public ForkedProbe {
    flags = List.copyOf(flags);
  }

  /** Runs the probe with these JVM flags in addition to those that Weft needs. */
  public static ForkedProbe of(Class<? extends Probe> probe, String... flags) {
    return new ForkedProbe(probe, List.of(flags));
  }

  @Override
  public Optional<EntryPoint> entryPoint() {
    return Optional.of(new EntryPoint(probe));
  }

  @Override
  public Outcome measure(Trial trial) throws InterruptedException {
    try (ProbeProcess jvm = ProbeProcess.start(probe, flags, trial)) {
      return jvm.answer();
    }
  }
}
