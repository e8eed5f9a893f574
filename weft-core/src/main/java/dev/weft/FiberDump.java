package dev.weft;

import static dev.weft.internal.JsonText.quote;
import static dev.weft.internal.PlainText.oneLine;
import static dev.weft.internal.PlainText.time;

import dev.weft.internal.WaitWords;
import java.time.Duration;
import java.util.List;

/**
 * Every fiber of a scheduler at about one moment: the fibers run on while the dump is taken.
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
   * @param waitsFor what it waits for; empty if it does not wait. A fiber that is done may wait
   *     too: for what the callbacks of its future wait for, or for scopes that it left open
   * @param heldBy the fiber or thread that holds the lock or the monitor it waits for; empty if it
   *     waits for something else, if several share the lock, or if the holder is not known: a fiber
   *     that runs cannot be asked for its monitors
   * @param waiting for how long it has waited, or been in a blocking call, roughly
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
      String heldBy,
      Duration waiting,
      List<StackTraceElement> stack) {
    /** Copies the stack. */
    public Entry {
      stack = List.copyOf(stack);
    }

    /** Returns it in one line, without the stack. */
    public String summary() {
      String line =
          "fiber %d (%s) %s ".formatted(id, oneLine(name), status)
              + (helper.isEmpty()
                  ? "on thread " + thread
                  : (helper.startsWith("weft-computing") ? "on " : "in a blocking call on ")
                      + helper);
      return (guest ? line + ", a guest" : line) + waitText();
    }

    /** Returns it as text: a line, and the stack. */
    public String text() {
      StringBuilder out = new StringBuilder(summary()).append('\n');
      stack.forEach(frame -> out.append("    at ").append(frame).append('\n'));
      return out.toString();
    }

    /** Returns it as a JSON object, with the stack. */
    public String json() {
      List<String> frames = stack.stream().map(frame -> quote(frame.toString())).toList();
      return "{\"id\":%d,\"name\":%s,\"status\":\"%s\",\"guest\":%b,\"thread\":%d,\"helper\":%s,\"waitsFor\":%s,\"heldBy\":%s,\"waitingMillis\":%d,\"stack\":[%s]}"
          .formatted(
              id,
              quote(name),
              status,
              guest,
              thread,
              quote(helper),
              quote(waitsFor),
              quote(heldBy),
              waiting.toMillis(),
              String.join(",", frames));
    }

    private String waitText() {
      if (waitsFor.isEmpty()) {
        return "";
      }
      return waitsFor.equals(WaitWords.SLEEP)
          ? ", sleeping for " + time(waiting)
          : ", waits for %s for %s".formatted(oneLine(waitsFor + heldByIfUnsaid()), time(waiting));
    }

    /** Names the holder, unless the text of the lock does. */
    private String heldByIfUnsaid() {
      return heldBy.isEmpty() || waitsFor.contains(heldBy) ? "" : ", held by " + heldBy + ",";
    }
  }

  /** Copies the list. */
  public FiberDump {
    fibers = List.copyOf(fibers);
  }

  /** Returns the dump as text: a line and the stack for each fiber. */
  public String text() {
    StringBuilder out = new StringBuilder();
    out.append("scheduler ")
        .append(scheduler)
        .append(", ")
        .append(fibers.size())
        .append(" fibers\n");
    fibers.forEach(entry -> out.append(entry.text()));
    return out.toString();
  }

  /** Returns the dump as JSON, for programs. */
  public String json() {
    List<String> entries = fibers.stream().map(Entry::json).toList();
    return "{\"scheduler\":%s,\"fibers\":[%s]}"
        .formatted(quote(scheduler), String.join(",\n", entries));
  }
}
