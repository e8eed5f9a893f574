package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.im.Store.StoreException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The way of all messages from the store to the clients of this node: a fiber reads what is newer
 * than its position, whenever it is told that there may be something, and hands it to the hub.
 *
 * <p>Ids are in the order of commits, so messages that the feed has not read yet have larger ids
 * than those it has read: the feed misses none and takes none twice, whichever node stored them. If
 * a hint is lost, as while Redis is gone, the next hint or the next regular look makes up for it.
 */
final class Feed implements AutoCloseable {
  private static final Duration AFTER_FAILURE = Duration.ofMillis(250);

  private final Store store;
  private final Hub hub;
  private final Duration lookEvery;
  private final Channel<Boolean> hints = Channel.buffered(1);
  private final Fiber<Void> reader;

  /**
   * Begins after the position of the hub.
   *
   * @param lookEvery how often it looks without a hint; zero for never
   */
  Feed(Store store, Hub hub, Scheduler scheduler, Duration lookEvery) {
    this.store = store;
    this.hub = hub;
    this.lookEvery = lookEvery;
    this.reader = scheduler.go(FiberOptions.named("im-feed"), this::follow);
  }

  /** Says that there may be new messages; never waits. */
  void hint() {
    try {
      hints.trySend(true); // a hint that waits already stands for this one too
    } catch (ChannelClosedException e) {
      // the server stops
    }
  }

  private void follow() throws InterruptedException {
    try {
      while (true) {
        if (lookEvery.isZero()) {
          hints.receive();
        } else {
          hints.receive(lookEvery);
        }
        try {
          deliverNew();
        } catch (StoreException e) {
          hint(); // the database has logged its failure: look again
          Fiber.sleep(AFTER_FAILURE);
        }
      }
    } catch (ChannelClosedException e) {
      // the server stops
    }
  }

  private void deliverNew() {
    while (true) {
      List<Message> messages = store.after(hub.position()).messages();
      if (messages.isEmpty()) {
        return;
      }
      Map<String, Map<String, Long>> members = new HashMap<>();
      for (Message message : messages) {
        String room = message.room();
        if (room != null && !members.containsKey(room)) {
          members.put(room, store.members(room));
        }
      }
      hub.deliver(messages, members);
      Fiber.yield(); // lets the writers run: a queue that grows then means that a client is slow
    }
  }

  @Override
  public void close() {
    hints.close();
    Node.await(reader);
  }
}
