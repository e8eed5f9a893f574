package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.im.Store.StoreException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How far messages were delivered, by users. A fiber stores what has changed, many users in one
 * transaction, some milliseconds later.
 */
final class Marks implements AutoCloseable {
  /*
   * Invariants:
   *  - The mark of a user is the larger of what is in unstored and what is in the store.
   *  - An entry leaves unstored only after it is stored, and if it has not grown meanwhile. So who
   *    looks into unstored first and into the store second sees no mark go back.
   */
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Duration AFTER_FAILURE = Duration.ofMillis(500);

  private final Store store;
  private final Map<String, Long> unstored = new ConcurrentHashMap<>();
  private final Channel<Boolean> changed = Channel.buffered(1);
  private final Fiber<Void> keeper;

  Marks(Store store, Scheduler scheduler) {
    this.store = store;
    this.keeper = scheduler.go(FiberOptions.named("im-marks"), this::storeAll);
  }

  /** Returns the id up to which messages were delivered to a user. */
  long of(String user) {
    long here = unstored.getOrDefault(user, 0L);
    return Math.max(here, store.mark(user));
  }

  /** Notes that messages were delivered up to an id; never waits. */
  void raise(String user, long id) {
    unstored.merge(user, id, Math::max);
    try {
      changed.trySend(true);
    } catch (ChannelClosedException e) {
      // close() stores what is left
    }
  }

  /** Stores the mark of a user now, if that is possible. */
  void flush(String user) {
    Optional.ofNullable(unstored.get(user)).ifPresent(id -> tryStore(Map.of(user, id)));
  }

  private boolean tryStore(Map<String, Long> marks) {
    try {
      store.raiseMarks(marks);
      marks.forEach(unstored::remove);
      return true;
    } catch (StoreException e) {
      return false; // it has been told; they are still there
    }
  }

  private void storeAll() throws InterruptedException {
    try {
      while (changed.receive()) {
        boolean stored = tryStore(Map.copyOf(unstored));
        if (!stored) {
          changed.trySend(true);
        }
        Fiber.sleep(stored ? PAUSE : AFTER_FAILURE);
      }
    } catch (ChannelClosedException e) {
      // close() does the rest
    }
  }

  @Override
  public void close() {
    changed.close();
    Node.await(keeper);
    if (!unstored.isEmpty()) {
      tryStore(Map.copyOf(unstored));
    }
  }
}
