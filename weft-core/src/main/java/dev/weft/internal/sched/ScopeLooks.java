package dev.weft.internal.sched;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Looks at the tree of scopes from outside, for the console; see {@link ScopeTree}. */
public final class ScopeLooks {
  /**
   * A line of the tree.
   *
   * @param depth how deep it is: 0 for an opener that is in no scope itself
   * @param fiber the fiber, or null for a scope, or for a plain thread that opened one
   * @param label what to show if it is no fiber
   */
  public record Line(int depth, @Nullable FiberCore<?> fiber, String label) {}

  private final int most;
  private final List<Line> lines = new ArrayList<>();

  private ScopeLooks(int most) {
    this.most = most;
  }

  /** The roots of the tree: as many as the tree can show lines. */
  public static final class Roots {
    private final int most;
    private final Set<ScopeCore> ofThreads = new LinkedHashSet<>();
    private final List<FiberCore<?>> fibers = new ArrayList<>();

    /** Creates none, for a tree of at most so many lines. */
    public Roots(int most) {
      this.most = most;
    }

    /** Adds what a fiber tells: that it opened a scope, or is in that of a plain thread. */
    public void add(FiberCore<?> fiber) {
      ScopeCore scope = fiber.memberOf;
      if (scope == null) {
        if (fibers.size() < most && fiber.hasOpenScope()) {
          fibers.add(fiber);
        }
      } else if (ofThreads.size() < most && scope.parent() == null && scope.ownerFiber == null) {
        ofThreads.add(scope);
      }
    }

    /** Returns the tree of these scopes. */
    public List<Line> tree() {
      ScopeLooks looks = new ScopeLooks(most);
      for (ScopeCore scope : ofThreads) {
        looks.add(new Line(0, null, FiberCore.describe(scope.owner)));
        looks.addScope(scope, 1);
      }
      fibers.forEach(fiber -> looks.addFiber(fiber, 0));
      return looks.lines;
    }
  }

  private void add(Line line) {
    if (lines.size() < most) {
      lines.add(line);
    }
  }

  private void addFiber(FiberCore<?> fiber, int depth) {
    add(new Line(depth, fiber, ""));
    if (lines.size() >= most) {
      return; // also the end of the recursion, however deep the tree is
    }
    List<ScopeCore> opened = new ArrayList<>();
    OpenBlocks blocks = fiber.blocks;
    if (blocks != null) {
      for (ScopeCore scope = blocks.scope(); scope != null; scope = scope.outer) {
        opened.addFirst(scope);
      }
    }
    opened.forEach(scope -> addScope(scope, depth + 1));
  }

  private void addScope(ScopeCore scope, int depth) {
    int room = most - lines.size();
    int size;
    List<FiberCore<?>> oldest;
    scope.lock.lock();
    try { // for no longer than the lines take: fibers that begin or end wait for the lock
      size = scope.running.size();
      oldest = scope.running.stream().limit(room).toList();
    } finally {
      scope.lock.unlock();
    }
    add(new Line(depth, null, size == 1 ? "scope, 1 fiber" : "scope, " + size + " fibers"));
    for (FiberCore<?> member : oldest) {
      if (lines.size() >= most) {
        return;
      }
      addFiber(member, depth + 1);
    }
  }
}
