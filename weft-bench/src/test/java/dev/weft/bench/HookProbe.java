package dev.weft.bench;

import dev.weft.Hook;
import dev.weft.bench.run.Probe;
import dev.weft.bench.run.WindowProbe;
import java.util.Map;

/** Says 4 if no hook is installed, else 2. */
public final class HookProbe implements Probe {
  static final String ANSWER = "answer";
  static final String MORE = "more";

  @Override
  public Map<String, Double> measure(String parameter, boolean quick) {
    double answer = Hook.isInstalled() ? 2 : 4;
    return Map.of(ANSWER, answer, MORE, answer);
  }

  /** The same in windows. */
  public static final class InTurns implements WindowProbe {
    @Override
    public Windows prepare(String parameter, boolean quick) {
      return () -> new HookProbe().measure(parameter, quick);
    }
  }
}
