package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicStampedReference;

/**
 * A pop reads the top node and its successor; meanwhile both are popped and the top node is pushed
 * again, so that its compare-and-set brings back a node that another thread holds.
 *
 * <p>After Treiber's stack with recycled nodes, the classic ABA.
 */
final class TreiberStackAba {
  static final KnownBug BUG =
      KnownBug.of(
          TreiberStackAba.class,
          "Treiber's stack with recycled nodes, the classic ABA",
          Kind.ATOMICITY,
          () -> run(new Stack()),
          () -> run(new FixedStack()));

  private TreiberStackAba() {}

  private static void run(Stack stack) throws Exception {
    Node lower = new Node();
    Node upper = new Node();
    stack.push(lower);
    stack.push(upper);
    Together.run(
        stack,
        s -> hold(s.pop()),
        s -> {
          Node first = s.pop();
          Node second = s.pop();
          if (first != null) {
            s.push(first);
          }
          hold(second);
        });
    for (Node node = stack.pop(); node != null; node = stack.pop()) {
      hold(node);
    }
    Check.equal(1, lower.holders.get(), "holders of the lower node");
    Check.equal(1, upper.holders.get(), "holders of the upper node");
  }

  private static void hold(Node node) {
    if (node != null) {
      node.holders.incrementAndGet();
    }
  }

  private static class Stack {
    private final AtomicReference<Node> top = new AtomicReference<>();

    void push(Node node) {
      Node seen;
      do {
        seen = top.get();
        node.next = seen;
      } while (!top.compareAndSet(seen, node));
    }

    Node pop() {
      while (true) {
        Node seen = top.get();
        if (seen == null || top.compareAndSet(seen, seen.next)) {
          return seen;
        }
      }
    }
  }

  private static final class FixedStack extends Stack {
    private final AtomicStampedReference<Node> top = new AtomicStampedReference<>(null, 0);

    @Override
    void push(Node node) {
      int[] stamp = new int[1];
      Node seen;
      do {
        seen = top.get(stamp);
        node.next = seen;
      } while (!top.compareAndSet(seen, node, stamp[0], stamp[0] + 1));
    }

    @Override
    Node pop() {
      int[] stamp = new int[1];
      while (true) {
        Node seen = top.get(stamp);
        if (seen == null || top.compareAndSet(seen, seen.next, stamp[0], stamp[0] + 1)) {
          return seen;
        }
      }
    }
  }

  private static final class Node {
    final AtomicInteger holders = new AtomicInteger();
    volatile Node next;
  }
}
