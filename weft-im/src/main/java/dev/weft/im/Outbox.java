package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.im.Wire.Unfinished;
import dev.weft.sync.Mutex;
import dev.weft.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The lines on their way to one client: a bounded queue, and a fiber that writes them.
 *
 * <p>The session itself {@linkplain #send sends}, and waits if the queue is full: a client that
 * does not read is not read from. Others {@linkplain #offer offer}, and never wait: if there is no
 * room the client is too slow, and the connection ends with BYE.
 */
final class Outbox {
  /*
   * Invariants:
   *  - Only the writer writes to the wire until it has ended, only the session afterwards.
   *  - What is queued is written in order, and in one piece; "delivered" is called after that.
   *  - held != null: what is offered with an id waits there until the session has sent what comes
   *    before it. Ids are offered in increasing order, so they are written so.
   *  - farewell != null => the queue is closed; what is left in it is not written, but BYE is, and
   *    the wire is closed after GRACE at the latest.
   */

  /** How long a client may take to read what it still gets at the end. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  private static final Duration WRITE_UNDER_WAY = Duration.ofMillis(100);

  /** About so many characters are written at once. */
  private static final int PORTION = 32 * 1024;

  /** Lines that stay together, with the id of the message, or 0, and who waits for their end. */
  private record Item(List<String> lines, long id, @Nullable CountDownLatch written) {
    void tellEnd() {
      if (written != null) {
        written.countDown();
      }
    }
  }

  private final Wire wire;
  private final Scheduler scheduler;
  private final int limit;
  private final LongConsumer delivered;

  // held while lines are written and noted as delivered
  private final Mutex writing = new Mutex();
  private final Channel<Item> queue;
  private final Fiber<Void> writer;

  // under this
  private @Nullable List<Item> held;
  private @Nullable Timer patience;
  private boolean writerEnded;

  private volatile @Nullable String farewell;
  private volatile boolean broken;

  /**
   * Begins to write.
   *
   * @param limit how many items may wait
   * @param delivered called with the id of each message that was written, or a later one
   */
  Outbox(Wire wire, Scheduler scheduler, int limit, LongConsumer delivered) {
    this.wire = wire;
    this.scheduler = scheduler;
    this.limit = limit;
    this.delivered = delivered;
    this.queue = Channel.buffered(limit);
    this.writer = scheduler.go(FiberOptions.named("im-writer"), this::writeAll);
  }

  // ---- from the session ----

  /**
   * Sends lines, nothing in between; waits for room.
   *
   * @throws ChannelClosedException if the connection ends
   */
  void send(List<String> lines, long id) throws InterruptedException {
    queue.send(new Item(lines, id, null));
  }

  /** Holds what will be offered, until {@link #release}. */
  synchronized void hold() {
    held = new ArrayList<>();
  }

  /**
   * Sends what was held, and holds no more. First it waits until all before is written: else what
   * the client has missed could fill the queue, and it would seem slow.
   */
  void release() throws InterruptedException {
    while (true) {
      CountDownLatch written = new CountDownLatch(1);
      queue.send(new Item(List.of(), 0, written));
      written.await();
      List<Item> batch;
      synchronized (this) {
        batch = held == null ? List.of() : held;
        if (batch.size() <= limit / 2) {
          held = null;
          batch.forEach(this::offer);
          return;
        }
        held = new ArrayList<>();
      }
      for (Item item : batch) {
        queue.send(item);
      }
    }
  }

  /** Takes no more lines, and waits until those in the queue are written, or never will be. */
  void drain() throws InterruptedException {
    queue.close();
    Timer limit = scheduler.timers().after(GRACE, wire::close);
    writer.join();
    limit.cancel();
  }

  /** Waits a moment until messages that are being written, if any, count as delivered. */
  void awaitWriteUnderWay() throws InterruptedException {
    if (writing.tryLock(WRITE_UNDER_WAY.toNanos(), TimeUnit.NANOSECONDS)) {
      writing.unlock();
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

  // ---- from others ----

  /** Queues a line for a message or, with id 0, an event; never waits. */
  void offer(String line, long id) {
    offer(new Item(List.of(line), id, null));
  }

  private synchronized void offer(Item item) {
    if (farewell != null || broken) {
      return;
    }
    boolean hasRoom;
    if (held != null && item.id() > 0) {
      hasRoom = held.size() < limit;
      held.add(item);
    } else {
      try {
        hasRoom = queue.trySend(item);
      } catch (ChannelClosedException e) {
        return; // it ends; what is not written comes at the next login
      }
    }
    if (!hasRoom) {
      bye("you read too slowly; log in again for what is left");
    }
  }

  /** Returns whether it takes no more, for BYE has been said. */
  boolean isEnding() {
    return farewell != null;
  }

  /** Ends the connection, with a reason; never waits. */
  synchronized void bye(String reason) {
    if (farewell == null) {
      farewell = reason;
      queue.close();
      if (!writerEnded) {
        patience = scheduler.timers().after(GRACE, wire::close);
      }
    }
  }

  // ---- the writer ----

  private void writeAll() throws InterruptedException {
    try {
      while (farewell == null) {
        writeSome(queue.receive());
      }
    } catch (ChannelClosedException e) {
      // all is written
    } catch (Unfinished e) {
      broken = true;
      queue.close();
    }
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
    endWriter();
    for (Item left = nextNow(); left != null; left = nextNow()) {
      left.tellEnd(); // it will not be written, and the queue is closed
    }
  }

  private synchronized void endWriter() {
    writerEnded = true;
    if (patience != null) {
      patience.cancel();
    }
  }

  /** Writes an item, and those that are behind it by now. */
  private void writeSome(Item first) throws Unfinished {
    List<Item> items = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    int size = 0;
    @Nullable Item next = first;
    while (next != null) {
      items.add(next);
      lines.addAll(next.lines());
      size += next.lines().stream().mapToInt(String::length).sum();
      next = size < PORTION && farewell == null ? nextNow() : null;
    }
    writing.lock();
    try {
      wire.write(lines);
      noteDelivered(items, lines.size());
    } catch (Unfinished e) {
      noteDelivered(items, e.lines());
      throw e;
    } finally {
      writing.unlock();
      items.forEach(Item::tellEnd);
    }
  }

  /** Tells which message was the last among so many lines. */
  private void noteDelivered(List<Item> items, int lines) {
    long last = 0;
    int end = 0;
    for (Item item : items) {
      end += item.lines().size();
      if (end <= lines) {
        last = Math.max(last, item.id());
      }
    }
    if (last > 0) {
      delivered.accept(last);
    }
  }

  private @Nullable Item nextNow() {
    try {
      Optional<Item> next = queue.tryReceive();
      return next.orElse(null);
    } catch (ChannelClosedException e) {
      return null;
    }
  }
}
