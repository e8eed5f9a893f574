package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.im.Events.Event;
import java.time.Duration;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Transaction;

/**
 * The bus over Redis. A fiber talks: it publishes hints, and reads and writes where users are.
 * Another one listens. Each has a connection of its own, and makes a new one when that breaks.
 *
 * <pre>
 *   weft-im:nodes          the ids of the nodes
 *   weft-im:users:NODE     the users logged in there, and "" so that it is never empty; expires if
 *                          the node does not renew it every beat
 *   channel weft-im        M NODE   there are new messages
 *                          P NODE   its users have changed
 *                          G NODE   it has stopped
 *                          B NODE   it is alive
 *                          E NODE AUDIENCE ALSO LINE   an event to tell to users; see Events
 * </pre>
 *
 * <p>All it says is "look there", and looking twice does no harm. So when Redis is back after it
 * was gone each node just looks everywhere: for messages in the store, for users in Redis.
 */
final class RedisBus implements Bus {
  /*
   * Invariants:
   *  - newest, changed: what the talker has to publish; after a failure the talker publishes all
   *    anew.
   *  - dirty, stopped, lookAgain: what the listener has heard. Only the talker acts on that, and
   *    only the talker reads the users of other nodes, so nothing replaces them by older ones.
   *  - A node without users there is forgotten only if this node has been connected for as
   *    long as users last: after a restart of Redis it may not have come to write them yet.
   */
  private static final String CHANNEL = "weft-im";
  private static final String NODES = "weft-im:nodes";
  private static final String USERS = "weft-im:users:";
  private static final int BEATS_TO_LIVE = 3;
  private static final int MOST_EVENTS = 10_000;

  /** Stands for no user: it cannot be a name. */
  private static final String NOBODY = "*";

  private final String me = UUID.randomUUID().toString();
  private final RedisLink link;
  private final Duration beat;
  private final Presence presence;
  private final Runnable news;
  private final Consumer<Event> event;
  private final Channel<Boolean> wake = Channel.buffered(1);
  private final AtomicLong newest = new AtomicLong();
  private final Set<String> changed = ConcurrentHashMap.newKeySet();
  private final Queue<String> events = new ArrayBlockingQueue<>(MOST_EVENTS);
  private final Set<String> dirty = ConcurrentHashMap.newKeySet();
  private final Set<String> stopped = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean lookAgain = new AtomicBoolean();
  private final Fiber<Void> talker;
  private final Fiber<Void> listener;
  private volatile boolean closed;

  // when something was heard last, in nanoseconds; this node's own beats are heard too
  private volatile long heard = System.nanoTime();
  private volatile @Nullable Jedis listening;

  /**
   * Begins; Redis need not be there.
   *
   * @param news called when there may be new messages in the store; it must not wait
   * @param event called with an event of another node; it must not wait
   */
  RedisBus(
      String url,
      Duration beat,
      Scheduler scheduler,
      Presence presence,
      Runnable news,
      Consumer<Event> event) {
    this.link = new RedisLink(url, beat.multipliedBy(BEATS_TO_LIVE));
    this.beat = beat;
    this.presence = presence;
    this.news = news;
    this.event = event;
    this.talker = scheduler.go(FiberOptions.named("im-redis-talker"), this::talk);
    this.listener = scheduler.go(FiberOptions.named("im-redis-listener"), this::listen);
  }

  @Override
  public void stored(long id) {
    newest.accumulateAndGet(id, Math::max);
    wakeTalker();
  }

  @Override
  public void changedHere(String user) {
    changed.add(user);
    wakeTalker();
  }

  @Override
  public void tell(String audience, @Nullable String alsoTo, String line) {
    // while Redis is gone the queue may be full: then the event is dropped, as events may be
    events.offer(audience + " " + (alsoTo == null ? NOBODY : alsoTo) + " " + line);
    wakeTalker();
  }

  private void wakeTalker() {
    try {
      wake.trySend(true);
    } catch (ChannelClosedException e) {
      // the server stops
    }
  }

  private Duration timeToLive() {
    return beat.multipliedBy(BEATS_TO_LIVE);
  }

  // ---- the talker ----

  private void talk() throws InterruptedException {
    link.use(this::talkOver, () -> closed);
  }

  private void talkOver(Jedis jedis) {
    long connected = System.nanoTime();
    writeAll(jedis);
    long published = newest.get();
    jedis.publish(CHANNEL, "M " + me); // others may have missed some
    link.works();
    long nextBeat = System.nanoTime();
    try {
      while (true) {
        long now = System.nanoTime();
        if (lookAgain.getAndSet(false) || now - nextBeat >= 0) {
          nextBeat = now + beat.toNanos();
          beat(jedis, now - connected > timeToLive().toNanos());
        }
        writeChanges(jedis);
        publishEvents(jedis);
        long last = newest.get();
        if (last > published) {
          jedis.publish(CHANNEL, "M " + me);
          published = last;
        }
        readDirty(jedis);
        wake.receive(Duration.ofNanos(Math.max(1, nextBeat - System.nanoTime())));
      }
    } catch (ChannelClosedException e) {
      Transaction leaving = jedis.multi();
      leaving.del(USERS + me);
      leaving.srem(NODES, me);
      leaving.publish(CHANNEL, "G " + me);
      leaving.exec();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Renews what this node has in Redis, and looks for nodes that have come or gone. */
  private void beat(Jedis jedis, boolean longConnected) {
    if (jedis.pexpire(USERS + me, timeToLive().toMillis()) == 0) {
      writeAll(jedis);
    }
    jedis.publish(CHANNEL, "B " + me);
    Set<String> nodes = new HashSet<>(jedis.smembers(NODES));
    nodes.addAll(presence.others());
    nodes.remove(me);
    for (String node : nodes) {
      if (!read(jedis, node) && longConnected) {
        presence.replace(node, Set.of());
        jedis.srem(NODES, node);
      }
    }
    Jedis deaf = listening;
    if (deaf != null && System.nanoTime() - heard > 2 * timeToLive().toNanos()) {
      deaf.disconnect(); // the listener makes a new one
    }
  }

  private void writeAll(Jedis jedis) {
    changed.clear();
    Transaction writing = jedis.multi();
    writing.del(USERS + me);
    writing.sadd(USERS + me, "");
    presence.here().forEach(user -> writing.sadd(USERS + me, user));
    writing.pexpire(USERS + me, timeToLive().toMillis());
    writing.sadd(NODES, me);
    writing.publish(CHANNEL, "P " + me);
    writing.exec();
  }

  private void writeChanges(Jedis jedis) {
    if (changed.isEmpty()) {
      return;
    }
    Set<String> users = new HashSet<>(changed);
    changed.removeAll(users); // first: a user that changes once more comes once more
    Transaction writing = jedis.multi();
    for (String user : users) {
      if (presence.isHere(user)) {
        writing.sadd(USERS + me, user);
      } else {
        writing.srem(USERS + me, user);
      }
    }
    writing.publish(CHANNEL, "P " + me);
    writing.exec();
  }

  private void publishEvents(Jedis jedis) {
    for (String next = events.poll(); next != null; next = events.poll()) {
      jedis.publish(CHANNEL, "E " + me + " " + next);
    }
  }

  private void readDirty(Jedis jedis) {
    for (String node : Set.copyOf(dirty)) {
      dirty.remove(node);
      read(jedis, node);
    }
    for (String node : Set.copyOf(stopped)) {
      stopped.remove(node);
      presence.replace(node, Set.of());
    }
  }

  /** Returns false if it has written nothing. */
  private boolean read(Jedis jedis, String node) {
    Set<String> users = new HashSet<>(jedis.smembers(USERS + node));
    if (!users.remove("")) {
      return false;
    }
    presence.replace(node, users);
    return true;
  }

  // ---- the listener ----

  private void listen() throws InterruptedException {
    link.use(this::listenOver, () -> closed);
  }

  private void listenOver(Jedis jedis) {
    heard = System.nanoTime();
    listening = jedis;
    try {
      jedis.subscribe(new Ear(), CHANNEL);
    } finally {
      listening = null;
    }
  }

  /** Hears what is said on the channel. */
  private final class Ear extends JedisPubSub {
    @Override
    public void onSubscribe(String channel, int channels) {
      heard = System.nanoTime();
      news.run(); // what was said before now was not heard here
      lookAgain.set(true);
      wakeTalker();
    }

    @Override
    public void onMessage(String channel, String message) {
      heard = System.nanoTime();
      String[] words = message.split(" ", 5);
      if (words.length < 2 || words[1].equals(me)) {
        return;
      }
      String node = words[1];
      switch (words[0]) {
        case "E" -> {
          if (words.length == 5) {
            event.accept(
                new Event(words[2], words[3].equals(NOBODY) ? null : words[3], words[4], null));
          }
        }
        case "M" -> news.run();
        case "P" -> {
          dirty.add(node);
          wakeTalker();
        }
        case "G" -> {
          stopped.add(node);
          wakeTalker();
        }
        default -> {} // a beat
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    wake.close(); // the talker takes its leave
    Node.await(talker);
    listener.cancel();
    Jedis listens = listening;
    if (listens != null) {
      listens.disconnect();
    }
    try {
      listener.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      // it was told to end
    }
  }
}
