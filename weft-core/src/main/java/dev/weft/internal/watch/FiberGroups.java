package dev.weft.internal.watch;

import dev.weft.Fiber;
import dev.weft.GroupedDump;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.switching.StackShape;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Groups fibers by state, stack and kind of wait, and counts the waiters of each lock that has an
 * owner. Of a million fibers a thousand groups are kept at most, each with one stack; a fiber costs
 * a walk of its stack, some 2 µs and 2 KB of garbage, and no memory. Texts are made of the kept
 * groups only, so that a blocker's {@code toString()}, which may be the user's, is called seldom.
 */
final class FiberGroups implements Consumer<FiberCore<?>> {
  private static final int MOST_GROUPS = 1_024;
  private static final int MOST_LOCKS = 16_384;
  private static final int MOST_HOLDERS = 1_000;

  /**
   * What the fibers of a group have in common.
   *
   * @param stack a {@link StackShape}, or the frames of a thread that has none
   */
  private record Kind(
      FiberCounts.State state,
      Fiber.Status status,
      boolean waits,
      @Nullable Class<?> blocker,
      Object stack) {
    @SuppressWarnings("unchecked") // see above
    List<StackTraceElement> frames() {
      return stack instanceof StackShape shape ? shape.frames() : (List<StackTraceElement>) stack;
    }
  }

  private static final class Group extends LargestCounts.Counted {
    final Kind kind;
    @Nullable FiberCore<?> longest;
    LockOwners.@Nullable BlockedOn longestOn;
    long most = -1;
    long least = Long.MAX_VALUE;
    boolean same = true;

    Group(Kind kind) {
      this.kind = kind;
    }

    void add(FiberCore<?> fiber, LockOwners.@Nullable BlockedOn blockedOn, long nanos) {
      same &= longest == null || objectOf(blockedOn) == objectOf(longestOn);
      if (nanos > most) {
        most = nanos;
        longest = fiber;
        longestOn = blockedOn;
      }
      least = Math.min(least, nanos);
    }
  }

  /** A lock by its identity. */
  private record Lock(Object object) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Lock lock && lock.object == object;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(object);
    }
  }

  private static final class Waiters extends LargestCounts.Counted {
    LockOwners.@Nullable BlockedOn lock;
    @Nullable FiberCore<?> waiter;
    long longest;

    void add(FiberCore<?> fiber, LockOwners.BlockedOn blockedOn, long nanos) {
      waiter = fiber;
      lock = blockedOn;
      longest = Math.max(longest, nanos);
    }

    /** The lock in words, by the stack of a fiber that waits for it, if that still waits. */
    String text() {
      Thread thread = waiter == null ? null : waiter.threadOrNull();
      return WaitText.of(lock, Dumps.framesOf(thread));
    }

    /** A fiber that one other fiber joins is not worth a line. */
    boolean isTrouble() {
      return count() > 1 || !(objectOf(lock) instanceof Fiber<?>);
    }
  }

  private final LockOwners owners;
  private final FiberCounts counts = new FiberCounts();
  private final LargestCounts<Kind, Group> groups = new LargestCounts<>(MOST_GROUPS);
  private final LargestCounts<Lock, Waiters> locks = new LargestCounts<>(MOST_LOCKS);

  FiberGroups(LockOwners owners) {
    this.owners = owners;
  }

  @Override
  public void accept(FiberCore<?> fiber) {
    FiberCounts.State state = counts.count(fiber);
    Thread thread = fiber.threadOrNull();
    StackShape shape = thread == null ? null : StackShape.ofOrNull(thread);
    Object stack = shape != null ? shape : Dumps.framesOf(thread);
    Fiber.Status status = fiber.status();
    boolean waits = fiber.isWaiting();
    LockOwners.BlockedOn blockedOn = waits ? owners.blockedOn(fiber) : null;
    long nanos = Dumps.waitingNanos(fiber);
    Object blocker = objectOf(blockedOn);
    Kind kind = new Kind(state, status, waits, blocker == null ? null : blocker.getClass(), stack);
    groups.count(kind, Group::new).add(fiber, blockedOn, nanos);
    if (blockedOn != null && blockedOn.owner() != null) {
      locks.count(new Lock(blockedOn.object()), _ -> new Waiters()).add(fiber, blockedOn, nanos);
    }
  }

  private static @Nullable Object objectOf(LockOwners.@Nullable BlockedOn blockedOn) {
    return blockedOn == null ? null : blockedOn.object();
  }

  FiberCounts counts() {
    return counts;
  }

  /** Returns the number of fibers in groups that were too many to keep. */
  long ungrouped() {
    return groups.dropped();
  }

  /** Returns the groups, the largest first; of equal ones the group that has waited longest. */
  List<GroupedDump.Group> groups() {
    return groups
        .largestFirst(Comparator.<Group>comparingLong(group -> group.most).reversed())
        .stream()
        .map(FiberGroups::finished)
        .toList();
  }

  private static GroupedDump.Group finished(Group group) {
    FiberCore<?> fiber = Objects.requireNonNull(group.longest);
    return new GroupedDump.Group(
        group.count(),
        group.same,
        Duration.ofNanos(group.least),
        Dumps.entry(
            fiber,
            group.kind.status(),
            group.kind.waits(),
            group.longestOn,
            group.kind.frames(),
            group.most));
  }

  /**
   * Returns the locks that fibers wait for and their owners, the most wanted first.
   *
   * @param cycles circles of fibers: locks that only these want are left out
   */
  List<GroupedDump.Holder> holders(List<List<FiberCore<?>>> cycles) {
    owners.renew();
    return locks
        .largestFirst(Comparator.<Waiters>comparingLong(waiters -> waiters.longest).reversed())
        .stream()
        .filter(Waiters::isTrouble)
        .filter(waiters -> waiters.count() > 1 || !isOwnedIn(cycles, waiters))
        .limit(MOST_HOLDERS)
        .map(this::holder)
        .toList();
  }

  private static boolean isOwnedIn(List<List<FiberCore<?>>> cycles, Waiters waiters) {
    FiberCore<?> owner = FiberCore.ofOrNull(Objects.requireNonNull(ownerOf(waiters)));
    return cycles.stream().anyMatch(cycle -> cycle.contains(owner));
  }

  private static @Nullable Thread ownerOf(Waiters waiters) {
    return waiters.lock == null ? null : waiters.lock.owner();
  }

  private GroupedDump.Holder holder(Waiters waiters) {
    Thread owner = Objects.requireNonNull(ownerOf(waiters));
    FiberCore<?> fiber = FiberCore.ofOrNull(owner);
    List<StackTraceElement> stack = Dumps.framesOf(owner);
    return new GroupedDump.Holder(
        waiters.text(),
        fiber == null ? owner + " is " + owner.getState() : Dumps.entry(fiber, owners).summary(),
        waiters.count(),
        Duration.ofNanos(waiters.longest),
        stack);
  }
}
