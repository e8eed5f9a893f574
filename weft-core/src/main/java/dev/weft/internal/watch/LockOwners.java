package dev.weft.internal.watch;

import dev.weft.Fiber;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.World;
import dev.weft.internal.switching.MonitorOwners;
import dev.weft.internal.wait.WaitQueue;
import java.util.Objects;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds what a waiting fiber waits for and which thread holds that: for dumps and the deadlock
 * detector.
 *
 * <pre>
 *   LockOwners owners = new LockOwners(Watchdog::fibers);    // once a look
 *   BlockedOn blocked = owners.blockedOn(fiber);             // null: not known
 *   Thread owner = blocked.owner();                          // null: no owner, or not known
 *   Fiber&lt;?&gt; ownerFiber = owner == null ? null : FiberCore.ofOrNull(owner);
 * </pre>
 *
 * <p>Known are the owners of monitors, of {@code ReentrantLock} and every other {@link
 * AbstractOwnableSynchronizer} that is held by one thread alone, of {@code Mutex}, and the writer
 * and the readers of {@code SharedMutex}; a joined fiber owns its end. Not known are the readers of
 * the JDK's locks, the monitors of a mounted fiber (see {@link MonitorOwners}), and the monitors of
 * virtual threads that are not fibers. And snapshots take 4 s at most in one look: of very many
 * fibers only the first are asked what they hold, and of very many at monitors only the first, at
 * which.
 *
 * <p>No lock is held and the fibers run on between two questions: an answer may be outdated when it
 * is read. A cycle that two looks find, with no slice of its fibers between them, is a deadlock.
 */
public final class LockOwners {
  /**
   * What a thread waits for.
   *
   * @param object a {@link FiberCore} that is joined, a lock's synchronizer, a {@link WaitQueue},
   *     an object with a monitor that the thread waits to enter, or any other blocker
   * @param isMonitor whether the thread waits for the monitor of the object
   * @param owner the thread that has to act before the wait can end; null if no single thread has
   *     to, or it is not known
   */
  public record BlockedOn(Object object, boolean isMonitor, @Nullable Thread owner) {}

  /** How long snapshots may take in all: of some hundred thousand fibers. */
  private static final long MOST_NANOS = 4_000_000_000L;

  /** How much of that the search for the owners of monitors may take. */
  private static final long MOST_SEARCH_NANOS = MOST_NANOS / 2;

  /** Stands for the monitor of a fiber that is not asked which it is: there is no time left. */
  enum NotAsked {
    MONITOR
  }

  private final Supplier<Stream<FiberCore<?>>> fibers;
  private final LongSupplier clock;

  // the time that is left for snapshots
  private long left = MOST_NANOS;

  // made when it is first needed: it costs a snapshot of every fiber
  private @Nullable MonitorOwners monitors;

  /**
   * Creates one look.
   *
   * @param fibers supplies the fibers that may hold a monitor; called if a fiber waits for one
   */
  public LockOwners(Supplier<Stream<FiberCore<?>>> fibers) {
    this(fibers, System::nanoTime);
  }

  LockOwners(Supplier<Stream<FiberCore<?>>> fibers, LongSupplier clock) {
    this.fibers = fibers;
    this.clock = clock;
  }

  /** Returns a look that finds the owner of no monitor: it takes no snapshot of other fibers. */
  static LockOwners ofNoMonitor() {
    LockOwners look = new LockOwners(Stream::empty);
    look.monitors = MonitorOwners.none();
    return look;
  }

  /** Returns what the fiber waits for, or null if it does not wait or that is not known. */
  public @Nullable BlockedOn blockedOn(FiberCore<?> fiber) {
    Thread thread = fiber.threadOrNull();
    if (thread == null) {
      return null;
    }
    Object blocker = LockSupport.getBlocker(thread);
    if (blocker != null) {
      return new BlockedOn(blocker, false, ownerOf(blocker));
    }
    Object known = leftMonitor(fiber);
    boolean isBlocked = thread.getState() == Thread.State.BLOCKED;
    if (known != null && isBlocked) { // notified, and waits to enter it again
      return new BlockedOn(known, true, monitorOwner(known));
    }
    if (left <= 0 && isBlocked && fiber.core().world == null) {
      return new BlockedOn(NotAsked.MONITOR, true, null);
    }
    long begin = clock.getAsLong();
    Object monitor = MonitorOwners.monitorThatBlocks(thread);
    left -= clock.getAsLong() - begin;
    return monitor == null ? null : new BlockedOn(monitor, true, monitorOwner(monitor));
  }

  /** Gives the time for snapshots anew: for a few fibers that matter more than the others. */
  void renew() {
    left = MOST_NANOS;
  }

  /**
   * Calls the visitor with the id of each thread that has to act before the wait can end; more than
   * one of readers that a writer waits for.
   */
  static void forEachOwner(BlockedOn blocked, LongConsumer visitor) {
    Thread owner = blocked.owner();
    if (blocked.object() instanceof WaitQueue queue && !blocked.isMonitor()) {
      queue.forEachHolder(visitor);
    } else if (owner != null) {
      visitor.accept(owner.threadId());
    }
  }

  /**
   * Returns whether a fiber waits, perhaps for something that one thread owns. Cheap, because it is
   * called for every fiber.
   */
  public static boolean mayWaitForOwner(FiberCore<?> fiber) {
    Thread thread = fiber.threadOrNull();
    if (thread == null || fiber.status() != Fiber.Status.WAITING) {
      return false;
    }
    Object blocker = LockSupport.getBlocker(thread);
    if (blocker instanceof WaitQueue queue) {
      return queue.mayHaveHolders();
    }
    return blocker != null
        ? ownerOf(blocker) != null
        : thread.getState() == Thread.State.BLOCKED; // at a monitor
  }

  /** Returns what a fiber waits for, but for a monitor; null also if it does not wait. */
  static @Nullable Object blockerOf(FiberCore<?> fiber) {
    Thread thread = fiber.threadOrNull();
    return thread == null ? null : LockSupport.getBlocker(thread);
  }

  /** Returns the thread that holds what is waited for alone; null if none does. */
  static @Nullable Thread ownerOf(Object blocker) {
    return switch (blocker) {
      case FiberCore<?> joined -> joined.threadOrNull();
      case WaitQueue queue -> queue.holder();
      case AbstractOwnableSynchronizer lock -> MonitorOwners.ownerOf(lock);
      default -> null;
    };
  }

  /** Returns the monitor that a fiber has left in {@code Object.wait}, if a world knows it. */
  private static @Nullable Object leftMonitor(@Nullable FiberCore<?> fiber) {
    World world = fiber == null ? null : fiber.core().world;
    return world == null ? null : world.leftMonitor(Objects.requireNonNull(fiber));
  }

  private @Nullable Thread monitorOwner(Object monitor) {
    MonitorOwners known = monitors;
    if (known == null) {
      long begin = clock.getAsLong();
      known =
          MonitorOwners.among(
              fibers
                  .get()
                  .takeWhile(
                      fiber ->
                          fiber.core().world != null // a run must not depend on real time
                              || clock.getAsLong() - begin < MOST_SEARCH_NANOS)
                  .map(FiberCore::threadOrNull)
                  .filter(thread -> thread != null),
              thread -> leftMonitor(FiberCore.ofOrNull(thread)));
      monitors = known;
      left -= clock.getAsLong() - begin;
    }
    return known.ownerOf(monitor);
  }
}
