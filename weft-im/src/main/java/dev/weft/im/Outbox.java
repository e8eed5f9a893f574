package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.im.Wire.Unfinished;
import dev.weft.time.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The lines on their way to one client: a queue that is bounded in bytes, and a fiber that writes
 * it. The fiber exists only while there is something to write: an idle connection has none.
 *
 * <p>The session itself {@linkplain #send sends}, and waits while too much is queued: a client that
 * does not read is not read from. The hub and the feed {@linkplain #offer offer}, and never wait:
 * if there is no room the client is too slow, and the connection ends with BYE.
 *
 * <p>The file is long because the senders, the writer and the end share one lock and the invariants
 * below: a part of it could not be read alone.
 */
final class Outbox {
  /*
   * The writer:  NONE -> WRITING    // something was queued, and a fiber was started
   *              WRITING -> NONE    // the queue is empty, or the connection ended
   *
   * Invariants:
   *  - Only the writer writes to the wire while there is one, only the session when it has drained.
   *  - What is queued is written in order. The lines of one item are written one after another.
   *  - A message counts as delivered when its line was written, if the client had not ended its
   *    side when that write began: see endedByClient().
   *  - held != null: what is offered with an id waits there until the session has sent what comes
   *    before it. Ids are offered in increasing order, so they are written so.
   *  - farewell != null => nothing is queued; BYE is written, and the wire is closed after GRACE
   *    at the latest.
   *  - The budget has counted answerBytes + offeredBytes + heldBytes + the portion under way.
   */

  /** How long a client may take to read what it still gets at the end. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /** About so many characters are written at once. */
  private static final int PORTION = 16 * 1024;

  /** The session waits while more than this, of its own lines, is queued. */
  private static final long WINDOW = 64 * 1024;

  private static final FiberOptions WRITER = FiberOptions.named("im-writer");

  /** Says that the connection takes no more lines. */
  static final class Ended extends Exception {
    private static final long serialVersionUID = 1;

    Ended() {
      super("the connection has ended", null, false, false);
    }
  }

  /** Lines that stay together, with the id of the message, or 0. */
  private record Item(List<String> lines, long id, boolean offered, long cost) {
    static Item of(List<String> lines, long id, boolean offered) {
      return new Item(lines, id, offered, lines.stream().mapToLong(LineBudget::costOf).sum());
    }
  }

  private final Wire wire;
  private final Scheduler scheduler;
  private final LineBudget budget;
  private final LongConsumer delivered;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final Deque<Item> queue = new ArrayDeque<>(2);

  @GuardedBy("lock")
  private int linesTaken; // of the first item

  @GuardedBy("lock")
  private long answerBytes;

  @GuardedBy("lock")
  private long offeredBytes;

  @GuardedBy("lock")
  private @Nullable List<Item> held;

  @GuardedBy("lock")
  private long heldBytes;

  @GuardedBy("lock")
  private boolean writing;

  @GuardedBy("lock")
  private boolean closed; // takes no more lines

  @GuardedBy("lock")
  private boolean pingDue;

  @GuardedBy("lock")
  private boolean clientEnded;

  @GuardedBy("lock")
  private @Nullable Timer patience;

  // set once, under lock; null until the client has logged in
  private volatile LineBudget.@Nullable Account account;

  private volatile @Nullable String farewell;
  private volatile boolean broken;

  // when the write under way began, in nanoseconds; 0 if there is none
  private volatile long writingSince;

  /**
   * Creates an empty outbox.
   *
   * @param delivered called with the id of each message that was written, or a later one
   */
  Outbox(Wire wire, Scheduler scheduler, LineBudget budget, LongConsumer delivered) {
    this.wire = wire;
    this.scheduler = scheduler;
    this.budget = budget;
    this.delivered = delivered;
    budget.opened(this);
  }

  // ---- from the session ----

  /** Counts what is queued from now on as a user's; returns the user's account. */
  LineBudget.Account loggedIn(String user) {
    LineBudget.Account mine = budget.loggedIn(this, user);
    lock.lock();
    try {
      long queued = queuedBytes();
      budget.add(null, -queued);
      budget.add(mine, queued);
      account = mine;
      return mine;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends lines, nothing in between; waits for room.
   *
   * @throws Ended if the connection ends
   */
  void send(List<String> lines, long id) throws InterruptedException, Ended {
    Item item = Item.of(lines, id, false);
    lock.lockInterruptibly();
    try {
      awaitRoomLocked();
      enqueue(item);
    } finally {
      lock.unlock();
    }
    budget.enforce(account);
  }

  /** Waits until the client has read most of its answers: only then is the next one computed. */
  void awaitRoom() throws InterruptedException, Ended {
    lock.lockInterruptibly();
    try {
      awaitRoomLocked();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void awaitRoomLocked() throws InterruptedException, Ended {
    while (!isOver() && answerBytes > WINDOW) {
      changed.await();
    }
    if (isOver()) {
      throw new Ended();
    }
  }

  /** Holds what will be offered, until {@link #release}. */
  void hold() {
    lock.lock();
    try {
      held = new ArrayList<>();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends the held lines, after all earlier lines are written, and stops holding. Without the wait
   * the messages that the client has missed could fill the queue, and the client would seem slow.
   */
  void release() throws InterruptedException, Ended {
    lock.lockInterruptibly();
    try {
      while (true) {
        while (!isOver() && (writing || !queue.isEmpty())) {
          changed.await();
        }
        if (isOver()) {
          throw new Ended();
        }
        List<Item> batch = held == null ? List.of() : held;
        boolean isLast = heldBytes <= budget.mostOfConnection() / 2;
        held = isLast ? null : new ArrayList<>();
        budget.add(account, -heldBytes);
        heldBytes = 0;
        batch.forEach(this::enqueue);
        if (isLast) {
          return;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes no more lines, and waits until those in the queue are written, or never will be. */
  void drain() throws InterruptedException {
    Timer limit = null;
    lock.lockInterruptibly();
    try {
      closed = true;
      changed.signalAll();
      if (writing) {
        limit = scheduler.timers().after(GRACE, wire::close);
      }
      while (writing) {
        changed.await();
      }
    } finally {
      lock.unlock();
      if (limit != null) {
        limit.cancel();
      }
    }
  }

  /**
   * Notes that the client has ended its side. It may still read what it has asked for; but more
   * likely it does not, so writes that begin from now on deliver nothing. A write that began before
   * counts, however long it takes: the client may have read all of it before it ended.
   */
  void endedByClient() {
    lock.lock();
    try {
      clientEnded = true;
    } finally {
      lock.unlock();
    }
  }

  /** Writes a last line, after {@link #drain}. */
  void writeLast(String line) {
    if (!broken && farewell == null) {
      try {
        wire.write(List.of(line));
      } catch (Unfinished e) {
        broken = true;
      }
    }
  }

  /** Gives back what it has counted; nothing is queued after {@link #drain}. */
  void end() {
    lock.lock();
    try {
      closed = true;
      dropQueue();
      budget.ended(this, account);
    } finally {
      lock.unlock();
    }
  }

  // ---- from others ----

  /** Queues a line for a message or, with id 0, an event; never waits. */
  void offer(String line, long id) {
    boolean hasRoom = true;
    lock.lock();
    try {
      if (isOver()) {
        return; // what is not written comes at the next login
      }
      Item item = Item.of(List.of(line), id, true);
      if (held != null && id > 0) {
        hasRoom = heldBytes + item.cost() <= budget.mostOfConnection();
        held.add(item);
        heldBytes += item.cost();
        budget.add(account, item.cost());
      } else {
        hasRoom = offeredBytes + item.cost() <= budget.mostOfConnection();
        enqueue(item);
      }
    } finally {
      lock.unlock();
    }
    if (!hasRoom) {
      bye("you read too slowly; log in again for what is left");
    }
    budget.enforce(account);
  }

  /** Has the wire ping the client, unless it is written to anyway; never waits. */
  void ping() {
    lock.lock();
    try {
      if (!isOver() && !writing) {
        pingDue = true;
        startWriter();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether it takes no more because BYE has been said. */
  boolean isEnding() {
    return farewell != null;
  }

  /** Returns the bytes that {@link #bye} would set free. */
  long droppableBytes() {
    lock.lock();
    try {
      return farewell == null ? answerBytes + offeredBytes + heldBytes : 0;
    } finally {
      lock.unlock();
    }
  }

  /** Returns since when the client has not taken what is being written; 0 if nothing is. */
  long writingSince() {
    return writingSince;
  }

  /** Ends the connection, with a reason; never waits. */
  void bye(String reason) {
    lock.lock();
    try {
      if (farewell == null && !broken) {
        farewell = reason;
        closed = true;
        dropQueue();
        patience = scheduler.timers().after(GRACE, wire::close);
        startWriter();
        changed.signalAll();
      }
    } catch (RejectedExecutionException e) {
      wire.close(); // the scheduler stops
    } finally {
      lock.unlock();
    }
  }

  // ---- under lock ----

  @GuardedBy("lock")
  private boolean isOver() {
    return closed || broken;
  }

  @GuardedBy("lock")
  private long queuedBytes() {
    return answerBytes + offeredBytes + heldBytes;
  }

  @GuardedBy("lock")
  private void enqueue(Item item) {
    queue.add(item);
    count(item, item.cost());
    budget.add(account, item.cost());
    startWriter();
  }

  @GuardedBy("lock")
  private void count(Item item, long bytes) {
    if (item.offered()) {
      offeredBytes += bytes;
    } else {
      answerBytes += bytes;
    }
  }

  @GuardedBy("lock")
  private void startWriter() {
    if (!writing) {
      writing = true;
      try {
        scheduler.go(WRITER, this::writeAll);
      } catch (RejectedExecutionException e) {
        writing = false;
        broken = true; // the scheduler stops
        changed.signalAll();
      }
    }
  }

  @GuardedBy("lock")
  private void dropQueue() {
    budget.add(account, -queuedBytes());
    queue.clear();
    held = null;
    linesTaken = 0;
    answerBytes = 0;
    offeredBytes = 0;
    heldBytes = 0;
  }

  // ---- the writer ----

  private void writeAll() {
    try {
      for (Portion next = next(); next != null; next = next()) {
        write(next);
      }
    } catch (Unfinished e) {
      broken = true;
    } finally {
      writingSince = 0;
      endWriter();
    }
  }

  /** Takes what is to be written next; null if that is nothing, and the writer has to end. */
  private @Nullable Portion next() {
    lock.lock();
    try {
      if (farewell != null || (queue.isEmpty() && !pingDue)) {
        return null;
      }
      boolean ping = pingDue;
      pingDue = false;
      List<String> lines = new ArrayList<>();
      List<Portion.MessageEnd> messages = new ArrayList<>();
      long cost = 0;
      for (int size = 0; size < PORTION && !queue.isEmpty(); ) {
        Item first = queue.peek();
        long costOfItem = 0;
        while (size < PORTION && linesTaken < first.lines().size()) {
          String line = first.lines().get(linesTaken++);
          lines.add(line);
          size += line.length();
          costOfItem += LineBudget.costOf(line);
        }
        count(first, -costOfItem);
        cost += costOfItem;
        if (linesTaken == first.lines().size()) {
          if (first.id() > 0) {
            messages.add(new Portion.MessageEnd(lines.size(), first.id()));
          }
          queue.remove();
          linesTaken = 0;
        }
      }
      changed.signalAll();
      return new Portion(lines, messages, account, cost, !clientEnded, ping);
    } finally {
      lock.unlock();
    }
  }

  private void write(Portion portion) throws Unfinished {
    writingSince = System.nanoTime() | 1; // never 0
    try {
      if (portion.ping()) {
        wire.ping();
      }
      wire.write(portion.lines());
      noteDelivered(portion, portion.lines().size());
    } catch (Unfinished e) {
      noteDelivered(portion, e.lines());
      throw e;
    } finally {
      budget.add(portion.account(), -portion.cost());
    }
  }

  private void noteDelivered(Portion portion, int lines) {
    long last = portion.lastMessage(lines);
    if (last > 0) {
      delivered.accept(last);
    }
  }

  private void endWriter() {
    String reason = farewell;
    if (reason != null && !broken) {
      try {
        wire.write(List.of("BYE " + reason));
      } catch (Unfinished e) {
        broken = true;
      }
    }
    if (reason != null || broken) {
      wire.close(); // so the session, which reads, ends too
    }
    lock.lock();
    try {
      writing = false;
      if (broken) {
        closed = true;
        dropQueue();
      }
      if (patience != null) {
        patience.cancel();
      }
      changed.signalAll();
      boolean more = farewell == null && !broken && (!queue.isEmpty() || pingDue);
      if (more || (farewell != null && reason == null)) {
        startWriter(); // it came since the last look
      }
    } finally {
      lock.unlock();
    }
  }
}
