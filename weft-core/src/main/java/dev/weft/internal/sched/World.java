package dev.weft.internal.sched;

import dev.weft.internal.Clock;
import org.jspecify.annotations.Nullable;

/**
 * A simulated world around a scheduler: it has its own time, and it decides when time passes. A
 * scheduler in a world has one worker, no watchdog and no helper threads; its timers are exact.
 *
 * <pre>
 *   Worker.serve(world):  settle ──► inbox, timers ──► a fiber is ready:  slice ──► afterSlice
 *                                                 └──► none is ready:     jump
 * </pre>
 *
 * <p>The world chooses the next fiber too: the ready queue of the scheduler's policy is its own.
 * All methods but those of the clock are called on the thread that serves.
 */
public interface World {
  /** Returns the clock, which any thread may read. */
  Clock clock();

  /** Called before each choice: waits until wake-ups by threads of the JVM have arrived. */
  void settle();

  /** Called after each slice of a fiber. */
  void afterSlice(FiberCore<?> fiber);

  /**
   * Called when no fiber is ready: moves the clock to the time of the next timer, or ends the run.
   *
   * @param nextTimer when the next timer is due; {@link Long#MAX_VALUE} if there is none
   */
  void jump(long nextTimer);

  /**
   * Returns the object whose monitor a fiber has left in {@code Object.wait}, and has not entered
   * again; null if there is none. Called while the fiber does not run.
   */
  @Nullable Object leftMonitor(FiberCore<?> fiber);

  /** Returns whether the worker is to stop serving; a later call of serve goes on. */
  boolean isOver();
}
