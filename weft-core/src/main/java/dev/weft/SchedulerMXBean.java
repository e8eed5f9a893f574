package dev.weft;

import java.util.List;

/**
 * A scheduler for JMX clients such as JConsole. Each started scheduler has a bean {@code
 * dev.weft:type=Scheduler,name="NAME"} in the platform's MBean server, from within a second after
 * that server was made until the scheduler has stopped. A second scheduler of the same name gets
 * {@code ,number=2}.
 *
 * {@snippet class="dev.weft.SchedulerBeansTest" region="proxy"}
 *
 * <p>Attributes of one bean that are read within 100 ms come from one look at the scheduler.
 */
public interface SchedulerMXBean {
  /** Returns the name of the scheduler. */
  String getName();

  /** Returns how many fibers have begun since the scheduler was built. */
  long getBegun();

  /** Returns how many fibers have ended. */
  long getEnded();

  /** Returns how many fibers can run and wait for a thread. */
  int getReady();

  /** Returns how many fibers run on the scheduler's threads. */
  int getRunning();

  /**
   * Returns how many fibers are in {@link Fiber#sleep} or {@link Thread#sleep(java.time.Duration)}.
   */
  int getSleeping();

  /** Returns how many fibers wait for something else. */
  int getWaiting();

  /** Returns how many fibers are in a {@linkplain Weft#blocking blocking call}. */
  int getBlocking();

  /** Returns how many fibers wait for a helper thread for such a call. */
  int getAwaitingHelper();

  /** Returns how many of all these are set apart because they compute. */
  int getApart();

  /** Returns how many slices all threads have run. */
  long getSwitches();

  /** Returns how many fibers threads have taken from other threads. */
  long getStolen();

  /** Returns how many timers are set, those of sleeping fibers included. */
  int getTimers();

  /** Returns how often the watchdog repaired a lost wake-up: more than 0 is a fault of Weft's. */
  int getRescues();

  /** Returns the counters of each thread. */
  List<SchedulerStats.OfThread> getThreads();

  /**
   * Returns all fibers with their stacks as text: {@link FiberDump#text}. One string in the memory
   * of the program: of very many fibers it is large, and {@link #groupedDump} is short.
   */
  String dump();

  /**
   * Returns the fibers in groups of equal stacks and waits, after what looks like trouble, as text:
   * {@link GroupedDump#text}.
   */
  String groupedDump();
}
