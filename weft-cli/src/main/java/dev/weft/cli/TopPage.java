package dev.weft.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The lines of {@code ./weft top}, made of two moments: rates are what has changed between them.
 *
 * @param pid the process
 * @param system what the operating system tells of the process
 */
record TopPage(
    long pid, SystemFigures system, @Nullable TopFigures before, TopFigures now, String order) {
  /** In a terminal with fewer columns the list of fibers has fewer. */
  private static final int NARROW = 110;

  /** How many lines the fibers have at least, with the line above them, in a low terminal. */
  private static final int LINES_OF_FIBERS = 6;

  /**
   * Lists everything above the fibers.
   *
   * @param rows how many lines the terminal has: if they are few, some threads are left out, then
   *     all
   */
  List<String> head(int rows, int columns) {
    int schedulers = now.schedulers().size();
    int threads = now.schedulers().stream().mapToInt(each -> each.workers().size()).sum();
    int room = rows - LINES_OF_FIBERS - 1; // the first line
    int most = Integer.MAX_VALUE; // threads of a scheduler
    if (threads + 3 * schedulers > room) {
      most = schedulers == 0 ? 0 : Math.max(0, room / schedulers - 4);
    }
    List<String> lines = new ArrayList<>();
    lines.add(processLine());
    for (TopFigures.OfScheduler scheduler : now.schedulers()) {
      addScheduler(scheduler, most, lines);
    }
    if (most > 0) {
      lines.add("");
    }
    lines.add(
        isNarrow(columns)
            ? "  FIBER  %-8s  CPU       WAIT  NAME            WAITS FOR, AT (by %s)"
                .formatted("STATE", shownOrder())
            : "  FIBER  %-16s CPU       WAIT  THREAD  NAME                  WAITS FOR, AT   (by %s)"
                .formatted("STATE", shownOrder()));
    return lines;
  }

  /** The order of the fibers: of very many it is the one before until the process walks again. */
  private String shownOrder() {
    return now.order().isEmpty() ? order : now.order();
  }

  private String processLine() {
    return "process %d  CPU %s %%  descriptors %s of %s, sockets %s  helpers %d of %d, %d %s"
        .formatted(
            pid,
            number(system.cpuPercent()),
            number(system.descriptors()),
            number(system.mostDescriptors()),
            number(system.sockets()),
            now.helpers(),
            now.mostHelpers(),
            now.callsWaiting(),
            now.callsWaiting() == 1 ? "call waits" : "calls wait");
  }

  /** Adds a scheduler and its busiest threads. */
  private void addScheduler(TopFigures.OfScheduler scheduler, int most, List<String> lines) {
    TopFigures.OfScheduler old = old(scheduler);
    if (most > 0) {
      lines.add("");
    }
    lines.add(schedulerLine(scheduler, old));
    if (most == 0) {
      return;
    }
    lines.add(" thread  load  switches/s  steals/s  sleeps/s   ready  timers  runs");
    List<TopFigures.OfWorker> shown =
        scheduler.workers().stream()
            .sorted(Comparator.comparingInt(TopFigures.OfWorker::busy).reversed())
            .limit(most)
            .sorted(Comparator.comparingInt(TopFigures.OfWorker::index))
            .toList();
    for (TopFigures.OfWorker worker : shown) {
      lines.add(workerLine(worker, old == null ? null : old.workers().get(worker.index())));
    }
    int others = scheduler.workers().size() - shown.size();
    if (others > 0) {
      lines.add("      … %d %s".formatted(others, others == 1 ? "other" : "others, less busy"));
    }
  }

  private static boolean isNarrow(int columns) {
    return columns < NARROW;
  }

  private TopFigures.@Nullable OfScheduler old(TopFigures.OfScheduler scheduler) {
    return before == null
        ? null
        : before.schedulers().stream()
            .filter(
                candidate ->
                    candidate.name().equals(scheduler.name())
                        && candidate.id() == scheduler.id()
                        && candidate.workers().size() == scheduler.workers().size())
            .findFirst()
            .orElse(null);
  }

  private String schedulerLine(
      TopFigures.OfScheduler scheduler, TopFigures.@Nullable OfScheduler old) {
    String age =
        scheduler.ageMillis() < 1_000
            ? ""
            : ", counted %d s ago".formatted(scheduler.ageMillis() / 1_000);
    return "scheduler %s  %s%s; %s/s begun%s"
        .formatted(
            scheduler.name(),
            number(scheduler.fibers()) + (scheduler.fibers() == 1 ? " fiber" : " fibers"),
            states(scheduler),
            old == null ? "?" : rate(scheduler.begun() - old.begun()),
            age);
  }

  /** The states that fibers are in, with their numbers. */
  private static String states(TopFigures.OfScheduler scheduler) {
    StringBuilder out = new StringBuilder();
    addState(out, scheduler.ready(), "ready");
    addState(out, scheduler.running(), "running");
    addState(out, scheduler.sleeping(), "sleeping");
    addState(out, scheduler.waiting(), "waiting");
    addState(out, scheduler.blocking(), "blocking");
    addState(out, scheduler.awaitingHelper(), "awaiting a helper");
    if (scheduler.apart() > 0) {
      out.append(" (").append(number(scheduler.apart())).append(" of them set apart)");
    }
    return out.toString();
  }

  private static void addState(StringBuilder out, int fibers, String state) {
    if (fibers > 0) {
      out.append(out.isEmpty() ? ": " : ", ").append(number(fibers)).append(' ').append(state);
    }
  }

  private String workerLine(TopFigures.OfWorker worker, TopFigures.@Nullable OfWorker old) {
    return String.format(
        Locale.ROOT,
        "%7d  %4s  %10s  %8s  %8s  %6s  %6s  %s",
        worker.index(),
        percent(worker.busy()),
        old == null ? "?" : rate(worker.switches() - old.switches()),
        old == null ? "?" : rate(worker.stolen() - old.stolen()),
        old == null ? "?" : rate(worker.sleeps() - old.sleeps()),
        number(worker.ready()),
        number(worker.timers()),
        worker.running() == 0 ? "-" : "fiber " + worker.running());
  }

  /** Lists the fibers, a line each. */
  List<String> fibers(int columns) {
    return now.fibers().stream()
        .map(fiber -> isNarrow(columns) ? narrowLine(fiber) : wideLine(fiber))
        .toList();
  }

  private String wideLine(TopFigures.OfFiber fiber) {
    return String.format(
        Locale.ROOT,
        "%7d  %-15s %4s %10s  %6d  %-20s  %s",
        fiber.id(),
        state(fiber),
        percent(fiber.ran()),
        waited(fiber),
        fiber.thread(),
        shortened(fiber.name(), 20),
        wait(fiber));
  }

  private String narrowLine(TopFigures.OfFiber fiber) {
    return String.format(
        Locale.ROOT,
        "%7d  %-8s %4s %10s  %-14s  %s",
        fiber.id(),
        shortened(state(fiber), 8),
        percent(fiber.ran()),
        waited(fiber),
        shortened(fiber.name(), 14),
        wait(fiber));
  }

  private static String state(TopFigures.OfFiber fiber) {
    return fiber.state().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String waited(TopFigures.OfFiber fiber) {
    return fiber.waitMillis() == 0 ? "-" : time(fiber.waitMillis());
  }

  private static String wait(TopFigures.OfFiber fiber) {
    return fiber.waitsFor().isEmpty() || fiber.state().equals("SLEEPING")
        ? "at " + fiber.at()
        : fiber.waitsFor() + ", at " + fiber.at();
  }

  /** Lists everything, for a page of any size. */
  List<String> lines() {
    List<String> lines = head(Integer.MAX_VALUE, Integer.MAX_VALUE);
    lines.addAll(fibers(Integer.MAX_VALUE));
    return lines;
  }

  private String percent(int samples) {
    return now.samples() == 0 ? "?" : 100 * samples / now.samples() + "%";
  }

  private String rate(long change) {
    long nanos = before == null ? 0 : now.nanos() - before.nanos();
    return nanos <= 0 ? "?" : number(Math.round(change * 1e9 / nanos));
  }

  static String time(long millis) {
    return millis < 10_000
        ? number(millis) + " ms"
        : millis < 600_000
            ? String.format(Locale.ROOT, "%.1f s", millis / 1e3)
            : number(millis / 60_000) + " min";
  }

  private static String number(long number) {
    return number < 0 ? "?" : String.format(Locale.ROOT, "%,d", number);
  }

  static String shortened(String text, int most) {
    return text.length() <= most ? text : text.substring(0, Math.max(0, most - 1)) + "…";
  }
}
