package dev.weft.bench.suite;

import dev.weft.Scheduler;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A scheduler for as long as a JMH method is measured, with so many threads. */
public abstract class Workers {
  final Scheduler scheduler;

  private Workers(int threads) {
    scheduler = Scheduler.builder().threads(threads).build().start();
  }

  /** Ends its threads. */
  @TearDown
  public void stop() {
    scheduler.stop();
  }

  /** One thread. */
  @State(Scope.Thread)
  public static class One extends Workers {
    /** Starts it. */
    public One() {
      super(1);
    }
  }

  /** Two threads. */
  @State(Scope.Thread)
  public static class Two extends Workers {
    /** Starts them. */
    public Two() {
      super(2);
    }
  }
}
