package dev.weft.im;

import dev.weft.im.Message.Draft;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What outlives the server: users, rooms, members and messages. Every method may wait, and throws
 * {@link StoreException} if the store cannot be reached; the same call works when it is back.
 *
 * <p>Ids are in the order of commits, over all nodes: a reader of one sees all with smaller ids.
 */
interface Store extends AutoCloseable {
  /** Says that the store failed. Whether a change was made then is not known. */
  final class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String advice;

    StoreException(String message, @Nullable Throwable cause) {
      this(message, "the database fails; try again later", cause);
    }

    /**
     * Creates the failure.
     *
     * @param advice what users are told
     */
    StoreException(String message, String advice, @Nullable Throwable cause) {
      super(message, cause);
      this.advice = advice;
    }

    String advice() {
      return advice;
    }
  }

  /**
   * Some messages, and whether there are more: as many as fit in some ten kilobytes.
   *
   * @param messages in order
   */
  record Page(List<Message> messages, boolean hasMore) {}

  /** What is stored of a token. */
  record Token(String user, long expires) {}

  /** How far two users have talked. */
  record Direct(String peer, long lastId) {}

  /** The result of a join. */
  enum Joining {
    JOINED,
    ALREADY_MEMBER,
    NOT_INVITED,
    EXISTS,
    LOOKS_LIKE_ANOTHER
  }

  /** Returns the same store for the node's own fibers, which never wait behind sessions. */
  Store ofNode();

  // ---- users ----

  /** Returns false if there is one of that name, or one with that skeleton. */
  boolean addUser(String name, String skeleton, String secret);

  /** Returns the user that has a name with this skeleton. */
  Optional<String> userLike(String skeleton);

  /** Replaces the stored password of a user. */
  void setSecret(String name, String secret);

  /** Returns the stored password of a user, if there is one of that name. */
  Optional<String> secret(String name);

  /** Returns the id up to which messages were delivered to a user. */
  long mark(String name);

  /** Sets marks by names of users; none goes back. */
  void raiseMarks(Map<String, Long> marks);

  /** Adds a token, or gives it a new time to expire; the oldest of many of a user are removed. */
  void addToken(String digest, String name, long expires);

  Optional<Token> token(String digest);

  void removeToken(String digest);

  // ---- rooms ----

  /** Makes a user a member of a room, for all messages to come; the room is made if it is new. */
  Joining join(String name, String room, String skeleton);

  /** Makes a room that can only be joined by invitation, with one member. */
  Joining makePrivate(String name, String room, String skeleton);

  /** Invites a user into a room; returns false if it is a member, or invited already. */
  boolean invite(String name, String room);

  /** Returns the rooms that a user is invited to, sorted. */
  List<String> invitations(String name);

  /** Returns false if the user was no member. */
  boolean leave(String name, String room);

  boolean isMember(String name, String room);

  boolean roomExists(String room);

  /** Returns the rooms of a user, sorted. */
  List<String> rooms(String name);

  /** Returns the members of a room, sorted, each with the id after which it is one. */
  Map<String, Long> members(String room);

  /** Returns the other users that share a room with a user. */
  List<String> peers(String name);

  // ---- messages ----

  /** Stores messages, all or none, and returns the id of the last; they have consecutive ones. */
  long append(List<Draft> drafts);

  /** Returns the largest id that was given out or left out; the next message has a larger one. */
  long lastId();

  /** Returns the oldest messages with a larger id. */
  Page after(long id);

  /** Returns the oldest messages for a user after one id and up to another. */
  Page missed(String name, long after, long upTo);

  /** Returns the users with whom a user has exchanged direct messages, the latest first. */
  List<Direct> directs(String name, int limit);

  /** Returns the newest messages of a room before an id, in order. */
  List<Message> ofRoom(String room, long before, int count);

  /** Returns the newest messages between two users before an id, in order. */
  List<Message> between(String name, String other, long before, int count);

  @Override
  void close();
}
