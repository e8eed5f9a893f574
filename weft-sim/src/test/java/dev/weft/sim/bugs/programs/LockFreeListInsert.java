package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicMarkableReference;

/**
 * A lock-free list unlinks a node while another thread inserts behind that node: the new node is
 * lost.
 *
 * <p>After Harris 2001, the reason for marked references.
 */
final class LockFreeListInsert {
  static final KnownBug BUG =
      KnownBug.of(
          LockFreeListInsert.class,
          "Harris 2001, the reason for marked references",
          Kind.ATOMICITY,
          () -> run(new Links()),
          () -> run(new FixedLinks()));

  private LockFreeListInsert() {}

  private static void run(Links links) throws Exception {
    links.insertAfter(links.head, new Node(30));
    Node ten = new Node(10);
    links.insertAfter(links.head, ten);
    Together.run(links, l -> l.remove(l.head, ten), l -> l.insert(20));
    Check.that(links.contains(20), "the inserted number is lost");
  }

  private static class Links {
    final Node head = new Node(Integer.MIN_VALUE);

    boolean insertAfter(Node node, Node added) {
      Node next = node.next.getReference();
      added.next.set(next, false);
      return node.next.compareAndSet(next, added, false, false);
    }

    void insert(int number) {
      Node added = new Node(number);
      while (true) {
        Node before = head;
        for (Node node = next(before); node != null && node.number < number; node = next(node)) {
          before = node;
        }
        if (insertAfter(before, added)) {
          return;
        }
      }
    }

    Node next(Node node) {
      return node.next.getReference();
    }

    void remove(Node before, Node node) {
      before.next.compareAndSet(node, next(node), false, false);
    }

    boolean contains(int number) {
      for (Node node = next(head); node != null; node = next(node)) {
        if (node.number == number) {
          return true;
        }
      }
      return false;
    }
  }

  /** A removed node is marked first, so that nothing can be inserted behind it. */
  private static final class FixedLinks extends Links {
    @Override
    Node next(Node node) {
      Node next = super.next(node);
      return next != null && next.next.isMarked() ? super.next(next) : next;
    }

    @Override
    void remove(Node before, Node node) {
      Node next;
      do {
        next = node.next.getReference();
      } while (!node.next.compareAndSet(next, next, false, true));
      before.next.compareAndSet(node, next, false, false);
    }
  }

  private static final class Node {
    final AtomicMarkableReference<Node> next = new AtomicMarkableReference<>(null, false);
    final int number;

    Node(int number) {
      this.number = number;
    }
  }
}
