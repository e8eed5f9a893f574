package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.im.Store.StoreException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How far messages were delivered, by users. A fiber stores what has changed, many users in one
 * transaction, some milliseconds later.
 */
final class Marks implements AutoCloseable {
  /*
   * Invariants:
   *  - The mark of a user is the larger of what is in unstored and what is in the store.
   *  - An entry leaves unstored only after it is stored, and if it has not grown meanwhile. So a
   *    reader of unstored first and the store second sees no mark go back.
   *  - nextRound is completed by a round of storing that begins after it was read here.
   */
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Duration AFTER_FAILURE = Duration.ofMillis(500);

  private final Store store;
  private final Store ownStore;
  private final Map<String, Long> unstored = new ConcurrentHashMap<>();
  private final Channel<Boolean> changed = Channel.buffered(1);
  private final AtomicReference<CompletableFuture<Void>> nextRound =
      new AtomicReference<>(new CompletableFuture<>());
  private final Fiber<Void> keeper;

  /**
   * Begins.
   *
   * @param store for sessions that ask
   * @param ownStore for the fiber that stores
   */
  Marks(Store store, Store ownStore, Scheduler scheduler) {
    this.store = store;
    this.ownStore = ownStore;
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
    wake();
  }

  /** Waits until the mark of a user is stored, with those of others, or that has failed. */
  void flush(String user) throws InterruptedException {
    CompletableFuture<Void> round = nextRound.get();
    if (unstored.containsKey(user) && wake()) {
      try {
        round.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("a round cannot fail", e);
      }
    }
  }

  private boolean tryStore() {
    CompletableFuture<Void> round =
        Objects.requireNonNull(nextRound.getAndSet(new CompletableFuture<>()));
    try {
      Map<String, Long> marks = Map.copyOf(unstored);
      ownStore.raiseMarks(marks);
      marks.forEach(unstored::remove);
      return true;
    } catch (StoreException e) {
      return false; // it has been told; they are still there
    } finally {
      round.complete(null);
    }
  }

  /** Returns false if the server stops: then close() stores what is left. */
  private boolean wake() {
    try {
      changed.trySend(true);
      return true;
    } catch (ChannelClosedException e) {
      return false;
    }
  }

  private void storeAll() throws InterruptedException {
    try {
      while (changed.receive()) {
        boolean stored = tryStore();
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
    tryStore(); // also for those that wait
  }
}
