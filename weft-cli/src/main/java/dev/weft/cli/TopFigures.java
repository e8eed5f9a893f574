package dev.weft.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * The figures of {@code ./weft top} at one moment, as the process sends them: see {@code
 * dev.weft.internal.attach.LiveFigures}.
 *
 * @param nanos when they were taken, by the clock of the process
 * @param samples how often the workers were looked at since the figures before
 * @param order by what the fibers are ordered; empty if an older process does not tell
 */
record TopFigures(
    long nanos,
    int helpers,
    int callsWaiting,
    int mostHelpers,
    int samples,
    String order,
    List<OfScheduler> schedulers,
    List<OfFiber> fibers) {
  /**
   * One scheduler.
   *
   * @param ageMillis how old the counts of fibers are
   * @param apart how many of the fibers are set apart because they compute
   * @param id tells schedulers of one name apart; 0 if an older process does not tell
   */
  record OfScheduler(
      String name,
      int ready,
      int running,
      int sleeping,
      int waiting,
      int blocking,
      int awaitingHelper,
      long begun,
      long ended,
      long ageMillis,
      int apart,
      long id,
      List<OfWorker> workers) {
    int fibers() {
      return ready + running + sleeping + waiting + blocking + awaitingHelper;
    }
  }

  /**
   * One worker.
   *
   * @param busy the samples in which it was awake
   * @param running the id of the fiber that it ran when the figures were taken, or 0
   */
  record OfWorker(
      int index,
      int busy,
      int ready,
      int timers,
      long switches,
      long stolen,
      long sleeps,
      long running) {}

  /**
   * One fiber.
   *
   * @param ran the samples in which it ran
   * @param at where it is
   */
  record OfFiber(
      long id,
      String name,
      String state,
      long waitMillis,
      int ran,
      int thread,
      String waitsFor,
      String at) {}

  static TopFigures parse(String text) {
    TopFigures figures = null;
    for (String line : text.lines().toList()) {
      Fields in = new Fields(line);
      switch (in.word()) {
        case "process" ->
            figures =
                new TopFigures(
                    in.number(),
                    in.small(),
                    in.small(),
                    in.small(),
                    in.small(),
                    in.hasMore() ? in.word() : "",
                    new ArrayList<>(),
                    new ArrayList<>());
        case "scheduler" -> of(figures).schedulers.add(in.scheduler());
        case "worker" -> of(figures).schedulers.getLast().workers.add(in.worker());
        case "fiber" -> of(figures).fibers.add(in.fiber());
        default -> {} // of a newer version
      }
    }
    return of(figures);
  }

  private static TopFigures of(@org.jspecify.annotations.Nullable TopFigures figures) {
    if (figures == null) {
      throw UserMistake.program("the process has sent no figures");
    }
    return figures;
  }

  /** The fields of a line, one after the other. */
  private static final class Fields {
    private final String[] fields;
    private int next;

    Fields(String line) {
      fields = line.split("\t", -1);
    }

    boolean hasMore() {
      return next < fields.length;
    }

    String word() {
      return fields[next++];
    }

    long number() {
      return Long.parseLong(word());
    }

    int small() {
      return Integer.parseInt(word());
    }

    OfScheduler scheduler() {
      return new OfScheduler(
          word(),
          small(),
          small(),
          small(),
          small(),
          small(),
          small(),
          number(),
          number(),
          number(),
          hasMore() ? small() : 0, // an older process does not tell
          hasMore() ? number() : 0,
          new ArrayList<>());
    }

    OfWorker worker() {
      return new OfWorker(
          small(), small(), small(), small(), number(), number(), number(), number());
    }

    OfFiber fiber() {
      return new OfFiber(number(), word(), word(), number(), small(), small(), word(), word());
    }
  }
}
