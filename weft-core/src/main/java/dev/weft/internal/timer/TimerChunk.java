package dev.weft.internal.timer;

import org.jspecify.annotations.Nullable;

/**
 * Some nodes of one slot of a {@link TimerQueue}, in the order in which they came. A node that is
 * taken out leaves a hole, so no other node needs to be touched: among a million of them each would
 * be a miss of the cache. And a new chunk is a young object, into which the garbage collector lets
 * write without more ado.
 *
 * <p>Invariant: nodes[i].index == i and nodes[i].chunk == this for each i that is no hole; live is
 * their number; nothing is at end and beyond.
 */
final class TimerChunk {
  private final @Nullable TimerNode[] nodes;
  private int end;
  private int live;

  // whose it is, and its neighbours there; the queue's business
  int slot;
  @Nullable TimerChunk prev;
  @Nullable TimerChunk next;

  TimerChunk(int size) {
    nodes = new TimerNode[size];
  }

  int size() {
    return nodes.length;
  }

  boolean isFull() {
    return end == nodes.length;
  }

  boolean isEmpty() {
    return live == 0;
  }

  void add(TimerNode node) {
    node.index = end;
    node.chunk = this;
    nodes[end++] = node;
    live++;
  }

  void remove(TimerNode node) {
    int index = node.index;
    forget(index);
    node.chunk = null;
    if (index == end - 1) {
      end--;
    }
  }

  /** Makes it as new; called when it is empty. */
  void reset() {
    end = 0;
  }

  /** Leaves a hole where there is a node. */
  void forget(int index) {
    nodes[index] = null;
    live--;
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
