package dev.weft.internal.timer;

import org.jspecify.annotations.Nullable;

/**
 * Some nodes of one slot of a {@link TimerQueue}, in the order in which they were added. A node
 * that is removed leaves a hole, so no other node is touched: among a million nodes each touch
 * would be a cache miss. And a new chunk is a young object: a store into it takes the short path of
 * the garbage collector's barrier.
 *
 * <p>Invariant: nodes[i].index == i and nodes[i].chunk == this for each i < end that is no hole;
 * holes is the number of the others; nothing is at end and beyond.
 */
final class TimerChunk {
  private final @Nullable TimerNode[] nodes;
  private final int size; // nodes.length, which would be one more load
  private int end;
  private int holes;

  // the slot that it belongs to, and its neighbours there; used by the queue only
  int slot;
  @Nullable TimerChunk prev;
  @Nullable TimerChunk next;

  TimerChunk(int size) {
    this.size = size;
    nodes = new TimerNode[size];
  }

  int size() {
    return size;
  }

  boolean isFull() {
    return end == size;
  }

  boolean isEmpty() {
    return holes == end;
  }

  void add(TimerNode node) {
    node.index = end;
    node.chunk = this;
    nodes[end++] = node;
  }

  void remove(TimerNode node) {
    int index = node.index;
    node.chunk = null;
    if (index == end - 1) {
      nodes[index] = null;
      end--;
    } else {
      forget(index);
    }
  }

  /** Makes it as new; called when it is empty. */
  void reset() {
    end = 0;
    holes = 0;
  }

  /** Leaves a hole where there is a node. */
  void forget(int index) {
    nodes[index] = null;
    holes++;
  }

  /** Returns how many places there are, holes among them. */
  int end() {
    return end;
  }

  /** Returns the node at that place, or null if there is a hole. */
  @Nullable TimerNode at(int index) {
    return nodes[index];
  }
}
