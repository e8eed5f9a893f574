package dev.weft.sim.boot;

import org.jspecify.annotations.Nullable;

/**
 * The simulation that runs now, as rewritten code sees it. Implemented by the simulation; {@link
 * RewrittenCalls} asks it only on a thread that is {@link #inside} it.
 */
public interface CurrentWorld {
  /** Returns whether the current thread is the fiber that the simulation runs at this moment. */
  boolean inside();

  /** Returns the virtual time of {@code System.nanoTime}. */
  long nanoTime();

  /** Returns the virtual time in nanoseconds since 1970. */
  long wallNanos();

  /** Returns how long a time of the current host's clock is for the simulation. */
  long simulationNanos(long hostNanos);

  /** Returns the files of the simulation. */
  CurrentFiles files();

  /** Returns the next number of the simulation's seeded generator. */
  long random();

  /** Called before an operation of the program that other fibers may see. */
  void point(@Nullable Object owner, int site);

  /** Called at a hint that the program spins. */
  void spin();

  /** Called when a class initializer of the program begins or ends: there are no points inside. */
  void initializer(boolean begins);

  /**
   * Called when the current fiber leaves a monitor to wait, and with null when the wait is over.
   */
  void waits(@Nullable Object monitor);

  /**
   * Returns whether the current fiber, which is a virtual thread, stands for a daemon: main and the
   * fibers in place of plain threads may not.
   */
  boolean isDaemon();

  /** Returns the default name of the next plain thread. */
  String threadName();

  /** Returns the number of the next thread pool, from 1 on. */
  int poolNumber();

  /** Returns the number of the next {@code java.util.Timer}, from 0 on. */
  int timerNumber();

  /** Starts a fiber in place of a plain thread; returns false if the thread is to start itself. */
  boolean startInPlace(Thread plain);

  /**
   * Returns the thread of the fiber that runs in place of a plain thread; null if there is none.
   */
  @Nullable Thread inPlaceOf(Thread plain);

  /** Returns the plain thread in whose place a fiber's thread runs; else the thread itself. */
  Thread plainOf(Thread thread);

  /** Runs a task in a new fiber, after a delay. */
  void runLater(Runnable task, long delayNanos, String name);

  /** Ends the run in place of {@code System.exit}; does not return. */
  void exit(int status);

  /** Throws because the program uses something that cannot be simulated. */
  void refuse(String what);
}
