package dev.weft.im;

import dev.weft.im.Message.Draft;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What outlives the server: users, rooms, members and messages. Every method may wait, and throws
 * {@link StoreException} if the store cannot be reached; the same call works when it is back.
 *
 * <p>Ids are in the order of commits, over all nodes: who sees a message sees all with smaller ids.
 */
interface Store extends AutoCloseable {
  /** Says that the store failed. Whether a change was made then is not known. */
  final class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1;

    StoreException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  // ---- users ----

  /** Returns false if there is one of that name. */
  boolean addUser(String name, String secret);

  /** Returns the stored password of a user, if there is one of that name. */
  Optional<String> secret(String name);

  /** Returns the id up to which messages were delivered to a user. */
  long mark(String name);

  /** Sets marks by names of users; none goes back. */
  void raiseMarks(Map<String, Long> marks);

  // ---- rooms ----

  /** Makes a user a member of a room, for all messages to come; the room is made if it is new. */
  void join(String name, String room);

  /** Returns false if the user was no member. */
  boolean leave(String name, String room);

  boolean isMember(String name, String room);

  boolean roomExists(String room);

  /** Returns the rooms of a user, sorted. */
  List<String> rooms(String name);

  /** Returns the members of a room, sorted, each with the id after which it is one. */
  Map<String, Long> members(String room);

  /** Returns who shares a room with a user, without itself. */
  List<String> peers(String name);

  // ---- messages ----

  /** Stores messages, all or none, and returns the id of the last; they have consecutive ones. */
  long append(List<Draft> drafts);

  /** Returns the id of the newest message, or 0. */
  long lastId();

  /** Returns the oldest messages with a larger id, in order. */
  List<Message> after(long id, int limit);

  /** Returns the oldest messages for a user after one id and up to another, in order. */
  List<Message> missed(String name, long after, long upTo, int limit);

  /** Returns the newest messages of a room before an id, in order. */
  List<Message> ofRoom(String room, long before, int count);

  /** Returns the newest messages between two users before an id, in order. */
  List<Message> between(String name, String other, long before, int count);

  @Override
  void close();
}
