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

  /** Most slots hold few nodes. */
  private static final int FIRST_CHUNK = 4;

  /** One node that stays keeps so many places from being used again. */
  private static final int CHUNK = 32;

  private static final long MAX_TICK = 1L << (62 - TICK_SHIFT);

  private final long origin;

  // the chunks of each slot, none of them empty
  private final @Nullable TimerChunk[] heads = new TimerChunk[LEVELS * SLOTS];
  private final @Nullable TimerChunk[] tails = new TimerChunk[LEVELS * SLOTS];
  private final long[] occupied = new long[LEVELS];

  // all that was due before this tick has been handed out
  private long elapsed;
  private int size;

  // an empty chunk, so that one timer set and cancelled again and again leaves no garbage
  private @Nullable TimerChunk spare;

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
    put(node);
    size++;
  }

  /** Removes a node; returns false if it was in no queue, as one is that has expired. */
  public boolean remove(TimerNode node) {
    TimerChunk chunk = node.chunk;
    if (chunk == null) {
      return false;
    }
    chunk.remove(node);
    if (chunk.isEmpty()) {
      unlink(chunk);
    }
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
      for (TimerChunk chunk = heads[slot]; chunk != null; chunk = heads[slot]) {
        empty(chunk, due);
      }
    }
    elapsed = Math.max(elapsed, nowTick);
  }

  /** Hands out what is due, spreads the rest over lower levels; if memory ends, nothing is lost. */
  private void empty(TimerChunk chunk, Consumer<TimerNode> due) {
    for (int i = 0; i < chunk.end(); i++) {
      TimerNode node = chunk.at(i);
      if (node == null) {
        continue;
      }
      if (node.dueTick <= elapsed) {
        due.accept(node);
        node.chunk = null;
        size--;
      } else {
        put(node);
      }
      chunk.forget(i);
    }
    unlink(chunk);
  }

  /** Returns how many nodes are queued. */
  public int size() {
    return size;
  }

  /** Returns how much room its nodes take, in nodes, those that were removed included. */
  int places() {
    int sum = 0;
    for (TimerChunk head : heads) {
      for (TimerChunk chunk = head; chunk != null; chunk = chunk.next) {
        sum += chunk.size();
      }
    }
    return sum;
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

  private void put(TimerNode node) {
    long differing = (node.dueTick ^ elapsed) | 1;
    int level = (63 - Long.numberOfLeadingZeros(differing)) / DIGIT_BITS;
    int slot = level * SLOTS + digit(node.dueTick, level);
    TimerChunk tail = tails[slot];
    if (tail == null || tail.isFull()) {
      tail = append(slot);
    }
    tail.add(node);
  }

  private TimerChunk append(int slot) {
    TimerChunk tail = tails[slot];
    TimerChunk chunk;
    if (tail != null) {
      chunk = new TimerChunk(CHUNK);
    } else {
      chunk = spare != null ? spare : new TimerChunk(FIRST_CHUNK);
      spare = null;
    }
    chunk.slot = slot;
    chunk.prev = tail;
    if (tail != null) {
      tail.next = chunk;
    } else {
      heads[slot] = chunk;
      occupied[slot >>> DIGIT_BITS] |= 1L << slot;
    }
    tails[slot] = chunk;
    return chunk;
  }

  private void unlink(TimerChunk chunk) {
    int slot = chunk.slot;
    if (chunk.prev != null) {
      chunk.prev.next = chunk.next;
    } else {
      heads[slot] = chunk.next;
    }
    if (chunk.next != null) {
      chunk.next.prev = chunk.prev;
    } else {
      tails[slot] = chunk.prev;
    }
    if (heads[slot] == null) {
      occupied[slot >>> DIGIT_BITS] &= ~(1L << slot);
    }
    chunk.prev = null;
    chunk.next = null;
    if (chunk.size() == FIRST_CHUNK) {
      chunk.reset();
      spare = chunk;
    }
  }

  private static int digit(long tick, int level) {
    return (int) (tick >>> (level * DIGIT_BITS)) & (SLOTS - 1);
  }
}
