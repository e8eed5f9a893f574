package dev.weft.im;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.Scheduler;
import dev.weft.im.Store.StoreException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An instant-messaging server: accounts, rooms, direct messages, presence, history, and delivery to
 * users that were away; over TCP and WebSocket.
 *
 * {@snippet class="dev.weft.im.ImServerTest" region="server"}
 *
 * <p>Each connection is a fiber, on the scheduler of the fiber that starts the server, else on the
 * {@linkplain Scheduler#shared shared} one. Without a database it keeps everything in memory. With
 * the same PostgreSQL and Redis, several servers are one: clients of any talk to those of all.
 */
public final class ImServer implements AutoCloseable {
  private final Builder config;

  // the endpoints are there if the node is
  @GuardedBy("this")
  private @Nullable Node node;

  @GuardedBy("this")
  private @Nullable LineEndpoint lines;

  @GuardedBy("this")
  private @Nullable WebEndpoint web;

  @GuardedBy("this")
  private boolean stopped;

  private ImServer(Builder config) {
    this.config = config;
  }

  /** Returns a builder: free ports of the loopback interface, and a database in memory. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Opens the database and the ports; returns this. Redis need not be there yet.
   *
   * @throws IOException if a port cannot be had
   * @throws IllegalStateException if the database cannot be opened, or it has been started before
   */
  public synchronized ImServer start() throws IOException {
    if (node != null || stopped) {
      throw new IllegalStateException(
          "cannot start a server that has been %s; build a new one"
              .formatted(stopped ? "stopped" : "started"));
    }
    Scheduler scheduler = Scheduler.current().orElseGet(Scheduler::shared);
    Limits limits = config.limits.apply(Limits.ofHeap(config.tls != null));
    Node starting = new Node(openStore(), scheduler, config.redis, config.beat, limits);
    try {
      lines =
          new LineEndpoint(
              starting, new InetSocketAddress(config.host, config.linePort), config.tls);
      web =
          new WebEndpoint(
              starting,
              new InetSocketAddress(config.host, config.webPort),
              config.tls,
              new WebEndpoint.Trust(config.origins, config.behindProxy),
              limits.connections());
    } catch (IOException | RuntimeException e) {
      if (lines != null) {
        lines.close();
        lines = null;
      }
      starting.close();
      throw e;
    }
    node = starting;
    lines.start();
    web.start();
    return this;
  }

  private Store openStore() {
    String url = config.database;
    if (url == null) {
      url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    }
    try {
      return SqlStore.open(url, config.forces);
    } catch (StoreException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /** Returns where clients connect by TCP. */
  public synchronized InetSocketAddress lineAddress() {
    return started(lines).address();
  }

  /** Returns where browsers connect: the page is at {@code /}, the WebSocket at {@code /chat}. */
  public synchronized InetSocketAddress webAddress() {
    return started(web).address();
  }

  /** Returns what is behind the ports. */
  synchronized Node node() {
    return started(node);
  }

  private static <T> T started(@Nullable T endpoint) {
    if (endpoint == null) {
      throw new IllegalStateException("the server has no address yet: call start first");
    }
    return endpoint;
  }

  /** Stops: says BYE to all, stores what was delivered, and closes the database. */
  public synchronized void stop() {
    if (node != null && !stopped) {
      started(lines).close();
      node.close();
      started(web).close();
    }
    stopped = true;
  }

  /** Stops: see {@link #stop}. */
  @Override
  public void close() {
    stop();
  }

  /** How a server is to be. */
  public static final class Builder {
    private String host = "127.0.0.1";
    private int linePort;
    private int webPort;
    private @Nullable String database;
    private boolean forces = true;
    private @Nullable String redis;
    private Duration beat = Duration.ofSeconds(5);
    private UnaryOperator<Limits> limits = UnaryOperator.identity();
    private @Nullable Tls tls;
    private boolean behindProxy;
    private List<String> origins = List.of();

    private Builder() {}

    private Builder(Builder original) {
      host = original.host;
      linePort = original.linePort;
      webPort = original.webPort;
      database = original.database;
      forces = original.forces;
      redis = original.redis;
      beat = original.beat;
      limits = original.limits;
      tls = original.tls;
      behindProxy = original.behindProxy;
      origins = original.origins;
    }

    /** Sets the port for TCP; 0 takes a free one. */
    public Builder linePort(int port) {
      linePort = checked(port);
      return this;
    }

    /** Sets the port for the page and its WebSocket; 0 takes a free one. */
    public Builder webPort(int port) {
      webPort = checked(port);
      return this;
    }

    private static int checked(int port) {
      if (port < 0 || port > 65_535) {
        throw new IllegalArgumentException("port must be between 0 and 65535, not " + port);
      }
      return port;
    }

    /** Sets the name or address of the interface to listen at; 127.0.0.1 unless told otherwise. */
    public Builder bind(String newHost) {
      host = Objects.requireNonNull(newHost, "host");
      return this;
    }

    /** Sets the database: a JDBC URL of H2 or PostgreSQL. */
    public Builder database(String jdbcUrl) {
      if (!jdbcUrl.startsWith("jdbc:h2:") && !jdbcUrl.startsWith("jdbc:postgresql:")) {
        throw new IllegalArgumentException(
            "a database must begin with jdbc:h2: or jdbc:postgresql:, not " + jdbcUrl);
      }
      database = jdbcUrl;
      return this;
    }

    /**
     * Sets whether H2 forces each change of its file to the disk before the change is acknowledged;
     * true unless told otherwise. Without that a power failure may lose what was acknowledged, or
     * leave a file that H2 cannot open; the kill of the process loses nothing in either case.
     * PostgreSQL has settings of its own.
     */
    public Builder force(boolean isForced) {
      forces = isForced;
      return this;
    }

    /** Sets the Redis that the servers of one database share, as {@code redis://host:port}. */
    public Builder redis(String url) {
      if (!url.startsWith("redis://") && !url.startsWith("rediss://")) {
        throw new IllegalArgumentException("Redis must be redis://host:port, not " + url);
      }
      redis = url;
      return this;
    }

    /** Sets how often servers tell each other that they are alive; after three they are not. */
    Builder beat(Duration period) {
      beat = period;
      return this;
    }

    /**
     * Sets how many connections there may be; as many as suit the heap unless told otherwise. A new
     * one takes the place of the oldest that has not logged in.
     */
    public Builder connections(int most) {
      if (most < 1) {
        throw new IllegalArgumentException("connections must be 1 or more, not " + most);
      }
      return limits(all -> all.withConnections(most));
    }

    /**
     * Has all connections encrypted: lines over TLS, the page over HTTPS.
     *
     * @param certificate a file with a chain of certificates in PEM, the server's own first
     * @param key a file with its private key, PKCS#8 in PEM
     * @throws IllegalArgumentException if they cannot be read, or do not belong together
     */
    public Builder tls(Path certificate, Path key) {
      tls = Tls.of(certificate, key);
      return this;
    }

    /**
     * Allows pages of other origins, as {@code https://chat.example.org}, to connect. The server's
     * own page always may.
     */
    public Builder origins(List<String> allowed) {
      origins = List.copyOf(allowed);
      return this;
    }

    /** Takes the client's address from the last X-Forwarded-For: the proxy in front sets it. */
    public Builder behindProxy(boolean trusted) {
      behindProxy = trusted;
      return this;
    }

    /** Sets what clients may take. */
    Builder limits(UnaryOperator<Limits> change) {
      UnaryOperator<Limits> before = limits;
      limits = all -> change.apply(before.apply(all));
      return this;
    }

    /** Returns a server that is like this, and not started. */
    public ImServer build() {
      return new ImServer(new Builder(this));
    }
  }
}
