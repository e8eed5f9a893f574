package dev.weft.im;

import dev.weft.sync.Semaphore;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory that lines on their way to clients may take: in each connection, for each user, and in
 * all. A user, or a server, that is over its limit loses the connection with the longest queue:
 * clients that read have short ones, so they do not notice.
 *
 * <p>Bytes are an upper bound of the heap that a line takes. A line of a room is one string for all
 * its receivers and counts for each of them.
 */
final class LineBudget {
  /** What a string and its place in a queue take beside its characters. */
  private static final int OVERHEAD = 72;

  /** The connections of one user. */
  static final class Account {
    /** So many long answers of one user are computed at once: others want the database too. */
    private static final int READS_AT_ONCE = 2;

    /** So many of its commands, of any kind, are carried out at once. */
    private static final int COMMANDS_AT_ONCE = 4;

    /** So many of its connections may read, or wait for that. */
    static final int MOST_READERS = 32;

    /** The same for what was missed: a user may come back on many connections at once. */
    static final int MOST_RETURNING = 256;

    private final String user;
    private final AtomicLong bytes = new AtomicLong();
    private final Semaphore reads = new Semaphore(READS_AT_ONCE);
    private final Semaphore commands = new Semaphore(COMMANDS_AT_ONCE);
    private final AtomicInteger readers = new AtomicInteger();

    // guarded by the map of accounts
    private final Set<Outbox> outboxes = new HashSet<>();

    private Account(String user) {
      this.user = user;
    }

    Semaphore reads() {
      return reads;
    }

    Semaphore commands() {
      return commands;
    }

    /** Counts a connection that has or waits for one of {@link #reads}, unless there are many. */
    boolean enterReaders(int most) {
      if (readers.incrementAndGet() > most) {
        readers.decrementAndGet();
        return false;
      }
      return true;
    }

    void leaveReaders() {
      readers.decrementAndGet();
    }
  }

  private final long mostOfConnection;
  private final long mostOfUser;
  private final long mostInAll;
  private final AtomicLong total = new AtomicLong();
  private final Set<Outbox> outboxes = ConcurrentHashMap.newKeySet();
  private final Map<String, Account> accounts = new ConcurrentHashMap<>();

  LineBudget(long mostOfConnection, long mostOfUser, long mostInAll) {
    this.mostOfConnection = mostOfConnection;
    this.mostOfUser = mostOfUser;
    this.mostInAll = mostInAll;
  }

  static long costOf(String line) {
    return OVERHEAD + 2L * line.length();
  }

  long mostOfConnection() {
    return mostOfConnection;
  }

  /** Returns the bytes that are queued now, of all connections. */
  long total() {
    return total.get();
  }

  void opened(Outbox outbox) {
    outboxes.add(outbox);
  }

  /**
   * Counts a connection as one of a user's. Lines that were queued before the login count for the
   * connection and in all, not for the user.
   */
  Account loggedIn(Outbox outbox, String user) {
    return accounts.compute(
        user,
        (name, known) -> {
          Account account = known == null ? new Account(name) : known;
          account.outboxes.add(outbox);
          return account;
        });
  }

  void ended(Outbox outbox, @Nullable Account account) {
    outboxes.remove(outbox);
    if (account != null) {
      accounts.computeIfPresent(
          account.user,
          (name, known) -> {
            known.outboxes.remove(outbox);
            return known.outboxes.isEmpty() ? null : known;
          });
    }
  }

  void add(@Nullable Account account, long bytes) {
    total.addAndGet(bytes);
    if (account != null) {
      account.bytes.addAndGet(bytes);
    }
  }

  /** Drops connections until all is within the limits; the caller holds no outbox's lock. */
  void enforce(@Nullable Account account) {
    while (account != null && account.bytes.get() > mostOfUser) {
      Set<Outbox> ofUser = new HashSet<>();
      accounts.computeIfPresent(
          account.user,
          (name, known) -> {
            ofUser.addAll(known.outboxes);
            return known;
          });
      if (!dropLongest(ofUser, "too much waits to be read by you")) {
        break;
      }
    }
    while (total.get() > mostInAll) {
      if (!dropLongest(outboxes, "the server is short of memory and you read too slowly")) {
        break;
      }
    }
  }

  /** Returns false if no connection has anything queued that can be dropped. */
  private static boolean dropLongest(Collection<Outbox> candidates, String reason) {
    Outbox longest = null;
    long most = 0;
    for (Outbox outbox : candidates) {
      long bytes = outbox.droppableBytes();
      if (bytes > most) {
        most = bytes;
        longest = outbox;
      }
    }
    if (longest == null) {
      return false;
    }
    longest.bye(reason + "; log in again for what is left");
    return true;
  }
}
