package dev.weft;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Those who have been woken before those who are new or have yielded, each first come first served:
 * what was begun is ended before more is begun. A tree of a million fibers then has few of them
 * parked at a time, instead of all.
 *
 * <p>Invariant: of any {@link #TURNS} fibers in a row one is from the arrivals, if there is any. So
 * two that wake each other for ever keep nobody out.
 */
final class WokenFirstQueue implements Policy.ReadyQueue {
  private static final int TURNS = 32;

  private final ArrayDeque<Fiber<?>> woken = new ArrayDeque<>(64);
  private final ArrayDeque<Fiber<?>> arrivals = new ArrayDeque<>(64);

  // how many woken ones have run since the last arrival
  private int inARow;

  @Override
  public void add(Fiber<?> fiber, long now) {
    (fiber.hasStarted() ? woken : arrivals).add(fiber);
  }

  @Override
  public void addYielded(Fiber<?> fiber, long now) {
    arrivals.add(fiber);
  }

  @Override
  public @Nullable Fiber<?> next(long now) {
    if (!woken.isEmpty() && (++inARow < TURNS || arrivals.isEmpty())) {
      return woken.poll();
    }
    inARow = 0;
    return arrivals.poll();
  }

  @Override
  public int size() {
    return woken.size() + arrivals.size();
  }
}
