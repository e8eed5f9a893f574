package dev.weft;

import dev.weft.internal.sched.FiberCore;
import java.time.Duration;
import java.util.ArrayList;
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
          "fiber %d (%s) %s ".formatted(id, name, status)
              + (helper.isEmpty() ? "on thread " + thread : "in a blocking call on " + helper);
      return (guest ? line + ", a guest" : line) + waitText();
    }

    private String waitText() {
      if (waitsFor.isEmpty()) {
        return "";
      }
      return waitsFor.equals(FiberCore.SLEEPING.toString())
          ? ", sleeping for %d ms".formatted(waiting.toMillis())
          : ", waits for %s%s for %d ms".formatted(waitsFor, heldByIfUnsaid(), waiting.toMillis());
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
    for (Entry entry : fibers) {
      out.append(entry.summary()).append('\n');
      entry.stack.forEach(frame -> out.append("    at ").append(frame).append('\n'));
    }
    return out.toString();
  }

  /** Returns the dump as JSON, for programs. */
  public String json() {
    List<String> entries = new ArrayList<>();
    for (Entry entry : fibers) {
      List<String> frames = entry.stack.stream().map(frame -> quote(frame.toString())).toList();
      entries.add(
          "{\"id\":%d,\"name\":%s,\"status\":\"%s\",\"guest\":%b,\"thread\":%d,\"helper\":%s,\"waitsFor\":%s,\"heldBy\":%s,\"waitingMillis\":%d,\"stack\":[%s]}"
              .formatted(
                  entry.id,
                  quote(entry.name),
                  entry.status,
                  entry.guest,
                  entry.thread,
                  quote(entry.helper),
                  quote(entry.waitsFor),
                  quote(entry.heldBy),
                  entry.waiting.toMillis(),
                  String.join(",", frames)));
    }
    return "{\"scheduler\":%s,\"fibers\":[%s]}"
        .formatted(quote(scheduler), String.join(",\n", entries));
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
