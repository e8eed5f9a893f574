package dev.weft;

import static dev.weft.internal.JsonText.quote;
import static dev.weft.internal.PlainText.number;
import static dev.weft.internal.PlainText.oneLine;
import static dev.weft.internal.PlainText.time;

import dev.weft.internal.WaitWords;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The fibers of a scheduler at about one moment, grouped: fibers with equal stacks that wait in the
 * same way are one group. Troubles come first: fibers that wait for each other, threads that a
 * fiber holds, locks for which fibers wait; then the groups, the largest first. A million fibers
 * make a page.
 *
 * {@snippet class="dev.weft.GroupedDumpTest" region="groups"}
 *
 * <p>The memory for a dump is bounded: of more than a thousand different stacks the dump keeps
 * those of the largest groups, and counts the other fibers.
 *
 * @param scheduler the scheduler's name
 * @param stats its fibers by state, and the counters of its threads
 * @param standstill whether all its fibers wait although no timer and no I/O is left to wake one
 * @param cycles the deadlocks that the watchdog has found: fibers that wait for each other in a
 *     circle
 * @param heldThreads threads that a fiber holds: it has run for long without a wait or a yield
 * @param holders what fibers wait for and one fiber or thread holds, the most wanted first
 * @param groups the groups, the largest first
 * @param ungrouped the number of fibers that are in none of the groups
 */
public record GroupedDump(
    String scheduler,
    SchedulerStats stats,
    boolean standstill,
    List<List<FiberDump.Entry>> cycles,
    List<HeldThread> heldThreads,
    List<Holder> holders,
    List<Group> groups,
    long ungrouped) {
  private static final int MOST_TROUBLES = 10;
  private static final int MOST_GROUPS = 20;
  private static final int MOST_FRAMES = 10;

  /**
   * A fiber that holds its thread.
   *
   * @param fiber the fiber
   * @param running for how long it has run, roughly
   */
  public record HeldThread(FiberDump.Entry fiber, Duration running) {}

  /**
   * A lock, a monitor or the end of a fiber for which fibers wait.
   *
   * @param what the lock
   * @param holder the fiber or thread that holds it, and what that does
   * @param waiters the number of fibers that wait
   * @param longest for how long the first of them has waited
   * @param stack the stack of the holder, innermost frame first; empty if it is not known
   */
  public record Holder(
      String what, String holder, long waiters, Duration longest, List<StackTraceElement> stack) {
    /** Copies the stack. */
    public Holder {
      stack = List.copyOf(stack);
    }
  }

  /**
   * Fibers with equal stacks, in the same state.
   *
   * @param fibers how many there are
   * @param same whether all of them wait for the same object; true if they do not wait
   * @param shortest for how long the last of them has waited
   * @param longest the fiber that has waited longest
   */
  public record Group(long fibers, boolean same, Duration shortest, FiberDump.Entry longest) {
    /** Returns it in one line, without the stack. */
    public String summary() {
      if (fibers == 1) {
        return longest.summary();
      }
      String many = number(fibers) + " fibers ";
      String least = time(shortest);
      String most = time(longest.waiting());
      String times = "for " + (least.equals(most) ? most : least + " to " + most);
      String name = longest.name();
      String example = name.equals("fiber-" + longest.id()) ? "" : " " + oneLine(name);
      String first = "; the longest is fiber " + longest.id() + example;
      if (!longest.helper().isEmpty() && !longest.helper().startsWith("weft-computing")) {
        return many + "in a blocking call, " + times + first;
      }
      String waitsFor = oneLine(longest.waitsFor());
      return switch (waitsFor) {
        case "" -> many + longest.status() + first;
        case WaitWords.SLEEP -> many + "sleeping " + times + first;
        default ->
            many
                + "wait "
                + (same ? "for " + waitsFor + ", " : "")
                + times
                + first
                + (same ? "" : ", for " + waitsFor);
      };
    }
  }

  /** Copies the lists. */
  public GroupedDump {
    cycles = cycles.stream().map(List::copyOf).toList();
    heldThreads = List.copyOf(heldThreads);
    holders = List.copyOf(holders);
    groups = List.copyOf(groups);
  }

  /** Returns the number of fibers. */
  public long fibers() {
    return groups.stream().mapToLong(Group::fibers).sum() + ungrouped;
  }

  // ---- as text ----

  /** Returns the dump as a page of text: troubles first, then the largest groups. */
  public String text() {
    StringBuilder out = new StringBuilder();
    out.append(
        "scheduler %s: %s on %d %s: %s ready, %s running, %s sleeping, %s waiting, %s in blocking calls, %s waiting for a helper\n"
            .formatted(
                oneLine(scheduler),
                number(fibers()) + (fibers() == 1 ? " fiber" : " fibers"),
                stats.threads().size(),
                stats.threads().size() == 1 ? "thread" : "threads",
                number(stats.ready()),
                number(stats.running()),
                number(stats.sleeping()),
                number(stats.waiting()),
                number(stats.blocking()),
                number(stats.awaitingHelper())));
    if (standstill) {
      out.append("standstill: all fibers wait, and no timer and no I/O is left to wake one\n");
    }
    appendSome(out, "deadlocks", cycles, GroupedDump::text);
    appendSome(out, "held threads", heldThreads, GroupedDump::text);
    appendSome(out, "wanted locks", holders, GroupedDump::text);
    return out.append(groupsText()).toString();
  }

  /** Returns the largest groups as text, without the troubles. */
  public String groupsText() {
    StringBuilder out = new StringBuilder();
    for (Group group : groups.subList(0, Math.min(groups.size(), MOST_GROUPS))) {
      out.append(group.summary()).append('\n').append(frames(group.longest.stack()));
    }
    long more = groups.stream().skip(MOST_GROUPS).mapToLong(Group::fibers).sum() + ungrouped;
    if (more > 0) {
      out.append(number(more) + " fibers in other groups\n");
    }
    return out.toString();
  }

  private static <T> void appendSome(
      StringBuilder out, String what, List<T> troubles, Function<T, String> text) {
    troubles.stream().limit(MOST_TROUBLES).forEach(trouble -> out.append(text.apply(trouble)));
    if (troubles.size() > MOST_TROUBLES) {
      out.append(number(troubles.size() - MOST_TROUBLES) + " more " + what + "\n");
    }
  }

  private static String text(List<FiberDump.Entry> cycle) {
    return cycle.stream()
        .map(fiber -> "  " + fiber.summary() + "\n" + frames(fiber.stack()))
        .collect(
            Collectors.joining(
                "",
                cycle.size() == 1
                    ? "deadlock: a fiber waits for itself\n"
                    : "deadlock: %d fibers wait for each other\n".formatted(cycle.size()),
                ""));
  }

  private static String text(HeldThread held) {
    return "held thread: fiber %d (%s) has run on thread %d for %s without a wait or a yield\n%s"
        .formatted(
            held.fiber.id(),
            oneLine(held.fiber.name()),
            held.fiber.thread(),
            time(held.running),
            frames(held.fiber.stack()));
  }

  private static String text(Holder holder) {
    return "wanted: %s %s for %s, the longest for %s; %s\n%s"
        .formatted(
            number(holder.waiters),
            holder.waiters == 1 ? "fiber waits" : "fibers wait",
            oneLine(holder.what),
            time(holder.longest),
            oneLine(holder.holder),
            frames(holder.stack));
  }

  /** The frames of a stack without those of Weft and the JDK at its ends. */
  private static String frames(List<StackTraceElement> stack) {
    int begin = 0;
    int end = stack.size();
    while (begin < end && isWaiting(stack.get(begin))) {
      begin++;
    }
    while (end > begin && isMachinery(stack.get(end - 1))) {
      end--;
    }
    List<StackTraceElement> shown = begin < end ? stack.subList(begin, end) : stack;
    String text =
        shown.stream()
            .limit(MOST_FRAMES)
            .map(frame -> "    at " + frame + "\n")
            .collect(Collectors.joining());
    int more = shown.size() - MOST_FRAMES;
    return more > 0 ? text + "    … %d more\n".formatted(more) : text;
  }

  /** Whether a frame is one of those by which Weft runs a fiber. */
  private static boolean isMachinery(StackTraceElement frame) {
    String type = frame.getClassName();
    return type.startsWith("dev.weft.internal.") || type.startsWith("java.lang.VirtualThread");
  }

  /** Whether a frame is one of those by which a fiber waits. */
  private static boolean isWaiting(StackTraceElement frame) {
    String type = frame.getClassName();
    return isMachinery(frame)
        || type.startsWith("java.util.concurrent.locks.LockSupport")
        || type.startsWith("java.lang.System$")
        || type.startsWith("jdk.internal.")
        || type.startsWith("sun.nio.ch.");
  }

  // ---- as JSON ----

  /** Returns the dump as JSON, for programs; every group of the dump, with whole stacks. */
  public String json() {
    return ("{\"scheduler\":%s,\"fibers\":%d,\"ready\":%d,\"running\":%d,\"sleeping\":%d,"
            + "\"waiting\":%d,\"blocking\":%d,\"awaitingHelper\":%d,\"standstill\":%b,\n"
            + "\"deadlocks\":[%s],\n\"heldThreads\":[%s],\n\"wanted\":[%s],\n"
            + "\"groups\":[%s],\n\"ungrouped\":%d}")
        .formatted(
            quote(scheduler),
            fibers(),
            stats.ready(),
            stats.running(),
            stats.sleeping(),
            stats.waiting(),
            stats.blocking(),
            stats.awaitingHelper(),
            standstill,
            list(cycles, cycle -> "[" + list(cycle, FiberDump.Entry::json) + "]"),
            list(
                heldThreads,
                held ->
                    "{\"runningMillis\":%d,\"fiber\":%s}"
                        .formatted(held.running.toMillis(), held.fiber.json())),
            list(holders, GroupedDump::json),
            list(
                groups,
                group ->
                    "{\"fibers\":%d,\"same\":%b,\"shortestMillis\":%d,\"longest\":%s}"
                        .formatted(
                            group.fibers,
                            group.same,
                            group.shortest.toMillis(),
                            group.longest.json())),
            ungrouped);
  }

  private static String json(Holder holder) {
    return "{\"what\":%s,\"holder\":%s,\"waiters\":%d,\"longestMillis\":%d,\"stack\":[%s]}"
        .formatted(
            quote(holder.what),
            quote(holder.holder),
            holder.waiters,
            holder.longest.toMillis(),
            list(holder.stack, frame -> quote(frame.toString())));
  }

  private static <T> String list(List<T> values, Function<T, String> json) {
    return values.stream().map(json).collect(Collectors.joining(",\n"));
  }
}
