package dev.weft.im;

import dev.weft.im.Store.Page;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A page of what a user has missed: first the ids, of each room and of the direct messages by
 * itself, then the bodies of the oldest. A query over all of them would be shorter, but H2 reads
 * every row of it, with its body, before it applies a LIMIT: one login would fill the heap.
 */
final class MissedMessages {
  /** The ids of so many messages are read at once. */
  private static final int IDS = 200;

  /** The bodies of so many. */
  private static final int BODIES = 8;

  /** A room in which something was missed. */
  private record Room(String name, long since, long oldest) {}

  private final Connection connection;
  private final String is;
  private final String name;
  private final long after;
  private final long upTo;

  // the oldest so far, IDS at most
  private final TreeSet<Long> ids = new TreeSet<>();

  /**
   * Creates it.
   *
   * @param isH2 or else PostgreSQL: see {@link SqlStore#upTo}
   */
  MissedMessages(Connection connection, boolean isH2, String name, long after, long upTo) {
    this.connection = connection;
    this.is = SqlStore.upTo(isH2);
    this.name = name;
    this.after = after;
    this.upTo = upTo;
  }

  Page read() throws SQLException {
    addIds("recipient", name, after);
    add(
        "SELECT id FROM im_message WHERE sender = ? AND room IS NULL AND id > ? AND id <= ?"
            + " ORDER BY sender, room, id LIMIT ?",
        name,
        after,
        last(),
        (long) IDS);
    for (Room room : rooms()) {
      if (room.oldest() > last()) {
        break; // so are those of all rooms after it
      }
      addIds("room", room.name(), Math.max(after, room.since()));
    }
    return withBodies();
  }

  /** Returns the rooms with the oldest of the missed messages: those of others fit in no page. */
  private List<Room> rooms() throws SQLException {
    return Database.ask(
            connection,
            ("SELECT room, since, (SELECT id FROM im_message m WHERE m.room %s mine.room"
                    + " AND m.id > GREATEST(mine.since, ?)"
                    + " AND (m.room, m.id) > (mine.room, GREATEST(mine.since, ?)) AND m.id <= ?"
                    + " ORDER BY m.room, m.id LIMIT 1) AS oldest"
                    + " FROM im_member mine WHERE name = ? ORDER BY oldest NULLS LAST LIMIT ?")
                .formatted(is),
            row -> new Room(row.getString(1), row.getLong(2), row.getLong(3)),
            after,
            after,
            upTo,
            name,
            (long) IDS)
        .stream()
        .filter(room -> room.oldest() > 0) // NULL is 0
        .toList();
  }

  /** Adds the ids of the messages with a value in a column, by the index of both. */
  private void addIds(String column, String value, long from) throws SQLException {
    add(
        ("SELECT id FROM im_message WHERE %1$s %2$s ? AND id > ? AND (%1$s, id) > (?, ?)"
                + " AND id <= ? ORDER BY %1$s, id LIMIT ?")
            .formatted(column, is),
        value,
        from,
        value,
        from,
        last(),
        (long) IDS);
  }

  private void add(String question, @Nullable Object... values) throws SQLException {
    ids.addAll(Database.ask(connection, question, row -> row.getLong(1), values));
    while (ids.size() > IDS) {
      ids.pollLast();
    }
  }

  /** Returns the last id that may still be among the oldest. */
  private long last() {
    return ids.size() < IDS ? upTo : ids.last();
  }

  private Page withBodies() throws SQLException {
    List<Long> all = List.copyOf(ids);
    List<Message> messages = new ArrayList<>();
    long bytes = 0;
    while (messages.size() < all.size() && bytes < SqlStore.PAGE_BYTES) {
      Object[] some = new Object[BODIES];
      for (int i = 0; i < BODIES; i++) {
        some[i] = all.get(Math.min(messages.size() + i, all.size() - 1));
      }
      List<Message> read =
          Database.ask(
              connection,
              "SELECT %s FROM im_message m WHERE id IN (%s) ORDER BY id"
                  .formatted(SqlStore.MESSAGE, String.join(", ", Collections.nCopies(BODIES, "?"))),
              SqlStore::message,
              some);
      messages.addAll(read);
      bytes += read.stream().mapToLong(message -> LineBudget.costOf(message.text())).sum();
    }
    return new Page(messages, messages.size() < all.size() || all.size() == IDS);
  }
}
