package dev.weft.sim;

import dev.weft.sim.net.NetworkWorld;
import java.util.PriorityQueue;

/** Actions at virtual times that need no fiber, such as the arrival of a packet. */
final class Events {
  private static final class Event implements NetworkWorld.Event {
    final long time;
    final long number;
    final Runnable action;
    boolean cancelled;

    Event(long time, long number, Runnable action) {
      this.time = time;
      this.number = number;
      this.action = action;
    }

    @Override
    public void cancel() {
      cancelled = true;
    }
  }

  private final PriorityQueue<Event> queue =
      new PriorityQueue<>(
          (one, other) ->
              one.time != other.time
                  ? Long.compare(one.time, other.time)
                  : Long.compare(one.number, other.number));
  private long numbers;

  NetworkWorld.Event add(long time, Runnable action) {
    Event event = new Event(time, numbers++, action);
    queue.add(event);
    return event;
  }

  /** Returns when the next action is due; {@link Long#MAX_VALUE} if there is none. */
  long next() {
    while (!queue.isEmpty() && queue.peek().cancelled) {
      queue.remove();
    }
    return queue.isEmpty() ? Long.MAX_VALUE : queue.peek().time;
  }

  /** Runs the actions that are due. */
  void runDue(long now) {
    while (next() <= now) {
      queue.remove().action.run();
    }
  }

  void clear() {
    queue.clear();
    numbers = 0;
  }
}
