package dev.weft.internal.watch;

import dev.weft.FiberDump;
import dev.weft.SchedulerStats;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.ScopeLooks;
import dev.weft.internal.sched.Worker;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * One walk through the fibers of all schedulers, for everything that the console wants to know at
 * that moment: a million fibers are a million cache misses, so each visitor with a walk of its own
 * would cost nearly as much as all of them together.
 */
public final class FiberWalk {
  /** Sees each fiber; one that changes its place meanwhile, perhaps twice. */
  public abstract static class Visitor {
    /** Called before the fibers of a scheduler. */
    void begin(SchedulerCore scheduler) {}

    abstract void visit(FiberCore<?> fiber);
  }

  private FiberWalk() {}

  /** Shows all fibers to the visitors, those of hidden schedulers left out. */
  public static void run(Collection<? extends Visitor> visitors) {
    for (SchedulerCore scheduler : FiberLooks.schedulers()) {
      visitors.forEach(visitor -> visitor.begin(scheduler));
      for (Worker worker : scheduler.workers) {
        worker.forEachFiber(fiber -> visitors.forEach(visitor -> visitor.visit(fiber)));
      }
    }
  }

  /** Counts the fibers of each scheduler by state. */
  public static final class States extends Visitor {
    private final Map<SchedulerCore, FiberCounts> counts = new HashMap<>();
    private FiberCounts current = new FiberCounts();

    @Override
    void begin(SchedulerCore scheduler) {
      current = new FiberCounts();
      counts.put(scheduler, current);
    }

    @Override
    void visit(FiberCore<?> fiber) {
      current.accept(fiber);
    }

    /** Returns the counts of the walk, with the counters of the workers as they are now. */
    public SchedulerStats of(SchedulerCore scheduler) {
      return Stats.of(scheduler, counts.getOrDefault(scheduler, new FiberCounts()));
    }
  }

  /** Finds the fibers that have waited for the longest time; not sleepers. */
  public static final class LongestWaits extends Visitor {
    private record Waiting(FiberCore<?> fiber, long nanos) {}

    private final long now = System.nanoTime();
    private final int most;
    private final PriorityQueue<Waiting> longest =
        new PriorityQueue<>(Comparator.comparingLong(Waiting::nanos));

    public LongestWaits(int most) {
      this.most = most;
    }

    @Override
    void visit(FiberCore<?> fiber) {
      Waiting shortest = longest.size() < most ? null : longest.peek();
      if (fiber.isWaiting()
          && (shortest == null || now - fiber.since > shortest.nanos)
          && !FiberCounts.sleeps(fiber)) {
        longest.add(new Waiting(fiber, now - fiber.since));
        if (shortest != null) {
          longest.poll();
        }
      }
    }

    /** Returns the fibers, longest wait first. */
    public List<FiberCore<?>> fibers() {
      List<FiberCore<?>> sorted = new ArrayList<>();
      longest.stream()
          .distinct() // see Search
          .sorted(Comparator.comparingLong(Waiting::nanos).reversed())
          .forEach(waiting -> sorted.add(waiting.fiber));
      return sorted;
    }
  }

  /** Finds fibers with a text in their name, or as their id; all fibers for an empty text. */
  public static final class Search extends Visitor {
    private final String part;
    private final int most;
    private final PriorityQueue<FiberCore<?>> oldest =
        new PriorityQueue<>(Comparator.<FiberCore<?>>comparingLong(FiberCore::id).reversed());
    private boolean more;

    public Search(String text, int most) {
      this.part = text.toLowerCase(Locale.ROOT);
      this.most = most;
    }

    @Override
    void visit(FiberCore<?> fiber) {
      FiberCore<?> youngest = oldest.size() < most ? null : oldest.peek();
      if (youngest != null && fiber.id() > youngest.id() && more) {
        return;
      }
      if (isNamed(fiber)) {
        oldest.add(fiber);
        if (youngest != null) {
          oldest.poll();
          more = true;
        }
      }
    }

    private boolean isNamed(FiberCore<?> fiber) {
      return part.isEmpty()
          || fiber.name().toLowerCase(Locale.ROOT).contains(part)
          || String.valueOf(fiber.id()).equals(part);
    }

    /** Returns the oldest of the fibers found, by age. */
    public List<FiberCore<?>> fibers() {
      List<FiberCore<?>> sorted = new ArrayList<>();
      oldest.stream()
          .distinct() // a fiber that changes its place during the walk is seen twice
          .sorted(Comparator.comparingLong(FiberCore::id))
          .forEach(sorted::add);
      return sorted;
    }

    /** Returns whether there are more of them. */
    public boolean hasMore() {
      return more;
    }
  }

  /** Finds the roots of the tree of scopes. */
  public static final class Scopes extends Visitor {
    private final ScopeLooks.Roots roots;

    /** Creates one for a tree of at most so many lines. */
    public Scopes(int most) {
      roots = new ScopeLooks.Roots(most);
    }

    @Override
    void visit(FiberCore<?> fiber) {
      roots.add(fiber);
    }

    /** Returns the tree as lines with a depth. */
    public List<ScopeLooks.Line> lines() {
      return roots.tree();
    }
  }

  /** Finds one fiber by its id. */
  public static final class ById extends Visitor {
    private final long id;
    private @Nullable FiberCore<?> found;

    public ById(long id) {
      this.id = id;
    }

    @Override
    void visit(FiberCore<?> fiber) {
      if (fiber.id() == id) {
        found = fiber;
      }
    }

    /** Returns all that is known of the fiber, with its stack; empty if it has ended. */
    public Optional<FiberDump.Entry> entry() {
      return found == null ? Optional.empty() : Optional.of(FiberLooks.entry(found));
    }
  }
}
