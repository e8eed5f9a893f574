package dev.weft.internal.timer;

import java.util.Arrays;

/**
 * The near timers of a {@link TimerQueue}: a binary heap in which each node knows its index, so
 * that removing a node needs no search.
 *
 * <p>Invariant: nodes[i].index == i and nodes[i].chunk == CHUNK for each i < size; a node is due
 * before its children nodes[2i + 1] and nodes[2i + 2], or at the same time and was added before
 * them.
 */
final class NearTimers {
  /** The chunk field of every node in such a heap: marks it as near. */
  static final TimerChunk CHUNK = new TimerChunk(0);

  private TimerNode[] nodes = new TimerNode[16];

  // numbers[i] says when nodes[i] was added, for first in, first out among equal deadlines
  private long[] numbers = new long[16];
  private long lastNumber;
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the node that is due first; there must be one. */
  TimerNode first() {
    return nodes[0];
  }

  void add(TimerNode node) {
    if (size == nodes.length) {
      TimerNode[] moreNodes = Arrays.copyOf(nodes, 2 * size);
      numbers = Arrays.copyOf(numbers, 2 * size);
      nodes = moreNodes;
    }
    node.chunk = CHUNK;
    moveUp(size++, node, ++lastNumber);
  }

  void remove(TimerNode node) {
    int hole = node.index;
    node.chunk = null;
    size--;
    TimerNode last = nodes[size];
    long number = numbers[size];
    nodes[size] = null;
    if (hole != size) {
      if (hole > 0 && isBefore(last, number, (hole - 1) / 2)) {
        moveUp(hole, last, number);
      } else {
        moveDown(hole, last, number);
      }
    }
  }

  private void moveUp(int hole, TimerNode node, long number) {
    int place = hole;
    while (place > 0 && isBefore(node, number, (place - 1) / 2)) {
      int parent = (place - 1) / 2;
      put(place, nodes[parent], numbers[parent]);
      place = parent;
    }
    put(place, node, number);
  }

  private void moveDown(int hole, TimerNode node, long number) {
    int place = hole;
    for (int child = 2 * place + 1; child < size; child = 2 * place + 1) {
      if (child + 1 < size && isBefore(nodes[child + 1], numbers[child + 1], child)) {
        child++;
      }
      if (isBefore(node, number, child)) {
        break;
      }
      put(place, nodes[child], numbers[child]);
      place = child;
    }
    put(place, node, number);
  }

  private void put(int place, TimerNode node, long number) {
    nodes[place] = node;
    numbers[place] = number;
    node.index = place;
  }

  private boolean isBefore(TimerNode node, long number, int other) {
    long difference = node.deadline - nodes[other].deadline;
    return difference != 0 ? difference < 0 : number < numbers[other];
  }
}
