package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which users are logged in, and on which nodes; a fiber announces the changes. An announcement
 * costs a query and a line for each user that shares a room, so it is made only if the user is
 * still as it says: for a user that comes and goes all the time there is one.
 */
final class Presence implements AutoCloseable {
  /*
   * Invariants, whenever the lock is free:
   *  - Some node has a user if and only if the user is in nodesOfUser.
   *  - What was announced, in order, leads from nobody to the users in nodesOfUser, without those
   *    in coming, and with those in leaving.
   *  - A user in coming is in nodesOfUser, and a user in leaving is not.
   */
  private static final String HERE = "";

  /** A user that is back within this time was never away, as far as others are told. */
  static final Duration AWAY_AFTER = Duration.ofMillis(1500);

  /** Tells that a user has come or gone. */
  private record Change(String user, boolean online) {}

  @GuardedBy("this")
  private final Map<String, Set<String>> usersByNode = new HashMap<>();

  @GuardedBy("this")
  private final Map<String, Integer> nodesOfUser = new HashMap<>();

  @GuardedBy("this")
  private final SequencedSet<String> coming = new LinkedHashSet<>();

  // with the time at which it is announced, in this order
  @GuardedBy("this")
  private final SequencedMap<String, Long> leaving = new LinkedHashMap<>();

  private final Channel<Boolean> changed = Channel.buffered(1);
  private final LongSupplier nanoTime;
  private final BiConsumer<String, Boolean> announce;
  private final Fiber<Void> announcer;

  // the bus: told of users that come and go here
  private volatile Consumer<String> changedHere = user -> {};

  /** Creates one that announces users, with whether they are online; that may wait. */
  Presence(Scheduler scheduler, LongSupplier nanoTime, BiConsumer<String, Boolean> announce) {
    this.nanoTime = nanoTime;
    this.announce = announce;
    this.announcer = scheduler.go(FiberOptions.named("im-presence"), this::announceAll);
  }

  /** Sets what is told when a user comes or goes on this node; it must not wait. */
  void onChangeHere(Consumer<String> listener) {
    changedHere = listener;
  }

  void begin(String user) {
    change(HERE, user, true);
    changedHere.accept(user);
  }

  void end(String user) {
    change(HERE, user, false);
    changedHere.accept(user);
  }

  synchronized boolean isHere(String user) {
    return usersByNode.getOrDefault(HERE, Set.of()).contains(user);
  }

  synchronized List<String> here() {
    return List.copyOf(usersByNode.getOrDefault(HERE, Set.of()));
  }

  /** Returns whether a user is online, as far as others have been told or will be at once. */
  synchronized boolean isOnline(String user) {
    return nodesOfUser.containsKey(user) || leaving.containsKey(user);
  }

  /** Returns the other nodes that are known. */
  synchronized Set<String> others() {
    Set<String> names = new HashSet<>(usersByNode.keySet());
    names.remove(HERE);
    return names;
  }

  /** Sets the users of another node; none if it is gone. */
  synchronized void replace(String node, Set<String> users) {
    for (String gone : List.copyOf(usersByNode.getOrDefault(node, Set.of()))) {
      if (!users.contains(gone)) {
        change(node, gone, false);
      }
    }
    users.forEach(user -> change(node, user, true));
  }

  private synchronized void change(String node, String user, boolean online) {
    Set<String> users = usersByNode.computeIfAbsent(node, name -> new HashSet<>());
    if (online ? users.add(user) : users.remove(user)) {
      int nodes = nodesOfUser.merge(user, online ? 1 : -1, Integer::sum);
      if (nodes == 0) {
        nodesOfUser.remove(user);
      }
      if (nodes == (online ? 1 : 0)) {
        note(user, online);
      }
    }
    if (users.isEmpty()) {
      usersByNode.remove(node);
    }
  }

  @GuardedBy("this")
  private void note(String user, boolean online) {
    if (online && leaving.remove(user) == null) {
      coming.add(user);
    } else if (!online && !coming.remove(user)) {
      leaving.put(user, nanoTime.getAsLong() + AWAY_AFTER.toNanos());
    }
    try {
      changed.trySend(true);
    } catch (ChannelClosedException e) {
      // the server stops
    }
  }

  private void announceAll() throws InterruptedException {
    try {
      while (true) {
        for (Change due = takeDue(); due != null; due = takeDue()) {
          announce.accept(due.user(), due.online());
        }
        Duration pause = untilNextIsDue();
        if (pause == null) {
          changed.receive();
        } else {
          changed.receive(pause);
        }
      }
    } catch (ChannelClosedException e) {
      // the server stops
    }
  }

  private synchronized @Nullable Change takeDue() {
    if (!coming.isEmpty()) {
      return new Change(coming.removeFirst(), true);
    }
    Map.Entry<String, Long> first = leaving.firstEntry();
    if (first == null || first.getValue() - nanoTime.getAsLong() > 0) {
      return null;
    }
    leaving.pollFirstEntry();
    return new Change(first.getKey(), false);
  }

  /** Returns null if there is none. */
  private synchronized @Nullable Duration untilNextIsDue() {
    Map.Entry<String, Long> first = leaving.firstEntry();
    return first == null
        ? null
        : Duration.ofNanos(Math.max(1, first.getValue() - nanoTime.getAsLong()));
  }

  @Override
  public void close() {
    changed.close();
    Node.await(announcer);
  }
}
