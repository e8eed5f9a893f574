package dev.weft.internal.attach;

import dev.weft.FiberDump;
import dev.weft.SchedulerStats;
import dev.weft.internal.PlainText;
import dev.weft.internal.blocking.Helpers;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.SetApart;
import dev.weft.internal.sched.Worker;
import dev.weft.internal.watch.Dumps;
import dev.weft.internal.watch.FiberCounts;
import dev.weft.internal.watch.FiberLooks;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The figures of a live screen, for one connection. Lines of fields with tabs between them:
 *
 * <pre>
 *   process    nanos now, helper threads, calls that wait for one, most helpers, samples, order of
 *              the fibers
 *   scheduler  name, ready, running, sleeping, waiting, blocking, awaiting a helper, begun, ended,
 *              age of these counts in milliseconds, how many of the fibers are set apart, a number
 *              that tells schedulers of one name apart
 *   worker     index, samples in which it was busy, ready, timers, switches, stolen, sleeps,
 *              id of the fiber that runs or 0; of the scheduler before it
 *   fiber      id, name, state, milliseconds of its wait, samples in which it ran, thread, what it
 *              waits for, where it is; of any scheduler, in the order that was asked for
 * </pre>
 *
 * <p>Which fiber runs on each worker is sampled, 200 times a second: slices count nothing for a
 * screen that is seldom open. Fibers are walked through at each request, but for no more than a
 * hundredth of the time: of very many fibers the counts and rows are some seconds old, 20 at most,
 * and say so. Another order or more rows take a walk at once, out of a second hundredth, of which
 * half a second can be saved: when that is used up, the rows stay those of before, and the first
 * line says their order.
 */
final class LiveFigures implements AutoCloseable {
  private static final long WALK_SHARE = 100;

  /** How much of the second hundredth can be saved. */
  private static final long MOST_SAVED_NANOS = 500_000_000;

  /** No walk makes the next one wait for longer: looks that need more take more. */
  private static final long LONGEST_REST_NANOS = 20_000_000_000L;

  private static final int MOST_ROWS = 200;
  private static final int MOST_APART = 1_000;
  private static final Set<String> ORDERS = Set.of("cpu", "wait", "new", "old");

  private final LongSupplier clock;
  private @Nullable Sampler sampler;
  private Map<SchedulerCore, FiberCounts> counts = Map.of();
  private List<Row> rows = List.of();
  private String rowsOrder = "";
  private int rowsMost;
  private long walkBegan;
  private long walkTook;

  // of the second hundredth; negative if it was taken in advance
  private long saved = MOST_SAVED_NANOS;
  private long savedAt;

  /** One fiber that may become a row, and what it is ordered by. */
  private record Candidate(FiberCore<?> fiber, long rank, long waited)
      implements Comparable<Candidate> {
    /** The better is the greater; of equal ones the fiber that has waited longer. */
    @Override
    public int compareTo(Candidate other) {
      int byRank = Long.compare(rank, other.rank);
      return byRank != 0 ? byRank : Long.compare(waited, other.waited);
    }
  }

  /**
   * A fiber as the last walk found it. The samples in which it ran are those of the moment: they
   * are a share of the samples that the first line counts.
   */
  private record Row(FiberDump.Entry entry, FiberCounts.State state) {
    static Row of(FiberCore<?> fiber) {
      return new Row(Dumps.entryOfMany(fiber), FiberCounts.stateOf(fiber));
    }

    void write(Sampler.Samples taken, Writer out) throws IOException {
      line(
          out,
          "fiber",
          entry.id(),
          entry.name(),
          state,
          entry.waiting().toMillis(),
          taken.of(entry.id()),
          entry.thread(),
          entry.waitsFor(),
          Dumps.ownFrame(entry));
    }
  }

  LiveFigures() {
    this(System::nanoTime);
  }

  LiveFigures(LongSupplier clock) {
    this.clock = clock;
  }

  @Override
  public void close() {
    if (sampler != null) {
      sampler.close();
    }
  }

  /**
   * Writes the figures.
   *
   * @param order cpu, wait, new or old
   * @param most how many fibers to list at most
   */
  void write(String order, int most, Writer out) throws IOException {
    if (!ORDERS.contains(order)) {
      throw new IllegalArgumentException("order must be cpu, wait, new or old, not " + order);
    }
    Sampler samples = sampler;
    if (samples == null) {
      samples = sampler = new Sampler();
    }
    Sampler.Samples taken = samples.take();
    long now = clock.getAsLong();
    int wanted = Math.clamp(most, 0, MOST_ROWS);
    long rest = Math.min(WALK_SHARE * walkTook, LONGEST_REST_NANOS);
    boolean isOld = walkBegan == 0 || now - walkBegan >= rest;
    if (isOld || mayWalkFor(order, wanted, now)) {
      samples.watch(walk(order, wanted, taken, now));
      rowsOrder = order;
      rowsMost = wanted;
      walkTook = clock.getAsLong() - now;
      if (!isOld) {
        saved = Math.max(saved - walkTook, -LONGEST_REST_NANOS / WALK_SHARE);
      }
    }
    Helpers.Figures helpers = Helpers.figures();
    line(
        out,
        "process",
        now,
        helpers.threads(),
        helpers.queued(),
        helpers.most(),
        taken.number(),
        rowsOrder);
    for (SchedulerCore scheduler : Answers.schedulers()) {
      writeScheduler(scheduler, taken, (now - walkBegan) / 1_000_000, out);
    }
    for (Row row : rows.subList(0, Math.min(wanted, rows.size()))) {
      row.write(taken, out);
    }
  }

  /**
   * Returns whether other rows are wanted than those of the last walk, and there is time for it.
   */
  private boolean mayWalkFor(String order, int most, long now) {
    if (savedAt != 0) {
      saved = Math.min(MOST_SAVED_NANOS, saved + (now - savedAt) / WALK_SHARE);
    }
    savedAt = now;
    return (!order.equals(rowsOrder) || most > rowsMost) && saved > 0;
  }

  private void writeScheduler(SchedulerCore scheduler, Sampler.Samples taken, long age, Writer out)
      throws IOException {
    FiberCounts known = counts.getOrDefault(scheduler, new FiberCounts());
    line(
        out,
        "scheduler",
        scheduler.name(),
        known.of(FiberCounts.State.READY),
        known.of(FiberCounts.State.RUNNING),
        known.of(FiberCounts.State.SLEEPING),
        known.of(FiberCounts.State.WAITING),
        known.of(FiberCounts.State.BLOCKING),
        known.of(FiberCounts.State.AWAITING_HELPER),
        scheduler.live.begun(),
        scheduler.live.ended(),
        age,
        known.apart(),
        FiberLooks.id(scheduler));
    for (Worker worker : scheduler.workers) {
      SchedulerStats.OfThread stats = worker.stats();
      line(
          out,
          "worker",
          worker.index,
          taken.busy(worker),
          stats.ready(),
          stats.timers(),
          stats.switches(),
          stats.stolen(),
          stats.sleeps(),
          worker.running());
    }
  }

  /** Counts the fibers and chooses the rows; returns the fibers that are set apart. */
  private List<FiberCore<?>> walk(String order, int most, Sampler.Samples taken, long now) {
    walkBegan = now;
    Map<SchedulerCore, FiberCounts> counted = new HashMap<>();
    List<FiberCore<?>> apart = new ArrayList<>();
    PriorityQueue<Candidate> best = new PriorityQueue<>(); // the worst first
    for (SchedulerCore scheduler : Answers.schedulers()) {
      FiberCounts ofScheduler = new FiberCounts();
      counted.put(scheduler, ofScheduler);
      for (Worker worker : scheduler.workers) {
        worker.forEachFiber(
            fiber -> {
              ofScheduler.accept(fiber);
              if (fiber.away instanceof SetApart && apart.size() < MOST_APART) {
                apart.add(fiber);
              }
              if (most > 0) {
                addIfBetter(
                    best, most, new Candidate(fiber, rank(order, fiber, taken), waited(fiber)));
              }
            });
      }
    }
    counts = counted;
    rows =
        best.stream()
            .sorted(Comparator.reverseOrder())
            .map(candidate -> Row.of(candidate.fiber))
            .toList();
    return apart;
  }

  private static void addIfBetter(PriorityQueue<Candidate> best, int most, Candidate candidate) {
    if (best.size() < most) {
      best.add(candidate);
    } else if (candidate.compareTo(best.element()) > 0) {
      best.remove();
      best.add(candidate);
    }
  }

  private static long waited(FiberCore<?> fiber) {
    return fiber.isWaiting() || fiber.isOnHelper() ? Long.MAX_VALUE - fiber.since : 0;
  }

  private static long rank(String order, FiberCore<?> fiber, Sampler.Samples taken) {
    return switch (order) {
      case "cpu" -> taken.of(fiber.id());
      case "wait" -> // sleepers last: the console lists none as a wait
          FiberCounts.stateOf(fiber) == FiberCounts.State.SLEEPING ? 0 : waited(fiber);
      case "new" -> fiber.id();
      default -> -fiber.id();
    };
  }

  private static void line(Appendable out, Object... fields) throws IOException {
    String separator = "";
    for (Object field : fields) {
      String text = String.valueOf(field);
      out.append(separator).append(PlainText.oneLine(PlainText.shortened(text)));
      separator = "\t";
    }
    out.append('\n');
  }
}
