package dev.weft.bench.im;

import dev.weft.Fiber;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.ConcurrentHistogram;
import org.jspecify.annotations.Nullable;

/**
 * One user of a load: hears what is said in its room, and says something when it is told to. When
 * its connection ends it comes back, as the page does.
 */
final class LoadClient {
  private static final Duration PAUSE = Duration.ofMillis(200);

  /** What all clients count together. */
  static final class Totals {
    final AtomicLong received = new AtomicLong();
    final AtomicLong doubled = new AtomicLong();
    final AtomicLong outOfOrder = new AtomicLong();
    final AtomicLong refused = new AtomicLong();
    final AtomicLong reconnects = new AtomicLong();
    volatile ConcurrentHistogram latency = histogram();

    static ConcurrentHistogram histogram() {
      return new ConcurrentHistogram(Duration.ofMinutes(5).toNanos(), 2);
    }
  }

  /** Where to connect: the nth time. */
  interface Connector {
    LineSocket connect(int attempt) throws IOException;
  }

  private final int number;
  private final String room;
  private final Connector connector;
  private final Totals totals;
  private final CountDownLatch ready = new CountDownLatch(1);
  private volatile @Nullable LineSocket current;

  // the same, once it is logged in
  private volatile @Nullable LineSocket socket;
  private volatile boolean over;

  // only this client's fiber
  private long[] ids = new long[16];
  private int count;
  private long[] stored = new long[16];
  private int storedCount;
  private boolean sameConnection;

  LoadClient(int number, String room, Connector connector, Totals totals) {
    this.number = number;
    this.room = room;
    this.connector = connector;
    this.totals = totals;
  }

  String room() {
    return room;
  }

  void awaitReady() throws InterruptedException {
    ready.await();
  }

  /** Says the time, which those that hear it take for the latency. */
  boolean say() {
    LineSocket open = socket;
    if (open == null) {
      return false;
    }
    try {
      open.send("SAY " + room + " " + System.nanoTime());
      return true;
    } catch (IOException e) {
      return false; // it is being connected again
    }
  }

  /** Confirms what it has heard, so that nothing else is left out after a crash of the server. */
  void confirm() {
    LineSocket open = socket;
    long last = count == 0 ? 0 : ids[count - 1];
    if (open != null && last > 0) {
      try {
        open.send("SEEN " + last);
      } catch (IOException e) {
        // later
      }
    }
  }

  void run() throws InterruptedException {
    for (int attempt = 0; !over; attempt++) {
      try (LineSocket open = connector.connect(attempt)) {
        current = open;
        open.send("SEEN 0");
        open.send("RESUME " + Population.token(number));
        sameConnection = false;
        while (!over) {
          take(open, open.receive());
        }
      } catch (IOException e) {
        if (!over) {
          totals.reconnects.incrementAndGet();
          Fiber.sleep(PAUSE);
        }
      } finally {
        socket = null;
      }
    }
  }

  private void take(LineSocket open, String line) throws IOException {
    if (line.startsWith("MSG ")) {
      long now = System.nanoTime();
      int end = line.indexOf(' ', 4);
      long id = Long.parseLong(line, 4, end, 10);
      long said = Long.parseLong(line, line.lastIndexOf(' ') + 1, line.length(), 10);
      hear(id, now - said);
    } else if (line.startsWith("OK SAY ")) {
      stored = with(stored, storedCount++, Long.parseLong(line, 7, line.length(), 10));
    } else if (line.startsWith("OK RESUME ")) {
      socket = open;
      ready.countDown();
    } else if (line.startsWith("ERR ")) {
      totals.refused.incrementAndGet();
    } else if (line.startsWith("BYE ")) {
      throw new IOException(line);
    }
  }

  private void hear(long id, long nanos) {
    if (count > 0 && id <= ids[count - 1]) {
      // after a crash what was not confirmed comes again, on a new connection
      (sameConnection ? totals.outOfOrder : totals.doubled).incrementAndGet();
      return;
    }
    sameConnection = true;
    ids = with(ids, count++, id);
    totals.received.incrementAndGet();
    totals.latency.recordValue(Math.max(1, nanos));
  }

  private static long[] with(long[] array, int index, long value) {
    long[] room = index < array.length ? array : Arrays.copyOf(array, 2 * array.length);
    room[index] = value;
    return room;
  }

  /** Ends it; what it has heard can be asked for when its fiber has ended. */
  void end() {
    over = true;
    LineSocket open = current;
    if (open != null) {
      open.close();
    }
  }

  long[] heard() {
    return Arrays.copyOf(ids, count);
  }

  /** Returns the ids of what it has said and the server has acknowledged. */
  long[] acknowledged() {
    return Arrays.copyOf(stored, storedCount);
  }
}
