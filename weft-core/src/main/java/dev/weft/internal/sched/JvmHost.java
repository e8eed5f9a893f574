package dev.weft.internal.sched;

import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler that runs the virtual threads of the JVM that have no scheduler of their own: the
 * one that the user has named, as long as it runs; else the program's under {@code ./weft run};
 * else the shared one, which starts with the first such thread.
 */
public final class JvmHost {
  private static volatile @Nullable SchedulerCore ofProgram;

  // how many threads the program's scheduler gets, if it is still to be started
  private static volatile int threadsOfProgram;

  // what the last call of Scheduler.hostVirtualThreads named
  private static volatile @Nullable SchedulerCore named;

  private JvmHost() {}

  /** Sets the scheduler that the user names. */
  static void name(SchedulerCore scheduler) {
    named = scheduler;
  }

  /** Chooses the program's scheduler; called before the program runs. */
  static void choose(SchedulerCore program) {
    ofProgram = program;
  }

  /** Chooses a scheduler that starts with the first virtual thread; likewise. */
  static void chooseThreads(int threads) {
    threadsOfProgram = threads;
  }

  /** Returns the scheduler. */
  public static SchedulerCore scheduler() {
    SchedulerCore host = named;
    return host != null && !host.isStopping() ? host : unnamed();
  }

  private static SchedulerCore unnamed() {
    SchedulerCore program = ofProgram;
    if (program != null) {
      return program;
    }
    return threadsOfProgram > 0 ? OfVirtualThreads.SCHEDULER : SchedulerCore.shared();
  }

  /** The scheduler of a program with main on a plain thread. */
  private static final class OfVirtualThreads {
    static final SchedulerCore SCHEDULER =
        SchedulerCore.started(SchedulerConfig.ofProgram(threadsOfProgram));

    private OfVirtualThreads() {}
  }

  /**
   * Makes a virtual thread a guest of the scheduler. Called by the JDK when a platform thread has
   * started the thread, with its first slice. Must not block.
   */
  public static void begin(Runnable slice) {
    SchedulerCore host = scheduler();
    try {
      beginOn(host, slice);
    } catch (RejectedExecutionException e) { // the named scheduler has stopped in between
      SchedulerCore other = scheduler();
      if (other == host) {
        throw e;
      }
      beginOn(other, slice);
    }
  }

  private static void beginOn(SchedulerCore host, Runnable slice) {
    if (!host.hostsJvm) { // Check first: a volatile store costs a fence.
      host.hostsJvm = true;
    }
    FiberExecutor.beginGuest(host, null, slice);
  }
}
