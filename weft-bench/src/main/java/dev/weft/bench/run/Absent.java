package dev.weft.bench.run;

import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Outcome;

/** A contestant that cannot be measured on this machine, with the reason for the table. */
public record Absent(String reason) implements InTurns.Session {
  @Override
  public Outcome window() {
    return new Outcome.Failure(reason, true);
  }

  @Override
  public void close() {}
}
