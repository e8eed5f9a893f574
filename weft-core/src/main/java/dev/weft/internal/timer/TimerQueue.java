package dev.weft.internal.timer;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hierarchical timing wheel: adding and removing cost the same for one timer and for a million.
 * What is added is put into its slot when the queue is next asked for what is due: most time limits
 * are removed before long, and many before that.
 *
 * <pre>
 *   tick = 131 µs (2^17 ns)
 *   level 0: 256 slots of 1 tick            33 ms
 *   level 1: 256 slots of 256 ticks        8.6 s
 *   level 2: 256 slots of 256² ticks        37 min     …and so on, 6 levels: for ever
 * </pre>
 *
 * <p>Invariants, between calls:
 *
 * <ul>
 *   <li>a node that was added since expire() or nextWake() were last called is in UNSORTED; of the
 *       others holds:
 *   <li>elapsed ≤ dueTick;
 *   <li>a node is on the level of the highest byte in which dueTick and elapsed differ, in the slot
 *       that this byte of dueTick names: all nodes of a level-0 slot are due at the same tick, and
 *       a slot of a higher level is spread over the lower ones when its first tick has come;
 *   <li>the slots of all levels are numbered in a row; bit s % 64 of occupied[s / 64] is set if and
 *       only if slot s is not empty, and bit w of occupiedWords if and only if occupied[w] is not
 *       0.
 * </ul>
 *
 * <p>A deadline is rounded up to the next tick, so nothing fires early. Not thread safe: one thread
 * at a time (a worker's duty lock).
 */
public final class TimerQueue {
  private static final int TICK_SHIFT = 17;
  private static final long ROUND_UP = (1L << TICK_SHIFT) - 1;
  private static final int SLOTS = 1 << Byte.SIZE;
  private static final int LEVELS = 6;

  /** No slot of the wheel, but a list as those are. */
  private static final int UNSORTED = LEVELS * SLOTS;

  /** Most slots hold few nodes. */
  private static final int FIRST_CHUNK = 4;

  /** One node that stays keeps so many places from being used again. */
  private static final int CHUNK = 32;

  /** The same, but not for long. */
  private static final int UNSORTED_CHUNK = 128;

  private static final long MAX_TICK = 1L << (62 - TICK_SHIFT);

  private final long origin;

  // the chunks of each slot and of UNSORTED, none of them empty
  private final @Nullable TimerChunk[] heads = new TimerChunk[UNSORTED + 1];
  private final @Nullable TimerChunk[] tails = new TimerChunk[UNSORTED + 1];
  private final long[] occupied = new long[UNSORTED / Long.SIZE + 1];
  private long occupiedWords;

  // all that was due before this tick has been handed out
  private long elapsed;
  private int size;

  // tails[UNSORTED], two loads nearer: each waits for the one before
  private @Nullable TimerChunk unsortedTail;

  // an empty chunk, so that one timer set and cancelled again and again leaves no garbage
  private @Nullable TimerChunk spare;

  /** Creates an empty queue whose clock, in nanoseconds, shows {@code now}. */
  public TimerQueue(long now) {
    this.origin = now;
  }

  /** Adds a node that is in no queue, to expire at {@code deadline} or up to a tick later. */
  public void add(TimerNode node, long deadline) {
    node.deadline = deadline;
    append(node, UNSORTED, unsortedTail);
    size++;
  }

  /** When a node is due: at its deadline rounded up, but not before what is due next. */
  private long dueTick(TimerNode node) {
    long nanos = node.deadline - origin;
    long tick = (nanos + ROUND_UP) >>> TICK_SHIFT;
    if (tick < elapsed || tick > MAX_TICK) { // rarely
      tick = nanos <= 0 ? elapsed : Math.clamp(tick, elapsed, MAX_TICK);
    }
    return tick;
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
    sort();
    long tick = nextTick();
    return tick == Long.MAX_VALUE ? tick : origin + (tick << TICK_SHIFT);
  }

  /** Hands out the nodes that are due, in the order of their ticks, then of their adding. */
  public void expire(long now, Consumer<TimerNode> due) {
    sort();
    long nowTick = (now - origin) >> TICK_SHIFT;
    for (long tick = nextTick(); tick <= nowTick; tick = nextTick()) {
      elapsed = tick;
      int slot = firstSlot();
      for (TimerChunk chunk = heads[slot]; chunk != null; chunk = heads[slot]) {
        empty(chunk, due);
      }
    }
    elapsed = Math.max(elapsed, nowTick);
  }

  /** Puts what is unsorted into the slots; if memory ends, the rest stays unsorted. */
  private void sort() {
    for (TimerChunk chunk = heads[UNSORTED]; chunk != null; chunk = heads[UNSORTED]) {
      for (int i = 0; i < chunk.end(); i++) {
        TimerNode node = chunk.at(i);
        if (node != null) {
          put(node, dueTick(node));
          chunk.forget(i);
        }
      }
      unlink(chunk);
    }
  }

  /** Hands out what is due, spreads the rest over lower levels; if memory ends, nothing is lost. */
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
