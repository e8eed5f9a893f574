package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.im.Message.Draft;
import dev.weft.im.Store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.LongConsumer;

/**
 * The way of this node's messages into the store: one fiber stores all that wait in one
 * transaction, so the more there are the cheaper each is.
 */
final class Journal implements AutoCloseable {
  private static final int MOST_AT_ONCE = 200;
  private static final int MOST_WAITING = 1000;

  private record Entry(Draft draft, CompletableFuture<Long> id) {}

  private final Store store;
  private final LongConsumer stored;
  private final Channel<Entry> entries = Channel.buffered(MOST_WAITING);
  private final Fiber<Void> writer;

  /**
   * Begins.
   *
   * @param stored called after each transaction, with the largest id that there may be
   */
  Journal(Store store, Scheduler scheduler, LongConsumer stored) {
    this.store = store;
    this.stored = stored;
    this.writer = scheduler.go(FiberOptions.named("im-journal"), this::storeAll);
  }

  /**
   * Waits until a message is stored, and returns its id.
   *
   * @throws StoreException if that failed; as with every database, it may be stored all the same if
   *     the connection broke in the moment of the commit
   */
  long append(Draft draft) throws InterruptedException {
    Entry entry = new Entry(draft, new CompletableFuture<>());
    try {
      entries.send(entry);
      return entry.id().get();
    } catch (ChannelClosedException e) {
      throw new StoreException("cannot store a message: the server stops", e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof StoreException failure
          ? new StoreException("cannot store a message", failure.advice(), failure)
          : new StoreException("cannot store a message", e.getCause());
    }
  }

  private void storeAll() throws InterruptedException {
    try {
      while (true) {
        List<Entry> batch = new ArrayList<>();
        batch.add(entries.receive());
        for (Optional<Entry> next = nextNow(); next.isPresent(); next = nextNow()) {
          batch.add(next.get());
          if (batch.size() == MOST_AT_ONCE) {
            break;
          }
        }
        store(batch);
      }
    } catch (ChannelClosedException e) {
      // all is stored
    }
  }

  private Optional<Entry> nextNow() {
    try {
      return entries.tryReceive();
    } catch (ChannelClosedException e) {
      return Optional.empty();
    }
  }

  private void store(List<Entry> batch) {
    try {
      long last = store.append(batch.stream().map(Entry::draft).toList());
      long id = last - batch.size();
      for (Entry entry : batch) {
        entry.id().complete(++id);
      }
      stored.accept(last);
    } catch (RuntimeException e) {
      batch.forEach(entry -> entry.id().completeExceptionally(e));
      stored.accept(0); // the commit may have come through: the feed looks
    }
  }

  @Override
  public void close() {
    entries.close();
    Node.await(writer);
  }
}
