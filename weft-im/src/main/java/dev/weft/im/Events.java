package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.im.Store.StoreException;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends users the events that are no messages: a user has joined a room, has left a room, or has
 * invited another. An event of another node waits for a fiber, which looks up the receivers. Events
 * are not stored: a client that was away asks with WHO, ROOMS and INVITATIONS.
 */
final class Events implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");

  /** How many events of other nodes may wait for the fiber; more are dropped. */
  private static final int MOST_WAITING = 10_000;

  /**
   * Something to tell.
   *
   * @param audience a room, or a user as {@code @name}
   * @param alsoTo a user that is told too, as one that has left the room
   * @param except a session that knows already
   */
  record Event(String audience, @Nullable String alsoTo, String line, @Nullable Session except) {}

  private final Store store;
  private final Hub hub;
  private final Channel<Event> events = Channel.buffered(MOST_WAITING);
  private final Fiber<Void> teller;

  Events(Store store, Hub hub, Scheduler scheduler) {
    this.store = store;
    this.hub = hub;
    this.teller = scheduler.go(FiberOptions.named("im-events"), this::tellAll);
  }

  /** Tells an event to those that are members now; never waits but for the store. */
  void tell(Store asking, Event event) {
    try {
      if (event.alsoTo() != null) {
        hub.tell(List.of(event.alsoTo()), event.line(), event.except());
      }
      hub.tell(audience(asking, event.audience()), event.line(), event.except());
    } catch (StoreException e) {
      // the database has logged its failure; the event is lost
    }
  }

  /** Has an event of another node told, unless there are too many; never waits. */
  void heard(Event event) {
    try {
      events.trySend(event);
    } catch (ChannelClosedException e) {
      // the server stops
    }
  }

  private void tellAll() {
    for (Event event : events) {
      try {
        tell(store, event);
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, "cannot tell " + event, e);
      }
    }
  }

  private static Collection<String> audience(Store asking, String name) {
    return name.startsWith("@") ? List.of(name.substring(1)) : asking.members(name).keySet();
  }

  @Override
  public void close() {
    events.close();
    Node.await(teller);
  }
}
