package dev.weft;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Every fiber of a scheduler at one moment, as far as a moment can be had while they run.
 *
 * @param scheduler the scheduler's name
 * @param fibers its fibers, oldest first
 */
public record FiberDump(String scheduler, List<Entry> fibers) {
  /**
   * One fiber.
   *
   * @param id its number
   * @param name its name
   * @param status where it is in its life
   * @param guest whether it is a virtual thread that code inside a fiber started
   * @param thread the index of the thread it runs on, or ran on last
   * @param helper the name of the helper thread that runs its {@linkplain Weft#blocking blocking
   *     call}; empty if it is in none
   * @param waitsFor what it waits for; empty if it does not wait
   * @param waiting for how long it has waited, roughly
   * @param stack its stack, innermost frame first
   */
  public record Entry(
      long id,
      String name,
      Fiber.Status status,
      boolean guest,
      int thread,
      String helper,
      String waitsFor,
      Duration waiting,
      List<StackTraceElement> stack) {
    /** Copies the stack. */
    public Entry {
      stack = List.copyOf(stack);
    }

    static Entry of(Fiber<?> fiber, Scheduler scheduler) {
      Thread thread = fiber.threadOrNull();
      Fiber.Status status = fiber.status();
      boolean waits = status == Fiber.Status.WAITING;
      long nanos = waits ? scheduler.clock.nanoTime() - fiber.since : 0;
      List<StackTraceElement> stack = framesOf(thread);
      BlockingCall away = fiber.away;
      return new Entry(
          fiber.id(),
          fiber.name(),
          status,
          fiber.isGuest(),
          fiber.worker.index,
          away == null ? "" : away.helperName(),
          waits && thread != null ? describe(LockSupport.getBlocker(thread), stack) : "",
          Duration.ofNanos(Math.max(0, nanos)),
          stack);
    }

    private static String describe(@Nullable Object blocker, List<StackTraceElement> stack) {
      if (blocker instanceof Fiber<?> fiber) {
        return "the end of " + fiber;
      }
      if (blocker != null) {
        try {
          return "" + blocker; // which may be "null"
        } catch (Throwable e) { // any object may be one
          return "a " + blocker.getClass().getName() + ", whose toString() threw " + e;
        }
      }
      return stack.isEmpty() ? "its start" : stack.getFirst().toString();
    }

    /** Returns it in one line, without the stack. */
    public String summary() {
      String line =
          "fiber %d (%s) %s ".formatted(id, name, status)
              + (helper.isEmpty() ? "on thread " + thread : "in a blocking call on " + helper);
      return (guest ? line + ", a guest" : line)
          + (waitsFor.isEmpty()
              ? ""
              : ", waits for %s since %d ms".formatted(waitsFor, waiting.toMillis()));
    }
  }

  /** Copies the list. */
  public FiberDump {
    fibers = List.copyOf(fibers);
  }

  static FiberDump of(Scheduler scheduler) {
    return new FiberDump(
        scheduler.name(), scheduler.fibers().map(fiber -> Entry.of(fiber, scheduler)).toList());
  }

  /** Returns it for people: a line and the stack for each fiber. */
  public String text() {
    StringBuilder out = new StringBuilder();
    out.append("scheduler ")
        .append(scheduler)
        .append(", ")
        .append(fibers.size())
        .append(" fibers\n");
    for (Entry entry : fibers) {
      out.append(entry.summary()).append('\n');
      entry.stack.forEach(frame -> out.append("    at ").append(frame).append('\n'));
    }
    return out.toString();
  }

  /** Returns it for programs, as JSON. */
  public String json() {
    List<String> entries = new ArrayList<>();
    for (Entry entry : fibers) {
      List<String> frames = entry.stack.stream().map(frame -> quote(frame.toString())).toList();
      entries.add(
          "{\"id\":%d,\"name\":%s,\"status\":\"%s\",\"guest\":%b,\"thread\":%d,\"helper\":%s,\"waitsFor\":%s,\"waitingMillis\":%d,\"stack\":[%s]}"
              .formatted(
                  entry.id,
                  quote(entry.name),
                  entry.status,
                  entry.guest,
                  entry.thread,
                  quote(entry.helper),
                  quote(entry.waitsFor),
                  entry.waiting.toMillis(),
                  String.join(",", frames)));
    }
    return "{\"scheduler\":%s,\"fibers\":[%s]}"
        .formatted(quote(scheduler), String.join(",\n", entries));
  }

  static String stackOf(@Nullable Thread thread) {
    StringBuilder out = new StringBuilder();
    for (StackTraceElement frame : framesOf(thread)) {
      out.append("    at ").append(frame).append('\n');
    }
    return out.toString();
  }

  /** The frames of a fiber's thread; none if it has not started or has ended. */
  static List<StackTraceElement> framesOf(@Nullable Thread thread) {
    return thread == null ? List.of() : List.of(thread.getStackTrace());
  }

  private static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> out.append('\\').append(c);
        case '\n' -> out.append("\\n");
        default -> {
          if (c < ' ') {
            out.append("\\u%04x".formatted((int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    return out.append('"').toString();
  }
}
