package dev.weft.internal.policy;

import dev.weft.Fiber;
import dev.weft.Policy;
import dev.weft.internal.sched.FiberCore;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The ready queue of work stealing, for throughput: fibers that have begun end before new fibers
 * begin. First the woken fibers; then the new fibers of this worker, the family of the fiber that
 * ran last before older families; at last fibers that have yielded and new fibers from elsewhere.
 * The worker goes through a tree of a million fibers in depth, with a few dozen alive at a time,
 * and not in breadth, with all alive at once; thieves take the oldest, as in Cilk (Blumofe and
 * Leiserson, "Scheduling Multithreaded Computations by Work Stealing", 1994).
 *
 * <p>New guests are no family: they are the requests of a server more often than the branches of a
 * tree, and the oldest request is to begin first. They queue with the new fibers from elsewhere.
 *
 * <pre>
 *   woken       w1 w2 w3                 first in, first out; but a fiber that waits for the end of
 *                                        one of its family is added to that family: it would join
 *                                        the next at once, and wait again
 *   families    c1 c2 c3 │ b2 b3 │ a4    the latest family first, each in the order of its birth;
 *                                     ▲  another worker takes from this end: the largest subtrees
 *   others      y1 o1 g1 o2 g2           first in, first out
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Of any {@link #TURNS} fibers in a row one is the first of the others, and one is of the
 *       oldest family, if there is any. So two fibers that wake each other for ever, or families
 *       without end, starve no fiber.
 *   <li>No family is empty. The fibers that one slice starts, that is, between two calls of {@link
 *       #next}, are one family.
 * </ul>
 */
public final class WokenFirstQueue implements Policy.ReadyQueue {
  private static final int TURNS = 64;

  /** The fibers that one fiber has started in one slice. */
  private static final class Family extends ArrayDeque<Fiber<?>> {
    private static final long serialVersionUID = 1;

    // the id of the fiber that started them: a reference would keep it alive
    private final long parent;

    Family(long parent) {
      this.parent = parent;
    }
  }

  private final ArrayDeque<Fiber<?>> woken = new ArrayDeque<>(64);
  private final ArrayDeque<Family> families = new ArrayDeque<>(64);
  private final ArrayDeque<Fiber<?>> others = new ArrayDeque<>(64);

  private int inFamilies;

  // the first family, if the running fiber has started it and may add to it; else null
  private @Nullable Family growing;

  // the id of the fiber that next() returned last
  private long running;

  private int turn;

  @Override
  public void add(Fiber<?> fiber, long now) {
    FiberCore<?> core = (FiberCore<?>) fiber;
    Family latest = core.joins ? families.peekFirst() : null;
    if (latest != null && latest.parent == fiber.id()) {
      latest.add(fiber);
      inFamilies++;
    } else {
      (core.hasBegun() ? woken : others).add(fiber);
    }
  }

  @Override
  public void addNew(Fiber<?> fiber, long now) {
    Family family = growing;
    if (family == null) {
      family = new Family(running);
      families.addFirst(family);
      growing = family;
    }
    family.add(fiber);
    inFamilies++;
  }

  @Override
  public void addYielded(Fiber<?> fiber, long now) {
    others.add(fiber);
  }

  @Override
  public @Nullable Fiber<?> next(long now) {
    growing = null;
    turn = (turn + 1) % TURNS;
    Fiber<?> longest = turn == 0 ? lastOfFamilies() : turn == TURNS / 2 ? others.poll() : null;
    Fiber<?> next = longest != null ? longest : first();
    running = next == null ? 0 : next.id();
    return next;
  }

  private @Nullable Fiber<?> first() {
    Fiber<?> fiber = woken.poll();
    if (fiber == null) {
      fiber = firstOfFamilies();
    }
    return fiber != null ? fiber : others.poll();
  }

  @Override
  public @Nullable Fiber<?> nextForOther(long now) {
    Fiber<?> fiber = lastOfFamilies();
    if (fiber == null) {
      fiber = others.poll();
    }
    return fiber != null ? fiber : woken.poll();
  }

  private @Nullable Fiber<?> firstOfFamilies() {
    Family latest = families.peekFirst();
    return latest == null ? null : left(latest, latest.pollFirst());
  }

  private @Nullable Fiber<?> lastOfFamilies() {
    Family oldest = families.peekLast();
    return oldest == null ? null : left(oldest, oldest.pollLast());
  }

  /** Counts a fiber out of its family, which is the first or the last; drops an empty family. */
  private @Nullable Fiber<?> left(Family family, @Nullable Fiber<?> fiber) {
    inFamilies--;
    if (family.isEmpty()) {
      if (family == families.peekFirst()) {
        families.removeFirst();
      } else {
        families.removeLast();
      }
      if (family == growing) {
        growing = null;
      }
    }
    return fiber;
  }

  @Override
  public int size() {
    return woken.size() + inFamilies + others.size();
  }
}
