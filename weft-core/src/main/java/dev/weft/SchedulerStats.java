package dev.weft;

import java.util.List;

/**
 * The numbers of ready, sleeping and waiting fibers of a scheduler, and the counters of its
 * threads.
 *
 * @param begun fibers begun since it was built
 * @param ended fibers that have ended
 * @param ready fibers that can run and wait for a thread
 * @param running fibers that run on its threads, or on the threads of fibers that compute
 * @param sleeping fibers in {@link Fiber#sleep} or {@link Thread#sleep(java.time.Duration)}
 * @param waiting fibers that wait for something else
 * @param blocking fibers in a {@linkplain Weft#blocking blocking call}, on helper threads
 * @param awaitingHelper fibers that wait for a helper thread for such a call
 * @param apart how many of all these are {@linkplain Scheduler.Builder#separateComputing set apart}
 *     because they compute
 * @param threads the counters of each thread
 */
public record SchedulerStats(
    long begun,
    long ended,
    int ready,
    int running,
    int sleeping,
    int waiting,
    int blocking,
    int awaitingHelper,
    int apart,
    List<OfThread> threads) {
  /**
   * One thread of a scheduler.
   *
   * @param index its index
   * @param ready fibers in its queue and inbox
   * @param timers timers in its timer wheel, those of sleeping fibers included
   * @param switches slices it has run
   * @param stolen fibers it has taken from other threads
   * @param sleeps how often it has gone to sleep
   * @param rescues how often the watchdog had to wake it because it slept although fibers were
   *     ready on it: more than 0 is a fault of Weft's, which is logged too
   * @param asleep whether it sleeps now
   */
  public record OfThread(
      int index,
      int ready,
      int timers,
      long switches,
      long stolen,
      long sleeps,
      int rescues,
      boolean asleep) {}

  /** Copies the list. */
  public SchedulerStats {
    threads = List.copyOf(threads);
  }

  /** Returns the sum of the {@link OfThread#rescues} of all threads. */
  public int rescues() {
    return threads.stream().mapToInt(OfThread::rescues).sum();
  }
}
