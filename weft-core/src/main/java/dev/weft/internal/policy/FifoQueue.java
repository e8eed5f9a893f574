package dev.weft.internal.policy;

import dev.weft.Fiber;
import dev.weft.Policy;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** First in, first out. */
public final class FifoQueue implements Policy.ReadyQueue {
  private final ArrayDeque<Fiber<?>> fibers = new ArrayDeque<>(64);

  @Override
  public void add(Fiber<?> fiber, long now) {
    fibers.add(fiber);
  }

  @Override
  public @Nullable Fiber<?> next(long now) {
    return fibers.poll();
  }

  @Override
  public int size() {
    return fibers.size();
  }
}
