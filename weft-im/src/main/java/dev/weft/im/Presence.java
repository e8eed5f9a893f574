package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Which users are logged in, and on which nodes; a fiber tells the changes. */
final class Presence implements AutoCloseable {
  /*
   * Invariants, whenever the lock is free:
   *  - A user is online if and only if some node has it.
   *  - The changes that were sent, in order, lead from nobody to the users online.
   */
  private static final String HERE = "";

  /** Tells that a user has come or gone. */
  private record Change(String user, boolean online) {}

  @GuardedBy("this")
  private final Map<String, Set<String>> usersByNode = new HashMap<>();

  @GuardedBy("this")
  private final Map<String, Integer> nodesOfUser = new HashMap<>();

  private final Channel<Change> changes = Channel.unlimited();
  private final BiConsumer<String, Boolean> announce;
  private final Fiber<Void> announcer;

  // the bus: told of users that come and go here
  private volatile Consumer<String> changedHere = user -> {};

  /** Creates one that announces users, with whether they are online; that may wait. */
  Presence(Scheduler scheduler, BiConsumer<String, Boolean> announce) {
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

  synchronized boolean isOnline(String user) {
    return nodesOfUser.containsKey(user);
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
        send(new Change(user, online));
      }
    }
    if (users.isEmpty()) {
      usersByNode.remove(node);
    }
  }

  private void send(Change change) {
    try {
      changes.trySend(change);
    } catch (ChannelClosedException e) {
      // the server stops
    }
  }

  private void announceAll() {
    for (Change change : changes) {
      announce.accept(change.user(), change.online());
    }
  }

  @Override
  public void close() {
    changes.close();
    Node.await(announcer);
  }
}
