package dev.weft.internal.sched;

import dev.weft.FiberDump;
import dev.weft.GroupedDump;
import dev.weft.SchedulerStats;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The services of the layers above schedulers: the hook prepares the JDK, the watchdog watches the
 * schedulers, dumps and statistics are taken. Schedulers know this class only, so that no
 * dependency between packages points upwards.
 *
 * <p>Set once, before the first scheduler is built. A class of its own holds it: schedulers and
 * their superclasses initialize each other, on any thread.
 */
public abstract class Surroundings {
  private static volatile @Nullable Surroundings instance;

  /** Called once, by {@code Wiring}. */
  public static void set(Surroundings surroundings) {
    instance = surroundings;
  }

  static Surroundings get() {
    return Objects.requireNonNull(instance);
  }

  /**
   * Called before a scheduler is built.
   *
   * @throws IllegalArgumentException if a system property of Weft's makes no sense
   */
  public abstract void building();

  /** Waits until the JDK has been prepared; called by each worker's thread before it serves. */
  public abstract void awaitPreparation();

  /** Called when a scheduler starts. */
  public abstract void started(SchedulerCore scheduler);

  /** Called when a scheduler has stopped. */
  public abstract void stopped(SchedulerCore scheduler);

  /** Returns the report on a deadlock of all fibers, or null if a fiber can still be woken. */
  public abstract @Nullable String standstill(SchedulerCore scheduler);

  /** Takes the numbers of a scheduler. */
  public abstract SchedulerStats stats(SchedulerCore scheduler);

  /** Takes a dump of a scheduler. */
  public abstract FiberDump dump(SchedulerCore scheduler);

  /** Takes a dump of a scheduler with its fibers in groups. */
  public abstract GroupedDump groupedDump(SchedulerCore scheduler);

  /** Finds the leaked fibers of a scheduler. */
  public abstract List<FiberDump.Entry> leaks(SchedulerCore scheduler);
}
