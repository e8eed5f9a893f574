package dev.weft.net;

import dev.weft.internal.net.Accepting;
import dev.weft.internal.net.Limits;
import dev.weft.internal.net.NetSocket;
import dev.weft.internal.net.Turns;
import dev.weft.sync.Mutex;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Waits for connections at an address, TCP or Unix-domain.
 *
 * {@snippet class="dev.weft.net.NetSnippetsTest" region="server"}
 *
 * <p>A connection belongs to the poller of the thread that first waits for it: give each its own
 * fiber by {@code go}, and they are dealt round the threads. If the process has no descriptor left
 * {@link #accept} logs that once, and goes on when there is one.
 */
public final class TcpListener implements AutoCloseable {
  private final NetSocket socket;
  private final Accepting accepting;
  private final Mutex turn = Mutex.fair();
  private volatile @Nullable Duration acceptTimeout;

  private TcpListener(NetSocket socket) {
    this.socket = socket;
    this.accepting = new Accepting(socket);
  }

  /**
   * Listens at an address; port 0 takes a free one. The address may be used again at once after a
   * close (SO_REUSEADDR).
   *
   * @throws java.net.BindException if it is in use, or not one of this machine's
   */
  public static TcpListener bind(SocketAddress address) throws IOException {
    return builder().bind(address);
  }

  /** Returns a builder, for options that must be set before it listens. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Waits for a connection. Several fibers may, and are served in turn.
   *
   * @throws java.net.SocketTimeoutException if there is none within the timeout
   * @throws java.nio.channels.AsynchronousCloseException if the listener is closed meanwhile
   */
  public TcpStream accept() throws IOException {
    NetSocket accepted;
    Turns.await(turn, socket, "accept at");
    try {
      accepted = accepting.next(acceptTimeout);
    } finally {
      turn.unlock();
    }
    socket.yieldAfterStreak();
    return new TcpStream(accepted);
  }

  /** Limits each wait for a connection; zero is none. */
  public void acceptTimeout(Duration limit) {
    acceptTimeout = Limits.of(limit);
  }

  /** Returns where it listens. */
  public SocketAddress localAddress() throws IOException {
    return socket.localAddress();
  }

  /** Returns the value of an option. */
  public <T> T option(SocketOption<T> option) throws IOException {
    return socket.option(option);
  }

  /** Returns whether it has not been closed. */
  public boolean isOpen() {
    return !socket.isClosed();
  }

  /** Closes it and wakes the fibers that wait in accept. Its connections stay open. */
  @Override
  public void close() {
    socket.close();
  }

  @Override
  public String toString() {
    return "TcpListener " + socket;
  }

  /** How a listener is to be. */
  public static final class Builder {
    private static final int DEFAULT_BACKLOG = 1024;

    private int backlog = DEFAULT_BACKLOG;
    private final Map<SocketOption<?>, Object> options = new LinkedHashMap<>();

    private Builder() {}

    /** Sets how many connections may stand in line; the system may allow fewer. */
    public Builder backlog(int length) {
      if (length < 1) {
        throw new IllegalArgumentException("backlog must be 1 or more, not " + length);
      }
      backlog = length;
      return this;
    }

    /**
     * Sets an option before it is bound; {@code SO_REUSEPORT} lets several listeners have the same
     * address, and the system deals connections among them.
     */
    public <T> Builder option(SocketOption<T> option, T value) {
      options.put(option, Objects.requireNonNull(value, "value"));
      return this;
    }

    /** Listens at an address. */
    public TcpListener bind(SocketAddress address) throws IOException {
      Objects.requireNonNull(address, "address");
      NetSocket socket = NetSocket.openListener(address);
      boolean bound = false;
      try {
        if (!(address instanceof UnixDomainSocketAddress)) {
          socket.option(StandardSocketOptions.SO_REUSEADDR, true);
        }
        for (Map.Entry<SocketOption<?>, Object> entry : options.entrySet()) {
          set(socket, entry.getKey(), entry.getValue());
        }
        socket.bind(address, backlog);
        bound = true;
        return new TcpListener(socket);
      } finally {
        if (!bound) {
          socket.close();
        }
      }
    }

    private static <T> void set(NetSocket socket, SocketOption<T> option, Object value)
        throws IOException {
      socket.option(option, option.type().cast(value));
    }
  }
}
