package dev.weft.bench.suite;

import dev.weft.Policy;
import dev.weft.Scheduler;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A scheduler for as long as a JMH method is measured, with so many threads. */
public abstract class Workers {
  final Scheduler scheduler;

  private Workers(Scheduler.Builder builder) {
    scheduler = builder.build().start();
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
      super(Scheduler.builder().threads(1));
    }
  }

  /** Two threads that take no fibers from each other while both serve theirs. */
  @State(Scope.Thread)
  public static class TwoFifo extends Workers {
    /** Starts them. */
    public TwoFifo() {
      super(Scheduler.builder().threads(2).policy(Policy.fifo()));
    }
  }

  /** Two threads. */
  @State(Scope.Thread)
  public static class Two extends Workers {
    /** Starts them. */
    public Two() {
      super(Scheduler.builder().threads(2));
    }
  }
}
