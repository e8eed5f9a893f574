package dev.weft;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * For throughput: what was begun is ended before more is begun. First those who have been woken;
 * then the new ones of this worker, the family of the fiber that ran last before older families; at
 * last those who have yielded or come from elsewhere. A tree of a million fibers is gone through in
 * depth, a few dozen of them alive at a time, instead of in breadth, all alive at once.
 *
 * <pre>
 *   woken       w1 w2 w3                 first come, first served
 *   families    c1 c2 c3 │ b2 b3 │ a4    the latest family first, each in the order of its birth;
 *                                     ▲  another worker takes from this end: the largest subtrees
 *   others      y1 o1 o2                 first come, first served
 * </pre>
 *
 * <p>Invariant: of any {@link #TURNS} fibers in a row one is the first of the others, and one the
 * oldest of the families, if there is any. So two that wake each other for ever, or a family that
 * never ends, keep nobody out.
 */
final class WokenFirstQueue implements Policy.ReadyQueue {
  private static final int TURNS = 64;

  private final ArrayDeque<Fiber<?>> woken = new ArrayDeque<>(64);
  private final ArrayDeque<Fiber<?>> families = new ArrayDeque<>(64);
  private final ArrayDeque<Fiber<?>> others = new ArrayDeque<>(64);

  // the family of the fiber that runs, latest last: they go before the others when it has run
  private final ArrayDeque<Fiber<?>> youngest = new ArrayDeque<>(64);

  private int turn;

  @Override
  public void add(Fiber<?> fiber, long now) {
    (fiber.hasStarted() ? woken : others).add(fiber);
  }

  @Override
  public void addNew(Fiber<?> fiber, long now) {
    youngest.add(fiber);
  }

  @Override
  public void addYielded(Fiber<?> fiber, long now) {
    others.add(fiber);
  }

  @Override
  public @Nullable Fiber<?> next(long now) {
    joinFamilies();
    turn = (turn + 1) % TURNS;
    Fiber<?> longest = turn == 0 ? families.pollLast() : turn == TURNS / 2 ? others.poll() : null;
    return longest != null ? longest : first();
  }

  private @Nullable Fiber<?> first() {
    Fiber<?> fiber = woken.poll();
    if (fiber == null) {
      fiber = families.poll();
    }
    return fiber != null ? fiber : others.poll();
  }

  @Override
  public @Nullable Fiber<?> nextForOther(long now) {
    joinFamilies();
    Fiber<?> fiber = families.pollLast();
    if (fiber == null) {
      fiber = others.poll();
    }
    return fiber != null ? fiber : woken.poll();
  }

  private void joinFamilies() {
    for (Fiber<?> last = youngest.pollLast(); last != null; last = youngest.pollLast()) {
      families.addFirst(last);
    }
  }

  @Override
  public int size() {
    return woken.size() + youngest.size() + families.size() + others.size();
  }
}
