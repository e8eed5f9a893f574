package dev.weft.internal.sched;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
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

  /** Returns the tree of the scopes in which these fibers are, or which they opened. */
  public static List<Line> tree(Stream<FiberCore<?>> fibers, int most) {
    ScopeLooks looks = new ScopeLooks(most);
    Set<ScopeCore> ofThreads = new LinkedHashSet<>();
    List<FiberCore<?>> roots = new ArrayList<>();
    fibers.forEach(
        fiber -> {
          ScopeCore scope = fiber.memberOf;
          if (scope == null) {
            if (fiber.hasOpenScope()) {
              roots.add(fiber);
            }
          } else if (scope.parent() == null && scope.ownerFiber == null) {
            ofThreads.add(scope);
          }
        });
    for (ScopeCore scope : ofThreads) {
      looks.add(new Line(0, null, FiberCore.describe(scope.owner)));
      looks.addScope(scope, 1);
    }
    roots.forEach(fiber -> looks.addFiber(fiber, 0));
    return looks.lines;
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
    List<FiberCore<?>> members = membersOf(scope);
    add(
        new Line(
            depth,
            null,
            members.size() == 1 ? "scope, 1 fiber" : "scope, " + members.size() + " fibers"));
    for (FiberCore<?> member : members) {
      if (lines.size() >= most) {
        return;
      }
      addFiber(member, depth + 1);
    }
  }

  private static List<FiberCore<?>> membersOf(ScopeCore scope) {
    scope.lock.lock();
    try {
      return scope.running.stream().sorted(Comparator.comparingLong(FiberCore::id)).toList();
    } finally {
      scope.lock.unlock();
    }
  }
}
