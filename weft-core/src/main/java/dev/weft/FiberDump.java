package dev.weft;

import dev.weft.internal.FiberAccess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
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
    private static final Pattern LIBRARY =
        Pattern.compile(
            "(java|javax|jdk|sun)\\.|dev\\.weft\\.(\\p{Lu}|sync\\.|channel\\.|internal\\.)");

    /** Copies the stack. */
    public Entry {
      stack = List.copyOf(stack);
    }

    static Entry of(Fiber<?> fiber, Scheduler scheduler, LockOwners owners) {
      Thread thread = fiber.threadOrNull();
      Fiber.Status status = fiber.status();
      boolean waits = fiber.isWaiting();
      long nanos = waits ? scheduler.clock.nanoTime() - fiber.since : 0;
      List<StackTraceElement> stack = framesOf(thread);
      LockOwners.BlockedOn blockedOn = waits ? owners.blockedOn(fiber) : null;
      BlockingCall away = fiber.away;
      return new Entry(
          fiber.id(),
          fiber.name(),
          status,
          fiber.isGuest(),
          fiber.worker.index,
          away == null ? "" : away.helperName(),
          waits && thread != null ? describe(blockedOn, stack) : "",
          blockedOn == null ? "" : holder(blockedOn),
          Duration.ofNanos(Math.max(0, nanos)),
          stack);
    }

    private static String describe(
        LockOwners.@Nullable BlockedOn blockedOn, List<StackTraceElement> stack) {
      if (blockedOn == null) {
        return stack.isEmpty() ? "its start" : stack.getFirst().toString();
      }
      Object object = blockedOn.object();
      if (object instanceof Fiber<?> fiber) {
        return "the end of " + fiber;
      }
      if (blockedOn.isMonitor()) {
        return "the monitor of " + Objects.toIdentityString(object);
      }
      try {
        return "" + object; // which may be "null"
      } catch (Throwable e) { // any object may be one
        return "a " + object.getClass().getName() + ", whose toString() threw " + e;
      }
    }

    private static String holder(LockOwners.BlockedOn blockedOn) {
      Thread owner = blockedOn.owner();
      return owner == null || blockedOn.object() instanceof Fiber<?>
          ? ""
          : FiberAccess.describe(owner);
    }

    /** Returns it in one line, without the stack. */
    public String summary() {
      String line =
          "fiber %d (%s) %s ".formatted(id, name, status)
              + (helper.isEmpty() ? "on thread " + thread : "in a blocking call on " + helper);
      return (guest ? line + ", a guest" : line)
          + (waitsFor.isEmpty()
              ? ""
              : ", waits for %s%s since %d ms"
                  .formatted(waitsFor, heldByIfUnsaid(), waiting.toMillis()));
    }

    /** Returns the innermost frame that belongs neither to the JDK nor to Weft; else the first. */
    String ownFrame() {
      return stack.stream()
          .filter(frame -> !LIBRARY.matcher(frame.getClassName()).lookingAt())
          .findFirst()
          .or(() -> stack.stream().findFirst())
          .map(StackTraceElement::toString)
          .orElse("its start");
    }

    /** Says the holder, unless the lock's own text has. */
    private String heldByIfUnsaid() {
      return heldBy.isEmpty() || waitsFor.contains(heldBy) ? "" : ", held by " + heldBy + ",";
    }
  }

  /** Copies the list. */
  public FiberDump {
    fibers = List.copyOf(fibers);
  }

  static FiberDump of(Scheduler scheduler) {
    LockOwners owners = new LockOwners(Watchdog::fibers);
    return new FiberDump(
        scheduler.name(),
        scheduler.fibers().map(fiber -> Entry.of(fiber, scheduler, owners)).toList());
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
