package dev.weft.internal.timer;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hierarchical timing wheel: adding and removing cost the same for one timer and for a million.
 *
 * <pre>
 *   tick = 131 µs (2^17 ns)
 *   level 0: 64 slots of 1 tick            8 ms
 *   level 1: 64 slots of 64 ticks        537 ms
 *   level 2: 64 slots of 64² ticks        34 s     …and so on, 8 levels: for ever
 * </pre>
 *
 * <p>Invariants, between calls:
 *
 * <ul>
 *   <li>elapsed ≤ dueTick of every queued node;
 *   <li>a node is on the level of the highest 6-bit digit in which dueTick and elapsed differ, in
 *       the slot that this digit of dueTick names: all nodes of a level-0 slot are due at the same
 *       tick, and a slot of a higher level is spread over the lower ones when its first tick has
 *       come;
 *   <li>bit s of occupied[level] is set if and only if slot s of the level is not empty.
 * </ul>
 *
 * <p>A deadline is rounded up to the next tick, so nothing fires early. Not thread safe: one thread
 * at a time (a worker's duty lock).
 */
public final class TimerQueue {
  private static final int TICK_SHIFT = 17;
  private static final int DIGIT_BITS = 6;
  private static final int SLOTS = 1 << DIGIT_BITS;
  private static final int LEVELS = 8;
  private static final long MAX_TICK = 1L << (62 - TICK_SHIFT);

  private final long origin;
  private final @Nullable TimerNode[] heads = new TimerNode[LEVELS * SLOTS];
  private final @Nullable TimerNode[] tails = new TimerNode[LEVELS * SLOTS];
  private final long[] occupied = new long[LEVELS];

  // all that was due before this tick has been handed out
  private long elapsed;
  private int size;

  /** Creates an empty queue whose clock, in nanoseconds, shows {@code now}. */
  public TimerQueue(long now) {
    this.origin = now;
  }

  /** Adds a node that is in no queue, to expire at {@code deadline} or up to a tick later. */
  public void add(TimerNode node, long deadline) {
    long nanos = deadline - origin;
    long tick =
        nanos <= 0 ? 0 : Math.min((nanos + (1L << TICK_SHIFT) - 1) >>> TICK_SHIFT, MAX_TICK);
    node.dueTick = Math.max(tick, elapsed);
    link(node);
    size++;
  }

  /** Removes a node; returns false if it was in no queue, as one is that has expired. */
  public boolean remove(TimerNode node) {
    int slot = node.slot;
    if (slot < 0) {
      return false;
    }
    if (node.prev != null) {
      node.prev.next = node.next;
    } else {
      heads[slot] = node.next;
    }
    if (node.next != null) {
      node.next.prev = node.prev;
    } else {
      tails[slot] = node.prev;
    }
    if (heads[slot] == null) {
      occupied[slot >>> DIGIT_BITS] &= ~(1L << slot);
    }
    unlinked(node);
    size--;
    return true;
  }

  /**
   * Returns a time before which {@link #expire} has nothing to do, or {@link Long#MAX_VALUE} if the
   * queue is empty.
   */
  public long nextWake() {
    long tick = nextTick();
    return tick == Long.MAX_VALUE ? tick : origin + (tick << TICK_SHIFT);
  }

  /** Hands out the nodes that are due, in the order of their ticks, then of their adding. */
  public void expire(long now, Consumer<TimerNode> due) {
    long nowTick = (now - origin) >> TICK_SHIFT;
    for (long tick = nextTick(); tick <= nowTick; tick = nextTick()) {
      elapsed = tick;
      int level = firstLevel();
      int slot = level * SLOTS + digit(tick, level);
      TimerNode node = heads[slot];
      heads[slot] = null;
      tails[slot] = null;
      occupied[level] &= ~(1L << slot);
      while (node != null) {
        TimerNode next = node.next;
        unlinked(node);
        if (node.dueTick <= tick) {
          size--;
          due.accept(node);
        } else {
          link(node);
        }
        node = next;
      }
    }
    elapsed = Math.max(elapsed, nowTick);
  }

  /** Returns how many nodes are queued. */
  public int size() {
    return size;
  }

  /**
   * The first tick of the first occupied slot: of the lowest occupied level, as the levels nest.
   */
  private long nextTick() {
    int level = firstLevel();
    if (level == LEVELS) {
      return Long.MAX_VALUE;
    }
    int shift = level * DIGIT_BITS;
    long first = Long.numberOfTrailingZeros(occupied[level]);
    long base = elapsed >>> shift >>> DIGIT_BITS;
    return Math.max(((base << DIGIT_BITS) | first) << shift, elapsed);
  }

  private int firstLevel() {
    int level = 0;
    while (level < LEVELS && occupied[level] == 0) {
      level++;
    }
    return level;
  }

  private void link(TimerNode node) {
    long differing = (node.dueTick ^ elapsed) | 1;
    int level = (63 - Long.numberOfLeadingZeros(differing)) / DIGIT_BITS;
    int slot = level * SLOTS + digit(node.dueTick, level);
    TimerNode tail = tails[slot];
    node.slot = slot;
    node.prev = tail;
    if (tail != null) {
      tail.next = node;
    } else {
      heads[slot] = node;
      occupied[level] |= 1L << slot;
    }
    tails[slot] = node;
  }

  private static int digit(long tick, int level) {
    return (int) (tick >>> (level * DIGIT_BITS)) & (SLOTS - 1);
  }

  private static void unlinked(TimerNode node) {
    node.slot = -1;
    node.prev = null;
    node.next = null;
  }
}
