package dev.weft.internal.timer;

import org.jspecify.annotations.Nullable;

/**
 * Some nodes of one slot of a {@link TimerQueue}, in the order in which they came. A node that is
 * taken out leaves a hole, so no other node needs to be touched: among a million of them each would
 * be a miss of the cache. And a new chunk is a young object, into which the garbage collector lets
 * write without more ado.
 *
 * <p>Invariant: nodes[i].index == i and nodes[i].chunk == this for each i < end that is no hole;
 * holes is the number of the others; nothing is at end and beyond.
 */
final class TimerChunk {
  private final @Nullable TimerNode[] nodes;
  private final int size; // nodes.length, a load nearer
  private int end;
  private int holes;

  // whose it is, and its neighbours there; the queue's business
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
