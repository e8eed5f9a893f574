package dev.weft.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import dev.weft.time.Timer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What is behind a server, be it {@link PlainServer} or {@link TlsServer}: where it listens, its
 * contexts, its connections and its life.
 *
 * <pre>
 *   NEW ──► BOUND ──► STARTED ──► STOPPED      bind, start, stop
 *    │        │                      ▲
 *    └────────┴──────────────────────┘
 * </pre>
 *
 * <p>One fiber accepts; each connection has a fiber of its own, dealt round the threads of the
 * scheduler that {@link #start} was called on.
 */
final class Server {
  private static final int TICKS_A_SECOND = 4;
  private static final Duration TICK = Duration.ofSeconds(1).dividedBy(TICKS_A_SECOND);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(5);

  /** How long the acceptor pauses after a failure, as for want of file descriptors. */
  private static final Duration AFTER_FAILURE = Duration.ofMillis(100);

  /** So many make room for new ones at once: to find them costs a look at all. */
  private static final int DROPPED_AT_ONCE = 16;

  static final System.Logger LOG = System.getLogger("dev.weft.http");

  private final HttpServer facade;
  private final boolean encrypted;
  private final HttpLimits limits;
  private final Contexts contexts = new Contexts();

  // the context of requests that match no context of the program
  private final Context nothing;
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();

  // the size of connections; the set itself would count its elements at each call
  private final AtomicInteger open = new AtomicInteger();

  @GuardedBy("this")
  private @Nullable TcpListener listener;

  @GuardedBy("this")
  private @Nullable Fiber<Void> acceptor;

  // ticks while there are connections: a server without any costs nothing
  @GuardedBy("this")
  private @Nullable Timer clock;

  private volatile @Nullable Executor executor;
  private volatile @Nullable HttpsConfigurator configurator;
  private volatile @Nullable Scheduler scheduler;
  private volatile boolean started;
  private volatile boolean stopping;

  // only the clock writes it
  private volatile int tick;

  Server(HttpServer facade, boolean encrypted, HttpLimits limits) {
    this.facade = facade;
    this.encrypted = encrypted;
    this.limits = limits;
    this.nothing = new Context(facade, "/", null);
  }

  // ---- life ----

  synchronized void bind(InetSocketAddress address, int backlog) throws IOException {
    Objects.requireNonNull(address, "address");
    if (listener != null) {
      throw new BindException("the server is bound already, to " + address());
    }
    TcpListener.Builder builder = TcpListener.builder();
    if (backlog > 0) {
      builder.backlog(backlog);
    }
    listener = builder.bind(address);
  }

  synchronized @Nullable InetSocketAddress address() {
    TcpListener at = listener;
    try {
      return at == null || !at.isOpen() ? null : (InetSocketAddress) at.localAddress();
    } catch (IOException e) {
      return null; // closed meanwhile
    }
  }

  synchronized void start() {
    TcpListener at = listener;
    if (at == null) {
      throw new IllegalStateException("cannot start a server that is not bound: call bind first");
    }
    if (started || stopping) {
      throw new IllegalStateException(
          "cannot start a server that has been " + (stopping ? "stopped" : "started"));
    }
    Scheduler chosen = Scheduler.current().orElseGet(Scheduler::shared);
    scheduler = chosen;
    started = true;
    acceptor = chosen.go(FiberOptions.named("http-acceptor"), () -> acceptAll(chosen, at));
  }

  /**
   * Stops: takes no more requests, waits for those under way for so long, and closes all. With time
   * to wait, clients of WebSockets are told, which has them end: they would never by themselves.
   */
  void stop(int seconds) {
    if (seconds < 0) {
      throw new IllegalArgumentException("a delay must be 0 or more seconds, not " + seconds);
    }
    Fiber<Void> accepting;
    synchronized (this) {
      stopping = true;
      accepting = acceptor;
      acceptor = null;
      if (listener != null) {
        listener.close();
      }
    }
    try {
      connections.stream().filter(c -> !c.isBusy()).forEach(Connection::abort);
      if (seconds > 0) {
        connections.forEach(Connection::sayFarewell);
      }
      awaitIdle(System.nanoTime() + Duration.ofSeconds(seconds).toNanos());
      if (accepting != null) {
        accepting.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      connections.forEach(Connection::abort);
      stopClock();
    }
  }

  private void awaitIdle(long deadline) throws InterruptedException {
    while (connections.stream().anyMatch(Connection::isBusy) && System.nanoTime() < deadline) {
      Fiber.sleep(LOOK_AGAIN);
    }
  }

  // ---- connections ----

  private void acceptAll(Scheduler scheduler, TcpListener at) {
    FiberOptions options = FiberOptions.named("http-connection");
    boolean troubled = false;
    while (!stopping) {
      try {
        if (troubled) {
          Fiber.sleep(AFTER_FAILURE);
        }
        awaitRoom();
        TcpStream stream = at.accept();
        troubled = false;
        try {
          begin(scheduler, options, stream);
        } catch (IOException | RuntimeException e) {
          stream.close();
          LOG.log(Level.WARNING, "a connection cannot be served", e);
        }
      } catch (ClosedChannelException e) {
        return;
      } catch (InterruptedIOException | InterruptedException e) {
        at.close(); // the scheduler has cancelled this fiber, and takes no more work of the server
        return;
      } catch (IOException | RuntimeException e) {
        if (!troubled) {
          LOG.log(Level.WARNING, "cannot accept a connection, told once: " + e.getMessage(), e);
        }
        troubled = true; // goes on: the port has no other fiber that accepts
      }
    }
  }

  private void awaitRoom() throws InterruptedException {
    while (open.get() >= limits.connections() && !stopping) {
      if (limits.dropsIdle()) {
        idlest(connections).forEach(Connection::abort);
      }
      Fiber.sleep(LOOK_AGAIN);
    }
  }

  /** A connection, and its deadline when it was looked at. */
  private record Idle(Connection connection, int expires) {}

  /**
   * Returns some of the connections without a request, the earliest deadline first. Fibers move
   * deadlines meanwhile, and a sort of values that change may throw: so it sorts copies.
   */
  static List<Connection> idlest(Collection<Connection> all) {
    return all.stream()
        .filter(connection -> !connection.isBusy())
        .map(connection -> new Idle(connection, connection.expires()))
        .sorted(Comparator.comparingInt(Idle::expires))
        .limit(DROPPED_AT_ONCE)
        .map(Idle::connection)
        .toList();
  }

  private void begin(Scheduler scheduler, FiberOptions options, TcpStream stream)
      throws IOException {
    stream.option(StandardSocketOptions.TCP_NODELAY, true);
    Connection connection = new Connection(this, transportOf(stream));
    connections.add(connection);
    try {
      if (open.getAndIncrement() == 0) {
        startClock(scheduler);
      }
      scheduler.go(options, connection::serve);
    } catch (RejectedExecutionException e) {
      ended(connection);
      throw e;
    }
    if (stopping) {
      connection.abort(); // or stop() may have looked before it was there
    }
  }

  private Transport transportOf(TcpStream stream) throws IOException {
    if (!encrypted) {
      return new PlainTransport(stream);
    }
    HttpsConfigurator chosen = configurator;
    if (chosen == null) {
      throw new IOException("no certificate: call setHttpsConfigurator before start");
    }
    InetSocketAddress client = (InetSocketAddress) stream.remoteAddress();
    return new TlsTransport(stream, TlsParameters.engine(chosen, client));
  }

  /** Does something in a fiber of its own, or nothing if the scheduler has stopped. */
  void go(String name, Runnable action) {
    try {
      Objects.requireNonNull(scheduler).go(FiberOptions.named(name), action::run);
    } catch (RejectedExecutionException e) {
      // all connections end with it
    }
  }

  void ended(Connection connection) {
    if (connections.remove(connection)) {
      open.decrementAndGet();
    }
  }

  /** Returns whether a connection may stay that has nothing to do. */
  boolean keepsIdle() {
    return !stopping && open.get() <= limits.idleConnections();
  }

  boolean isStopping() {
    return stopping;
  }

  // ---- time ----

  private void tick() {
    int now = tick + 1;
    tick = now;
    connections.forEach(connection -> connection.closeIfExpired(now));
    if (open.get() == 0) {
      stopClockIfUnused();
    }
  }

  /** Called after the first connection has been counted: {@link #stopClockIfUnused} sees it. */
  private synchronized void startClock(Scheduler scheduler) {
    if (clock == null && !stopping) {
      clock = scheduler.timers().every(TICK, this::tick);
    }
  }

  private synchronized void stopClockIfUnused() {
    if (open.get() == 0) {
      stopClock();
    }
  }

  private synchronized void stopClock() {
    if (clock != null) {
      clock.cancel();
      clock = null;
    }
  }

  /** Returns the present tick of the clock. */
  int now() {
    return tick;
  }

  static int tickAfter(int from, int seconds) {
    return from + seconds * TICKS_A_SECOND + 1;
  }

  // ---- settings ----

  HttpLimits limits() {
    return limits;
  }

  Contexts contexts() {
    return contexts;
  }

  Context nothing() {
    return nothing;
  }

  Context createContext(String path, HttpHandler handler) {
    return add(new Context(facade, path, Objects.requireNonNull(handler, "handler")));
  }

  /** Creates a context that gets its handler later. */
  Context createContext(String path) {
    return add(new Context(facade, path, null));
  }

  private Context add(Context context) {
    contexts.add(context);
    return context;
  }

  void removeContext(String path) {
    contexts.remove(Objects.requireNonNull(path, "path"));
  }

  void removeContext(HttpContext context) {
    contexts.remove(Objects.requireNonNull(context, "context"));
  }

  @Nullable Executor executor() {
    return executor;
  }

  void executor(@Nullable Executor newExecutor) {
    checkNotStarted();
    executor = newExecutor;
  }

  @Nullable HttpsConfigurator configurator() {
    return configurator;
  }

  void configurator(HttpsConfigurator newConfigurator) {
    Objects.requireNonNull(newConfigurator, "configurator");
    checkNotStarted();
    configurator = newConfigurator;
  }

  private void checkNotStarted() {
    if (started) {
      throw new IllegalStateException("cannot be set any more: the server has been started");
    }
  }
}
