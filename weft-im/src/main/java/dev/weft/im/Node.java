package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.im.Store.StoreException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** One server among those that share a store: its parts, put together. */
final class Node implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");

  /** How long sessions may take to end before their fibers are left to themselves. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final Duration LOOK_AGAIN = Duration.ofMillis(5);

  private final Scheduler scheduler;
  private final int queueLimit;
  private final Store store;
  private final Presence presence;
  private final Hub hub;
  private final Feed feed;
  private final Bus bus;
  private final Journal journal;
  private final Marks marks;
  private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  /**
   * Begins.
   *
   * @param redis the address of Redis, or null if there is but one node
   * @param beat how often nodes tell each other that they are alive
   * @param queueLimit how many lines may wait for a client
   */
  Node(Store store, Scheduler scheduler, @Nullable String redis, Duration beat, int queueLimit) {
    this.store = store;
    this.scheduler = scheduler;
    this.queueLimit = queueLimit;
    long last = store.lastId();
    presence = new Presence(scheduler, this::announce);
    hub = new Hub(presence, last);
    feed = new Feed(store, hub, scheduler, redis == null ? Duration.ZERO : beat);
    bus =
        redis == null ? new LocalBus() : new RedisBus(redis, beat, scheduler, presence, feed::hint);
    presence.onChangeHere(bus::changedHere);
    journal =
        new Journal(
            store,
            scheduler,
            id -> {
              feed.hint();
              bus.stored(id);
            });
    marks = new Marks(store, scheduler);
  }

  private void announce(String user, boolean online) {
    try {
      hub.tell(store.peers(user), "PRESENCE " + user + (online ? " online" : " away"));
    } catch (StoreException e) {
      // it has been told; WHO tells the presence when the store is back
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "cannot announce the presence of " + user, e);
    }
  }

  Scheduler scheduler() {
    return scheduler;
  }

  int queueLimit() {
    return queueLimit;
  }

  Store store() {
    return store;
  }

  Presence presence() {
    return presence;
  }

  Hub hub() {
    return hub;
  }

  Journal journal() {
    return journal;
  }

  Marks marks() {
    return marks;
  }

  void opened(Session session) {
    sessions.add(session);
    if (stopping) {
      session.outbox().bye("the server stops"); // or close() may have looked before it was there
    }
  }

  void ended(Session session) {
    sessions.remove(session);
  }

  /** Ends all sessions, stores what is to be stored, and closes the store. */
  @Override
  public void close() {
    stopping = true;
    sessions.forEach(session -> session.outbox().bye("the server stops"));
    awaitSessions();
    journal.close();
    bus.close();
    feed.close();
    marks.close();
    presence.close();
    store.close();
  }

  private void awaitSessions() {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    try {
      while (!sessions.isEmpty() && System.nanoTime() < deadline) {
        Fiber.sleep(LOOK_AGAIN);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the end of one of the server's own fibers, which comes soon. */
  static void await(Fiber<Void> fiber) {
    try {
      fiber.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, fiber + " has failed", e);
    }
  }
}
