package dev.weft.internal.net;

import dev.weft.internal.Nanos;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.CurrentFiber;
import dev.weft.internal.sched.SchedulerCore;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Making a connection, or accepting one, where the system says "not now". */
public final class Connecting {
  /** How long to wait before trying again what only patience helps. */
  private static final Duration FIRST_PAUSE = Duration.ofMillis(1);

  private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

  private Connecting() {}

  /** Loads it. */
  static void load() {
    // the call does
  }

  /** Returns a connected socket. */
  public static NetSocket to(SocketAddress address, @Nullable Duration limit) throws IOException {
    NetSocket socket = NetSocket.openStream(address);
    boolean connected = false;
    try {
      long start = SchedulerCore.timeHere();
      if (!begin(socket, address, limit)) {
        do {
          socket.await(Poller.WRITE, left(limit, start), "connect to " + address + " by");
        } while (!socket.finishConnect(address));
      }
      connected = true;
      return socket;
    } catch (SocketTimeoutException e) {
      throw timeout(address, limit);
    } finally {
      if (!connected) {
        socket.close();
      }
    }
  }

  /** Begins to connect. A Unix socket with a full backlog fails at once: the caller waits here. */
  private static boolean begin(NetSocket socket, SocketAddress address, @Nullable Duration limit)
      throws IOException {
    long start = SchedulerCore.timeHere();
    for (Duration pause = FIRST_PAUSE; ; pause = longer(pause)) {
      try {
        return socket.connect(address);
      } catch (NetErrors.Exhausted e) {
        Duration left = left(limit, start);
        if (left != null && left.compareTo(pause) < 0) {
          throw timeout(address, limit);
        }
        pause(socket, pause, "connect to " + address + " by");
      }
    }
  }

  private static @Nullable Duration left(@Nullable Duration limit, long start) {
    if (limit == null) {
      return null;
    }
    long nanos = Nanos.of(limit) - (SchedulerCore.timeHere() - start);
    return Duration.ofNanos(Math.max(1, nanos));
  }

  private static SocketTimeoutException timeout(SocketAddress address, @Nullable Duration limit) {
    return new SocketTimeoutException("cannot connect to " + address + " within " + limit);
  }

  /** Waits before the next try; returns nothing, throws if interrupted. */
  static void pause(NetSocket socket, Duration pause, String doing) throws IOException {
    try {
      CurrentFiber.sleep(pause);
    } catch (InterruptedException e) {
      throw socket.interrupted(e, doing);
    }
    socket.checkOpen();
  }

  static Duration longer(Duration pause) {
    Duration doubled = pause.multipliedBy(2);
    return doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
  }
}
