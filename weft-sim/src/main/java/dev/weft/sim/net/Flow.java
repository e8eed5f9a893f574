package dev.weft.sim.net;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection: segments under way, then bytes to be read.
 *
 * <pre>
 *   write ──► underWay: due, in order ──► arrived ──► read
 *             a stall delays a segment and all after it; a partition holds them up
 * </pre>
 *
 * <p>Invariant: bytes under way and bytes arrived are together at most {@link #CAPACITY}; beyond
 * that the writer waits. Bytes that a crashed host has swallowed count as under way for ever.
 */
final class Flow {
  static final int CAPACITY = 64 * 1024;

  /** The most that a segment carries: what fits into a packet of Ethernet. */
  private static final int SEGMENT = 1460;

  /** For how long Linux tries to send again by default before it gives up (tcp_retries2). */
  private static final long GIVE_UP_NANOS = 924_600_000_000L;

  private enum Kind {
    DATA,
    END,
    RESET
  }

  private static final class Segment {
    final Kind kind;
    final byte[] bytes;
    long due;

    Segment(Kind kind, byte[] bytes, long due) {
      this.kind = kind;
      this.bytes = bytes;
      this.due = due;
    }
  }

  private static final byte[] NOTHING = {};

  private final NetworkWorld world;
  private final StreamSocket from;
  private final StreamSocket to;
  private final Path path;
  private final SplittableRandom random;
  private final ArrayDeque<Segment> underWay = new ArrayDeque<>();
  private final ArrayDeque<ByteBuffer> arrived = new ArrayDeque<>();
  private int bytesUnderWay;
  private int bytesArrived;
  private long lastDue;
  private boolean ended;
  private boolean held;
  private NetworkWorld.@Nullable Event giveUp;

  Flow(StreamSocket from, StreamSocket to, Path path, SplittableRandom random, long firstDue) {
    this.world = from.machines.world;
    this.from = from;
    this.to = to;
    this.path = path;
    this.random = random;
    this.lastDue = firstDue;
  }

  // ---- the writer ----

  int room() {
    return CAPACITY - bytesUnderWay - bytesArrived;
  }

  /** Sends as much as there is room for; returns how much. */
  int send(ByteBuffer source) {
    int count = Math.min(source.remaining(), room());
    for (int left = count; left > 0; ) {
      byte[] bytes = new byte[Math.min(left, SEGMENT)];
      source.get(bytes);
      left -= bytes.length;
      if (path.resets(random)) {
        if (random.nextBoolean()) {
          send(Kind.DATA, bytes); // the other end sees the bytes, then the reset
        }
        send(Kind.RESET, NOTHING);
        replyReset();
        source.position(source.position() + left); // these are lost
        return count;
      }
      send(Kind.DATA, bytes);
    }
    return count;
  }

  void sendEnd() {
    send(Kind.END, NOTHING);
  }

  void sendReset() {
    send(Kind.RESET, NOTHING);
  }

  /** Resets the other end, unless the path is silent about the crash of this one. */
  void sendCrash() {
    if (!path.isSilent(random)) {
      send(Kind.RESET, NOTHING);
    }
  }

  private void send(Kind kind, byte[] bytes) {
    long due = world.now() + path.delay(random) + path.stall(random);
    lastDue = Math.max(lastDue, due);
    bytesUnderWay += bytes.length;
    underWay.add(new Segment(kind, bytes, lastDue));
    world.at(lastDue, this::deliverDue);
  }

  // ---- under way ----

  private void deliverDue() {
    for (Segment next = underWay.peek(); next != null; next = underWay.peek()) {
      if (held || next.due > world.now()) {
        return;
      }
      if (path.isCut()) {
        held = true;
        startGivingUp();
        path.hold(this::goOn);
        return;
      }
      underWay.remove();
      deliver(next);
    }
  }

  /** The partition has healed: what it held up is sent again. */
  private void goOn() {
    held = false;
    if (giveUp != null) {
      giveUp.cancel();
      giveUp = null;
    }
    long due = world.now() + path.delay(random);
    for (Segment segment : underWay) {
      segment.due = Math.max(segment.due, due);
      world.at(segment.due, this::deliverDue);
    }
    lastDue = Math.max(lastDue, due);
  }

  private void deliver(Segment segment) {
    if (to.isGone()) {
      if (to.machine.isUp()) {
        replyReset(); // the host has restarted, and knows nothing of the connection
      } else {
        startGivingUp();
      }
      return;
    }
    bytesUnderWay -= segment.bytes.length;
    switch (segment.kind) {
      case DATA -> {
        if (to.isClosed()) {
          replyReset();
        } else if (!to.hasFailed()) {
          arrived.add(ByteBuffer.wrap(segment.bytes));
          bytesArrived += segment.bytes.length;
        }
      }
      case END -> ended = true;
      case RESET -> to.fail("Connection reset");
    }
    to.changed();
  }

  private void replyReset() {
    Transit.send(world, path, random, () -> from.fail("Connection reset"));
  }

  private void startGivingUp() {
    if (giveUp == null) {
      giveUp = world.at(world.now() + GIVE_UP_NANOS, () -> from.fail("Connection timed out"));
    }
  }

  // ---- the reader ----

  int available() {
    return bytesArrived;
  }

  boolean isEnded() {
    return ended;
  }

  /** Reads what has arrived; returns how much, which may be 0. */
  int read(ByteBuffer target) {
    int count = 0;
    for (ByteBuffer first = arrived.peek();
        first != null && target.hasRemaining();
        first = arrived.peek()) {
      int length = Math.min(first.remaining(), target.remaining());
      target.put(target.position(), first, first.position(), length);
      target.position(target.position() + length);
      first.position(first.position() + length);
      count += length;
      if (!first.hasRemaining()) {
        arrived.remove();
      }
    }
    bytesArrived -= count;
    if (count > 0) {
      from.changed(); // there is room again
    }
    return count;
  }
}
