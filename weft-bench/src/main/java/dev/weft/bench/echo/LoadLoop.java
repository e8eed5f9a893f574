package dev.weft.bench.echo;

import dev.weft.internal.poller.LinuxCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * One thread's share of the load on a server: connections that send messages of one size and wait
 * for their echo, or another reply. It is itself a bare loop over epoll: the less CPU time it
 * takes, the more the server has.
 *
 * <p>Closed: each connection sends its next message when it has the last one back, as fast as the
 * server can. Open: messages are due at random times of a given rate, also while the server pauses,
 * and the latency counts from when a message was due, so that a server that pauses is not spared
 * the messages that it kept waiting.
 *
 * <p>Used by one thread at a time; only {@link #answered} and {@link #stop} are for others.
 */
final class LoadLoop {
  /** How many connect at once: less than the shortest queue of a listener. */
  private static final int WAVE = 100;

  private static final int PATIENCE_MILLIS = 10_000;
  private static final long SEED = 42;
  private static final long NAP_NANOS = 20_000;

  private enum Mode {
    OPENING,
    CLOSED,
    OPEN
  }

  private final int port;
  private final int requestSize;
  private final int replySize;
  private final Epoll epoll = new Epoll();
  private final MemorySegment request;
  private final MemorySegment replyStart;
  private final MemorySegment buffer;
  private final MemorySegment state = LinuxCalls.newState();
  private final Histogram latencies = new Histogram(3);
  private final SplittableRandom random = new SplittableRandom(SEED);
  private Mode mode = Mode.OPENING;

  // of each connection: its descriptor, the bytes that it has yet to send and to get back, and when
  // the messages were due that are under way
  private int[] fds = {};
  private int[] toSend = {};
  private int[] toReceive = {};
  private Times[] due = {};

  private int underWay;
  private volatile long answered;
  private volatile boolean stopping;

  LoadLoop(int port, Talk talk) {
    this.port = port;
    this.requestSize = talk.request().length;
    this.replySize = talk.replySize();
    request = outsideHeap(talk.request());
    replyStart = outsideHeap(talk.replyStart());
    buffer = Arena.ofAuto().allocate(Math.max(4 * replySize, 64 * 1024));
  }

  private static MemorySegment outsideHeap(byte[] bytes) {
    return Arena.ofAuto().allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
  }

  /** Opens more connections, and checks the reply to one message on each. */
  void open(int count) {
    mode = Mode.OPENING;
    int from = fds.length;
    int to = from + count;
    fds = Arrays.copyOf(fds, to);
    toSend = Arrays.copyOf(toSend, to);
    toReceive = Arrays.copyOf(toReceive, to);
    due = Arrays.copyOf(due, to);
    for (int i = from; i < to; i++) {
      connect(i);
      if (underWay == WAVE || i == to - 1) {
        while (underWay > 0) {
          handleSome();
        }
      }
    }
  }

  private void connect(int connection) {
    int fd = Epoll.socket();
    Epoll.noDelay(fd);
    resetAtClose(fd);
    fds[connection] = fd;
    due[connection] = new Times();
    toSend[connection] = requestSize; // when it is connected, and so writable
    toReceive[connection] = replySize;
    underWay++;
    int result = LinuxCalls.connect(fd, Epoll.loopback(port));
    if (result != -LinuxCalls.EINPROGRESS) {
      Epoll.check("connect", result);
    }
    epoll.add(fd, connection);
  }

  /** Ten thousand connections in TIME_WAIT would take the ports of the next run. */
  private static void resetAtClose(int fd) {
    int[] linger = {1, 0};
    Epoll.check("setsockopt", LinuxCalls.setOption(fd, 1, 13, MemorySegment.ofArray(linger)));
  }

  /** Closes all connections. */
  void close() {
    for (int fd : fds) {
      LinuxCalls.close(fd);
    }
    fds = new int[0];
  }

  /** Loads the server in a closed loop, until another thread says {@link #stop}. */
  void closedLoop() {
    mode = Mode.CLOSED;
    for (int i = 0; i < fds.length; i++) {
      send(i);
    }
    while (underWay > 0) {
      handleSome();
    }
    stopping = false;
  }

  /** Ends the closed loop when all that is under way is back. */
  void stop() {
    stopping = true;
  }

  /** Returns how many messages have come back in closed loops; any thread may ask. */
  long answered() {
    return answered;
  }

  /** Loads the server in an open loop; returns the latencies in nanoseconds, until the next one. */
  Histogram openLoop(double perSecond, Duration time) {
    return openLoop(perSecond, time, Duration.ZERO, false, () -> {}).latencies();
  }

  /**
   * The answers to an open loop.
   *
   * @param latencies in nanoseconds, of all messages, until the next loop
   * @param inTime how many came before the last message was sent
   */
  record Answers(Histogram latencies, long inTime) {
    double percentile(double percentile) {
      return latencies.getValueAtPercentile(percentile);
    }

    /** Returns how many took longer than that. */
    long countAbove(long nanos) {
      return latencies.getMaxValue() <= nanos
          ? 0 // the histogram would count its last values, as it ends below
          : latencies.getCountBetweenValues(nanos, Long.MAX_VALUE);
    }
  }

  /**
   * Loads a server in an open loop that may be too much for it. Sleeps when there is nothing to do,
   * for some 70 µs, since the server needs the core.
   *
   * @param patience how long the server may take for what is under way at the end
   * @param relief makes the server quicker when that time is over
   */
  Answers openLoop(double perSecond, Duration time, Duration patience, Runnable relief) {
    return openLoop(perSecond, time, patience, true, relief);
  }

  private Answers openLoop(
      double perSecond, Duration time, Duration patience, boolean naps, Runnable relief) {
    mode = Mode.OPEN;
    latencies.reset();
    double meanGap = 1e9 / perSecond;
    long start = System.nanoTime();
    long end = time.toNanos();
    double next = 0;
    int turn = 0;
    long inTime = -1;
    boolean relieved = false;
    while (next < end || underWay > 0) {
      long now = System.nanoTime() - start;
      if (inTime < 0 && now >= end) {
        inTime = latencies.getTotalCount();
      }
      if (!relieved && now > end + patience.toNanos()) {
        relief.run();
        relieved = true;
      }
      while (next <= now && next < end) {
        due[turn].add(start + (long) next);
        send(turn);
        turn = turn + 1 == fds.length ? 0 : turn + 1;
        next -= meanGap * Math.log(1 - random.nextDouble());
      }
      if (now > end + patience.toNanos() + PATIENCE_MILLIS * 1_000_000L) {
        throw new IllegalStateException(underWay + " messages have not come back");
      }
      int found = epoll.look();
      handle(found);
      if (naps && found == 0) {
        LockSupport.parkNanos(NAP_NANOS);
      }
    }
    return new Answers(latencies, inTime < 0 ? latencies.getTotalCount() : inTime);
  }

  private void handleSome() {
    int found = epoll.await(PATIENCE_MILLIS);
    if (found == 0) {
      throw new IllegalStateException(
          underWay
              + " messages are under way, and nothing has happened for "
              + PATIENCE_MILLIS
              + " ms");
    }
    handle(found);
  }

  private void handle(int found) {
    for (int i = 0; i < found; i++) {
      int connection = epoll.number(i);
      int happened = epoll.happened(i);
      if (Epoll.isWritable(happened) && toSend[connection] > 0) {
        flush(connection);
      }
      if (Epoll.isReadable(happened)) {
        receive(connection);
      }
    }
  }

  private void send(int connection) {
    underWay++;
    toSend[connection] += requestSize;
    flush(connection);
  }

  private void flush(int connection) {
    while (toSend[connection] > 0) {
      int offset = (requestSize - toSend[connection] % requestSize) % requestSize;
      MemorySegment rest = offset == 0 ? request : request.asSlice(offset);
      long sent = LinuxCalls.send(fds[connection], rest, state);
      if (sent == -LinuxCalls.EAGAIN) {
        return;
      }
      toSend[connection] -= Epoll.check("send", sent);
    }
  }

  private void receive(int connection) {
    while (true) {
      long count = LinuxCalls.receive(fds[connection], buffer, state);
      if (count == -LinuxCalls.EAGAIN) {
        return;
      }
      if (Epoll.check("recv", count) == 0) {
        throw new IllegalStateException("the server has closed a connection");
      }
      if (mode == Mode.OPENING) {
        compare(count, replySize - toReceive[connection]);
      }
      int missing = toReceive[connection] - (int) count;
      while (missing <= 0) {
        missing += replySize;
        underWay--;
        answer(connection);
      }
      toReceive[connection] = missing;
      if (count < buffer.byteSize()) {
        return; // all was taken
      }
    }
  }

  private void compare(long count, int offset) {
    long known = Math.clamp(replyStart.byteSize() - offset, 0, count);
    int from = known == 0 ? 0 : offset;
    if (count > replySize - offset
        || MemorySegment.mismatch(buffer, 0, known, replyStart, from, from + known) >= 0) {
      throw new IllegalStateException("what came back is not what was to come");
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void answer(int connection) {
    switch (mode) {
      case OPENING -> {}
      case CLOSED -> {
        answered++;
        if (!stopping) {
          send(connection);
        }
      }
      case OPEN -> latencies.recordValue(System.nanoTime() - due[connection].remove());
    }
  }

  /** A queue of times. */
  private static final class Times {
    private long[] times = new long[4];
    private int head;
    private int count;

    void add(long time) {
      if (count == times.length) {
        long[] bigger = new long[2 * count];
        for (int i = 0; i < count; i++) {
          bigger[i] = times[(head + i) % count];
        }
        times = bigger;
        head = 0;
      }
      times[(head + count++) % times.length] = time;
    }

    long remove() {
      long time = times[head];
      head = (head + 1) % times.length;
      count--;
      return time;
    }
  }
}
