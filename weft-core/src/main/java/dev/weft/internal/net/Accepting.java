package dev.weft.internal.net;

import dev.weft.internal.Nanos;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.SchedulerCore;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Accepting connections. If the process is out of descriptors the connection stays in line, and the
 * system will not tell of it again: that is reported, once, and tried again after a while.
 */
public final class Accepting {
  private static final Logger LOGGER = System.getLogger("dev.weft");

  static {
    // loaded now: when descriptors are out a class file may not be opened
    NetErrors.load();
    Connecting.load();
    LOGGER.isLoggable(Level.WARNING);
  }

  private final NetSocket socket;

  // true from a report until a connection was accepted
  private boolean exhausted;

  /** Creates an acceptor; one thread at a time may use it. */
  public Accepting(NetSocket socket) {
    this.socket = socket;
  }

  /** Waits for the next connection. */
  public NetSocket next(@Nullable Duration limit) throws IOException {
    Duration pause = Duration.ofMillis(1);
    long start = SchedulerCore.timeHere();
    while (true) {
      try {
        NetSocket accepted = socket.accept();
        if (accepted != null) {
          exhausted = false;
          return accepted;
        }
        socket.await(Poller.READ, limit, "accept at");
      } catch (NetErrors.Exhausted e) {
        if (!exhausted) {
          exhausted = true;
          report(
              e.getMessage() + "; it goes on when some are free, or raise the limit (ulimit -n)");
        }
        if (limit != null && SchedulerCore.timeHere() - start > Nanos.of(limit)) {
          throw timeout(limit, e);
        }
        Connecting.pause(socket, pause, "accept at");
        pause = Connecting.longer(pause);
      }
    }
  }

  /** A log that has not been used yet may need descriptors itself, to read its time zones. */
  private static void report(String message) {
    try {
      LOGGER.log(Level.WARNING, message);
    } catch (Throwable e) {
      System.err.println("WARNING: " + message);
    }
  }

  private SocketTimeoutException timeout(Duration limit, IOException cause) {
    SocketTimeoutException e =
        new SocketTimeoutException("cannot accept at " + socket + " within " + limit);
    e.initCause(cause);
    return e;
  }
}
