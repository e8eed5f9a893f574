package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Two threads append to a linked list; the node of one of them hangs on nothing.
 *
 * <p>After the linked list of IBM's ConTest benchmark.
 */
final class LinkedListAdd {
  static final KnownBug BUG =
      KnownBug.of(
          LinkedListAdd.class,
          "the linked list of IBM's ConTest benchmark",
          Kind.ATOMICITY,
          () -> run(new Chain()),
          () -> run(new FixedChain()));

  private LinkedListAdd() {}

  private static void run(Chain chain) throws Exception {
    Together.run(chain, Chain::add, Chain::add);
    Check.equal(2, chain.length(), "nodes");
  }

  private static class Chain {
    private final Node head = new Node();
    private Node tail = head;

    void add() {
      Node node = new Node();
      tail.next = node;
      tail = node;
    }

    int length() {
      int length = 0;
      for (Node node = head.next; node != null; node = node.next) {
        length++;
      }
      return length;
    }
  }

  private static final class FixedChain extends Chain {
    @Override
    synchronized void add() {
      super.add();
    }
  }

  private static final class Node {
    Node next;
  }
}
