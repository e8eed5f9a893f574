package dev.weft.internal.attach;

import static java.util.stream.Collectors.joining;

import dev.weft.GroupedDump;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Worker;
import dev.weft.internal.watch.Dumps;
import dev.weft.internal.watch.FiberLooks;
import dev.weft.internal.watch.Watchdog;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Answers the requests of other processes:
 *
 * <pre>
 *   dump [--json]          every scheduler, its fibers in groups
 *   dump --full [--json]   every scheduler, every fiber
 *   leaks [--json]         the leaked fibers
 *   fiber ID               one fiber with its stack
 *   top ORDER ROWS         the figures of a live screen: see {@link LiveFigures}
 * </pre>
 */
final class Answers {
  private final LiveFigures figures;

  Answers(LiveFigures figures) {
    this.figures = figures;
  }

  /**
   * Writes the answer.
   *
   * @throws IllegalArgumentException if there is no such request, or no such fiber
   */
  void write(String request, Writer out) throws IOException {
    String[] words = request.split(" ", -1);
    boolean json = request.endsWith(" --json");
    switch (request) {
      case "dump", "dump --json" -> dump(json, out);
      case "dump --full", "dump --full --json" -> full(json, out);
      case "leaks", "leaks --json" -> leaks(json, out);
      default -> {
        if (words.length == 2 && words[0].equals("fiber")) {
          fiber(number(words[1]), out);
        } else if (words.length == 3 && words[0].equals("top")) {
          figures.write(words[1], (int) number(words[2]), out);
        } else {
          throw new IllegalArgumentException(
              "the process does not know the request '" + request + "'");
        }
      }
    }
  }

  private static long number(String word) {
    try {
      return Long.parseLong(word);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not a number: '" + word + "'", e);
    }
  }

  /** The schedulers, in the order in which they were made as far as their names tell it. */
  static List<SchedulerCore> schedulers() {
    return Watchdog.schedulers().stream().sorted(FiberLooks.byName()).toList();
  }

  private static void dump(boolean json, Writer out) throws IOException {
    forEach(
        json,
        out,
        scheduler -> {
          GroupedDump dump = Dumps.grouped(scheduler);
          out.append(json ? dump.json() : dump.text());
        });
  }

  private static void full(boolean json, Writer out) throws IOException {
    forEach(json, out, scheduler -> Dumps.write(scheduler, json, out));
  }

  /** Writes something for each scheduler: an array of JSON, or texts with empty lines between. */
  private static void forEach(boolean json, Writer out, Part part) throws IOException {
    out.append(json ? "[" : "");
    String separator = "";
    for (SchedulerCore scheduler : schedulers()) {
      out.append(separator);
      part.write(scheduler);
      separator = json ? ",\n" : "\n";
    }
    out.append(json ? "]\n" : "");
  }

  private interface Part {
    void write(SchedulerCore scheduler) throws IOException;
  }

  private static void leaks(boolean json, Writer out) throws IOException {
    List<GroupedDump> leaked = Dumps.groupedLeaks(schedulers());
    if (json) {
      out.append(leaked.stream().map(GroupedDump::json).collect(joining(",\n", "[", "]\n")));
    } else if (leaked.isEmpty()) {
      out.append("no fiber is leaked: something alive can reach what each of them waits for\n");
    } else {
      out.append(leaked.stream().map(Answers::leakText).collect(joining("\n")));
    }
  }

  private static String leakText(GroupedDump leaked) {
    return "scheduler %s: %d leaked %s: nothing alive can reach what %s for\n%s"
        .formatted(
            leaked.scheduler(),
            leaked.fibers(),
            leaked.fibers() == 1 ? "fiber" : "fibers",
            leaked.fibers() == 1 ? "it waits" : "they wait",
            leaked.groupsText());
  }

  private static void fiber(long id, Writer out) throws IOException {
    FiberCore<?> found = find(id);
    if (found == null) {
      throw new IllegalArgumentException("there is no fiber " + id + " any more");
    }
    out.append(Dumps.entry(found).text());
  }

  private static @Nullable FiberCore<?> find(long id) {
    AtomicReference<@Nullable FiberCore<?>> found = new AtomicReference<>();
    for (SchedulerCore scheduler : schedulers()) {
      for (Worker worker : scheduler.workers) {
        worker.forEachFiber(
            fiber -> {
              if (fiber.id() == id) {
                found.set(fiber);
              }
            });
      }
    }
    return found.get();
  }
}
