package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.im.Store.StoreException;
import dev.weft.time.Timer;
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

  private static final Duration SWEEP_EVERY = Duration.ofSeconds(1);

  /** How many hashes of passwords may wait to be computed, and how long. */
  private static final int MOST_HASHES = 10_000;

  private static final Duration LONGEST_HASH_QUEUE = Duration.ofSeconds(60);

  private final Scheduler scheduler;
  private final Limits limits;
  private final LineBudget budget;
  private final Store store;
  private final Store ownStore;
  private final Accounts accounts;
  private final Presence presence;
  private final Hub hub;
  private final Feed feed;
  private final Bus bus;
  private final Journal journal;
  private final Marks marks;
  private final Events events;
  private final ReadPace readPace = new ReadPace(System::nanoTime);
  private final Timer sweeps;
  private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  /**
   * Begins.
   *
   * @param redis the address of Redis, or null if there is but one node
   * @param beat how often nodes tell each other that they are alive
   */
  Node(Store store, Scheduler scheduler, @Nullable String redis, Duration beat, Limits limits) {
    this.store = store;
    this.ownStore = store.ofNode();
    this.scheduler = scheduler;
    this.limits = limits;
    this.budget = new LineBudget(limits.connectionBytes(), limits.userBytes(), limits.totalBytes());
    int hashesAtOnce = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    this.accounts =
        new Accounts(
            store,
            new HashLane(hashesAtOnce, MOST_HASHES, LONGEST_HASH_QUEUE),
            new LoginGuard(System::nanoTime));
    long last = store.lastId();
    presence = new Presence(scheduler, System::nanoTime, this::announce);
    hub = new Hub(presence, last);
    feed = new Feed(ownStore, hub, scheduler, redis == null ? Duration.ZERO : beat);
    events = new Events(ownStore, hub, scheduler);
    bus =
        redis == null
            ? new LocalBus()
            : new RedisBus(redis, beat, scheduler, presence, feed::hint, events::heard);
    presence.onChangeHere(bus::changedHere);
    journal =
        new Journal(
            ownStore,
            scheduler,
            id -> {
              feed.hint();
              bus.stored(id);
            });
    marks = new Marks(store, ownStore, scheduler);
    sweeps = scheduler.timers().every(SWEEP_EVERY, this::sweep);
  }

  private void sweep() {
    long now = System.nanoTime();
    sessions.forEach(session -> session.lookAfter(now, limits));
  }

  private void announce(String user, boolean online) {
    try {
      hub.tell(ownStore.peers(user), "PRESENCE " + user + (online ? " online" : " away"), null);
    } catch (StoreException e) {
      // the database has logged its failure; WHO tells the presence when the database is back
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "cannot announce the presence of " + user, e);
    }
  }

  Scheduler scheduler() {
    return scheduler;
  }

  LineBudget budget() {
    return budget;
  }

  Accounts accounts() {
    return accounts;
  }

  ReadPace readPace() {
    return readPace;
  }

  Events events() {
    return events;
  }

  Bus bus() {
    return bus;
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

  /** Returns false if there are too many connections, and all of them are logged in. */
  boolean opened(Session session) {
    if (sessions.size() >= limits.connections() && !dropOldestLoggedOut()) {
      return false;
    }
    sessions.add(session);
    if (stopping) {
      session.outbox().bye("the server stops"); // or close() may have looked before it was there
    }
    return true;
  }

  /** Makes room for a new connection: sockets that say nothing must not keep users out. */
  private boolean dropOldestLoggedOut() {
    Session oldest = null;
    for (Session session : sessions) {
      if (!session.isLoggedIn()
          && !session.outbox().isEnding()
          && (oldest == null || session.opened() - oldest.opened() < 0)) {
        oldest = session;
      }
    }
    if (oldest == null) {
      return false;
    }
    oldest.outbox().bye("others wait to log in");
    return true;
  }

  /** Returns how many connections there are. */
  int sessions() {
    return sessions.size();
  }

  void ended(Session session) {
    sessions.remove(session);
  }

  /** Ends all sessions, stores what is to be stored, and closes the store. */
  @Override
  public void close() {
    stopping = true;
    sweeps.cancel();
    sessions.forEach(session -> session.outbox().bye("the server stops"));
    awaitSessions();
    journal.close();
    bus.close();
    feed.close();
    events.close();
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
