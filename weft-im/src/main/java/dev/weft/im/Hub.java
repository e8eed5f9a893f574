package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The sessions that are logged in at this node, and the fan-out to them. No method waits. */
final class Hub {
  /*
   * Invariants, whenever the lock is free:
   *  - Every message up to position was offered to the sessions that it is for and that were
   *    attached at that time, and no message after it to anybody.
   *  - A session that was attached at position p is offered those after p, in order: those up to
   *    p it reads from the store, where all of them are.
   *  - A session gets events from the answer to its login on, before it is attached: events are
   *    not stored. So attached is a part of sessions.
   *  - A user has an entry in sessions if and only if it has a session, and if and only if
   *    Presence knows it to be here.
   */
  private final Presence presence;

  @GuardedBy("this")
  private final Map<String, List<Session>> sessions = new HashMap<>();

  @GuardedBy("this")
  private final Set<Session> attached = new HashSet<>();

  @GuardedBy("this")
  private long position;

  /** Creates one for the messages after a position. */
  Hub(Presence presence, long position) {
    this.presence = presence;
    this.position = position;
  }

  /** Sends a session the answer to its login, and from then on events. */
  synchronized void enter(Session session, String answer) {
    session.outbox().offer(answer, 0);
    String user = session.user();
    List<Session> others = sessions.computeIfAbsent(user, name -> new ArrayList<>());
    others.add(session);
    if (others.size() == 1) {
      presence.begin(user);
    }
  }

  /** Lets a session that has entered hear messages after the position that is returned. */
  synchronized long attach(Session session) {
    attached.add(session);
    session.outbox().hold();
    return position;
  }

  /** Lets a session hear no more; harmless if it does not. */
  synchronized void leave(Session session) {
    attached.remove(session);
    String user = session.user();
    List<Session> all = sessions.get(user);
    if (all != null && all.remove(session) && all.isEmpty()) {
      sessions.remove(user);
      presence.end(user);
    }
  }

  synchronized long position() {
    return position;
  }

  /** Offers messages to those they are for; members are by rooms, with the id they joined after. */
  synchronized void deliver(List<Message> messages, Map<String, Map<String, Long>> members) {
    for (Message message : messages) {
      if (message.room() != null) {
        String line = message.lineFor(""); // one string for all members
        Map<String, Long> room = Objects.requireNonNull(members.get(message.room()));
        for (Map.Entry<String, Long> member : room.entrySet()) {
          if (member.getValue() < message.id()) {
            offer(member.getKey(), line, message.id());
          }
        }
      } else {
        String recipient = Objects.requireNonNull(message.recipient());
        offer(recipient, message.lineFor(recipient), message.id());
        if (!message.sender().equals(recipient)) {
          offer(message.sender(), message.lineFor(message.sender()), message.id());
        }
      }
      position = message.id();
    }
  }

  @GuardedBy("this")
  private void offer(String name, String line, long id) {
    for (Session session : List.copyOf(sessions.getOrDefault(name, List.of()))) {
      if (attached.contains(session)) {
        session.outbox().offer(line, id);
      }
      if (session.outbox().isEnding()) {
        leave(session); // its client reads too slowly
      }
    }
  }

  /** Tells an event to all sessions of these users but one. */
  synchronized void tell(Collection<String> names, String line, @Nullable Session except) {
    for (String name : names) {
      for (Session session : sessions.getOrDefault(name, List.of())) {
        if (session != except) {
          session.outbox().offer(line, 0);
        }
      }
    }
  }
}
