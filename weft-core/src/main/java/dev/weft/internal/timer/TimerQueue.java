package dev.weft.internal.timer;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The timers of one worker: a hierarchical timing wheel (Varghese and Lauck, "Hashed and
 * Hierarchical Timing Wheels", SOSP 1987), in which adding and removing cost the same for one timer
 * and for a million; and beside it a heap of near timers, for which the wheel is too coarse. A new
 * timer stays in a list until the worker next calls expire() or nextWake(): most time limits are
 * removed soon, and many of them before that moment.
 *
 * <pre>
 *                       ┌─ due in less than 2 ticks ──► near, a heap: exact
 *   add ──► unsorted ───┤
 *                       └─ later ──► wheel, rounded up to its tick of 131 µs (2^17 ns)
 *                                    level 0: 256 slots of 1 tick            33 ms
 *                                    level 1: 256 slots of 256 ticks        8.6 s
 *                                    level 2: 256 slots of 256² ticks        37 min
 *                                    …and so on, 6 levels: for ever
 * </pre>
 *
 * <p>Nothing fires early. A wait is prolonged by less than a tick, and by less than half its
 * length. Long waits are rounded because timers of one tick then need one wake-up of the worker.
 *
 * <p>Invariants, between calls:
 *
 * <ul>
 *   <li>a node that was added since the last expire() or nextWake() is in UNSORTED; a near one is
 *       in the heap and stays there; all other nodes are on the wheel, and of those holds:
 *   <li>elapsed ≤ dueTick;
 *   <li>a node is on the level of the highest byte in which dueTick and elapsed differ, in the slot
 *       that this byte of dueTick names: all nodes of a level-0 slot are due at the same tick, and
 *       a slot of a higher level is spread over the lower ones when its first tick has come;
 *   <li>the slots of all levels are numbered in a row; bit s % 64 of occupied[s / 64] is set if and
 *       only if slot s is not empty, and bit w of occupiedWords if and only if occupied[w] is not
 *       0.
 * </ul>
 *
 * <p>Not thread safe: one thread at a time (a worker's duty lock).
 */
public final class TimerQueue {
  private static final int TICK_SHIFT = 17;
  private static final long ROUND_UP = (1L << TICK_SHIFT) - 1;

  /** A node that is due sooner is near: it is not rounded up to a tick, unless all are exact. */
  private static final long NEAR_NANOS = 2L << TICK_SHIFT;

  private static final int SLOTS = 1 << Byte.SIZE;
  private static final int LEVELS = 6;

  /** The list of unsorted nodes: not a slot of the wheel, but of the same form. */
  private static final int UNSORTED = LEVELS * SLOTS;

  /** The size of a slot's first chunk: most slots hold few nodes. */
  private static final int FIRST_CHUNK = 4;

  /** The size of further chunks: one node that stays keeps so many places allocated. */
  private static final int CHUNK = 32;

  /** The same of unsorted nodes, which do not stay long. */
  private static final int UNSORTED_CHUNK = 128;

  private static final long MAX_TICK = 1L << (62 - TICK_SHIFT);

  private final long origin;
  private final long nearNanos;
  private final NearTimers near = new NearTimers();

  // the latest time that was passed to expire(); its tick is elapsed
  private long lastNow;

  // the chunks of each slot and of UNSORTED, none of them empty
  private final @Nullable TimerChunk[] heads = new TimerChunk[UNSORTED + 1];
  private final @Nullable TimerChunk[] tails = new TimerChunk[UNSORTED + 1];
  private final long[] occupied = new long[UNSORTED / Long.SIZE + 1];
  private long occupiedWords;

  // all nodes that were due before this tick have expired
  private long elapsed;
  private int size;

  // a copy of tails[UNSORTED], which saves two dependent loads
  private @Nullable TimerChunk unsortedTail;

  // an empty chunk, so that a timer that is set and cancelled again and again leaves no garbage
  private @Nullable TimerChunk spare;

  /** Creates an empty queue; its clock, in nanoseconds, shows {@code now}. */
  public TimerQueue(long now) {
    this(now, NEAR_NANOS);
  }

  private TimerQueue(long now, long nearNanos) {
    this.origin = now;
    this.lastNow = now;
    this.nearNanos = nearNanos;
  }

  /**
   * Creates an empty queue whose nodes expire exactly at their deadlines; slower with many nodes.
   * Its clock may be set back while the queue is empty.
   */
  public static TimerQueue exact(long now) {
    return new TimerQueue(now, Long.MAX_VALUE);
  }

  /**
   * Adds a node that is in no queue, to expire at {@code deadline} or, unless that is near, up to a
   * tick later.
   */
  public void add(TimerNode node, long deadline) {
    node.deadline = deadline;
    append(node, UNSORTED, unsortedTail);
    size++;
  }

  /** The tick at which a node of the wheel is due. */
  private long dueTick(TimerNode node) {
    long tick = (node.deadline - origin + ROUND_UP) >>> TICK_SHIFT;
    return Math.min(tick, MAX_TICK);
  }

  /** Removes a node; returns false if it was in no queue, because it has expired. */
  public boolean remove(TimerNode node) {
    TimerChunk chunk = node.chunk;
    if (chunk == null) {
      return false;
    }
    if (chunk == NearTimers.CHUNK) {
      near.remove(node);
    } else {
      chunk.remove(node);
      if (chunk.isEmpty()) {
        unlink(chunk);
      }
    }
    size--;
    return true;
  }

  /**
   * Returns a time before which {@link #expire} has nothing to do, or {@link Long#MAX_VALUE} if the
   * queue is empty.
   */
  public long nextWake() {
    sort();
    long tick = nextTick();
    if (near.isEmpty()) {
      return tick == Long.MAX_VALUE ? tick : timeOf(tick);
    }
    long first = near.first().deadline;
    return tick == Long.MAX_VALUE || first - timeOf(tick) < 0 ? first : timeOf(tick);
  }

  private long timeOf(long tick) {
    return origin + (tick << TICK_SHIFT);
  }

  /**
   * Removes the nodes that are due and passes them on, ordered by time: the deadline of a near
   * node, the tick of any other. At equal times near nodes come first, then the order is that of
   * adding.
   */
  public void expire(long now, Consumer<TimerNode> due) {
    if (now - lastNow > 0) { // a worker that stands in and was delayed may bring an older time
      lastNow = now;
    }
    sort();
    long nowTick = (now - origin) >> TICK_SHIFT;
    for (long tick = nextTick(); tick <= nowTick; tick = nextTick()) {
      expireNear(timeOf(tick), due);
      elapsed = tick;
      int slot = firstSlot();
      for (TimerChunk chunk = heads[slot]; chunk != null; chunk = heads[slot]) {
        empty(chunk, due);
      }
    }
    expireNear(now, due);
    elapsed = Math.max(elapsed, nowTick);
  }

  private void expireNear(long now, Consumer<TimerNode> due) {
    while (!near.isEmpty() && near.first().deadline - now <= 0) {
      TimerNode node = near.first();
      due.accept(node);
      near.remove(node);
      size--;
    }
  }

  /** Moves the unsorted nodes to heap and wheel; if memory runs out, the rest stays unsorted. */
  private void sort() {
    for (TimerChunk chunk = heads[UNSORTED]; chunk != null; chunk = heads[UNSORTED]) {
      for (int i = 0; i < chunk.end(); i++) {
        TimerNode node = chunk.at(i);
        if (node != null) {
          if (node.deadline - lastNow < nearNanos) {
            near.add(node);
          } else {
            put(node, dueTick(node));
          }
          chunk.forget(i);
        }
      }
      unlink(chunk);
    }
  }

  /** Expires due nodes, spreads the rest over lower levels; loses none if memory runs out. */
  private void empty(TimerChunk chunk, Consumer<TimerNode> due) {
    for (int i = 0; i < chunk.end(); i++) {
      TimerNode node = chunk.at(i);
      if (node == null) {
        continue;
      }
      long tick = dueTick(node);
      if (tick == elapsed) {
        due.accept(node);
        node.chunk = null;
        size--;
      } else {
        put(node, tick);
      }
      chunk.forget(i);
    }
    unlink(chunk);
  }

  /** Returns how many nodes are queued. */
  public int size() {
    return size;
  }

  /** Returns the number of allocated places, holes included. */
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
    if (occupiedWords == 0) {
      return Long.MAX_VALUE;
    }
    int slot = firstSlot();
    int shift = slot / SLOTS * Byte.SIZE;
    long base = elapsed >>> shift >>> Byte.SIZE;
    return Math.max(((base << Byte.SIZE) | (slot % SLOTS)) << shift, elapsed);
  }

  private int firstSlot() {
    int word = Long.numberOfTrailingZeros(occupiedWords);
    return word * Long.SIZE + Long.numberOfTrailingZeros(occupied[word]);
  }

  private void put(TimerNode node, long tick) {
    int highestBit = 63 - Long.numberOfLeadingZeros((tick ^ elapsed) | 1);
    int shift = highestBit & -Byte.SIZE;
    int slot = shift * (SLOTS / Byte.SIZE) + ((int) (tick >>> shift) & (SLOTS - 1));
    append(node, slot, tails[slot]);
  }

  private void append(TimerNode node, int slot, @Nullable TimerChunk tail) {
    TimerChunk last = tail == null || tail.isFull() ? newTail(slot) : tail;
    last.add(node);
  }

  private TimerChunk newTail(int slot) {
    TimerChunk tail = tails[slot];
    TimerChunk chunk;
    if (tail != null) {
      chunk = new TimerChunk(slot == UNSORTED ? UNSORTED_CHUNK : CHUNK);
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
      int word = slot / Long.SIZE;
      occupied[word] |= 1L << slot;
      occupiedWords |= 1L << word;
    }
    setTail(slot, chunk);
    return chunk;
  }

  private void setTail(int slot, @Nullable TimerChunk tail) {
    tails[slot] = tail;
    if (slot == UNSORTED) {
      unsortedTail = tail;
    }
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
      setTail(slot, chunk.prev);
    }
    if (heads[slot] == null) {
      int word = slot / Long.SIZE;
      occupied[word] &= ~(1L << slot);
      if (occupied[word] == 0) {
        occupiedWords &= ~(1L << word);
      }
    }
    chunk.prev = null;
    chunk.next = null;
    if (chunk.size() == FIRST_CHUNK) {
      chunk.reset();
      spare = chunk;
    }
  }
}
