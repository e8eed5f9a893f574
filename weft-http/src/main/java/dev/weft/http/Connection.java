package dev.weft.http;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A connection and the fiber that serves it: one request after the other.
 *
 * <p>How long each step may take is not measured by timers but in ticks of the server's clock, some
 * a second: a step writes down its last tick, and the clock closes the connection when that has
 * passed. So a request costs no timer.
 *
 * <pre>
 *   waits for a request ──► head incomplete ──► handled ──► body drained ──┬──► waits again
 *      idleSeconds            headSeconds       request-,    DRAIN_SECONDS  └──► lingers, closed
 *      (first: firstSeconds)                    responseSeconds
 * </pre>
 */
final class Connection {
  private static final int NEVER = Integer.MAX_VALUE;

  /** How long the rest of a request may take that nobody needs, and the client's own close. */
  private static final int DRAIN_SECONDS = 5;

  /** How much of it is read before the connection is reset. */
  private static final long LINGER_BYTES = 16 << 20;

  private final Server server;
  private final Transport transport;
  private final Input input;
  private final Output output;

  // the tick at which the connection has to be closed; a stale read does no harm
  private volatile int expires = NEVER;

  // whether a request is being handled; its head has been read
  private volatile boolean busy;

  // ends the other protocol that the connection speaks, if it does, when the server stops
  private volatile @Nullable Runnable farewell;

  // the tick of the first byte of the request
  private int began;
  private boolean hasServed;

  // whether it ends before a request has begun, with nothing left unread
  private boolean endsAtRest;
  private volatile boolean aborted;

  Connection(Server server, Transport transport) {
    this.server = server;
    this.transport = transport;
    this.input = new Input(transport);
    this.output = new Output(transport);
  }

  // ---- the fiber ----

  /** Serves until either side has enough. */
  void serve() {
    try {
      if (transport instanceof TlsTransport encrypted) {
        expireAfter(server.limits().headSeconds());
        encrypted.handshake();
      }
      while (serveOne()) {
        hasServed = true;
      }
      if (!aborted && !endsAtRest) {
        busy = false;
        expireAfter(DRAIN_SECONDS);
        transport.linger(LINGER_BYTES);
      }
    } catch (IOException e) {
      Server.LOG.log(Level.DEBUG, "a connection is lost", e);
    } catch (InterruptedException e) {
      Server.LOG.log(Level.DEBUG, "a connection is given up", e);
    } finally {
      transport.close();
      server.ended(this);
    }
  }

  /** Serves the next request; returns false if there is none, or is to be none after it. */
  private boolean serveOne() throws IOException, InterruptedException {
    RequestHead head;
    try {
      head = awaitRequest();
    } catch (Rejected e) {
      reject(e);
      return false;
    }
    if (head == null) {
      return false;
    }
    Context context = server.contexts().find(head.path());
    Exchange exchange = new Exchange(this, head, context == null ? server.nothing() : context);
    if (head.bodyLength() == 0) {
      requestHasEnded();
    } else {
      expireAt(began, server.limits().requestSeconds());
    }
    if (context == null) {
      exchange.refuse(new Rejected(Status.NOT_FOUND, "there is nothing at " + head.path()));
    } else if (context.getHandler() == null) {
      exchange.refuse(new Rejected(Status.INTERNAL_ERROR, context + " has no handler"));
    } else {
      handle(exchange);
    }
    return exchange.awaitEnd() && server.keepsIdle();
  }

  /** Returns null if there is none. */
  private @Nullable RequestHead awaitRequest() throws IOException, Rejected {
    HttpLimits limits = server.limits();
    if (!RequestHead.hasBegun(input)) {
      expireAfter(hasServed ? limits.idleSeconds() : limits.firstSeconds());
      busy = false;
      do { // empty lines do not extend the time
        if (server.isStopping() || !input.more()) {
          endsAtRest = true;
          return null;
        }
      } while (!RequestHead.hasBegun(input));
    }
    began = server.now();
    RequestHead head = RequestHead.read(input, limits, this::awaitRestOfHead);
    busy = true;
    return head;
  }

  private void awaitRestOfHead() {
    busy = false;
    expireAt(began, server.limits().headSeconds());
  }

  /** Has an exchange handled, here or by the executor if one was set. */
  private void handle(Exchange exchange) {
    Executor executor = server.executor();
    if (executor == null) {
      handleHere(exchange);
      return;
    }
    try {
      executor.execute(() -> handleHere(exchange));
    } catch (RejectedExecutionException e) {
      Server.LOG.log(Level.WARNING, "the executor has refused " + exchange, e);
      exchange.fail(new Rejected(Status.UNAVAILABLE, "the server has too much to do"));
    }
  }

  private void handleHere(Exchange exchange) {
    HttpExchange shown = transport.session() == null ? exchange : new TlsExchange(exchange);
    try {
      exchange.context().handle(exchange, shown);
    } catch (Throwable e) {
      failed(exchange, e);
    }
    exchange.endUpgrade();
  }

  /** Told what a handler has thrown. A client's mistake in the body is no fault of the handler. */
  private void failed(Exchange exchange, Throwable e) {
    Rejected flaw = exchange.flawBehind(e);
    if (!exchange.hasEnded()) {
      if (flaw == null) {
        Server.LOG.log(Level.WARNING, "the handler of " + exchange + " has failed", e);
      } else {
        Server.LOG.log(Level.DEBUG, exchange + " is refused: " + flaw.getMessage());
      }
    }
    exchange.fail(
        flaw == null ? new Rejected(Status.INTERNAL_ERROR, "the server has failed") : flaw);
  }

  /** Answers a request with a head that is not understood, so that none can follow. */
  private void reject(Rejected why) throws IOException {
    Server.LOG.log(Level.DEBUG, "a request is refused: " + why.getMessage());
    byte[] text = why.text();
    output.write("HTTP/1.1 " + why.status() + " " + Status.reason(why.status()) + "\r\n");
    output.write("Date: " + HttpDate.now() + "\r\nConnection: close\r\n");
    output.write("Content-Type: " + Rejected.TEXT_TYPE + "\r\n");
    output.write("Content-Length: " + text.length + "\r\n\r\n");
    output.write(text, 0, why.isToHead() ? 0 : text.length);
    output.flush();
  }

  // ---- time ----

  private void expireAfter(int seconds) {
    expireAt(server.now(), seconds);
  }

  private void expireAt(int from, int seconds) {
    expires = seconds == HttpLimits.NONE ? NEVER : Server.tickAfter(from, seconds);
  }

  /** Told when the whole of a request has come: from now on it is the response that takes time. */
  void requestHasEnded() {
    expireAfter(server.limits().responseSeconds());
  }

  /** Told when the response has been sent and the rest of the request may still come. */
  void drainHasBegun() {
    expireAfter(DRAIN_SECONDS);
  }

  /**
   * Ends all limits of time: the connection now speaks another protocol, with limits of its own.
   */
  void setNoLimit() {
    expires = NEVER;
  }

  /** Returns the tick at which it has to be closed. */
  int expires() {
    return expires;
  }

  /** Closes the connection if the step under way has taken too long. */
  void closeIfExpired(int tick) {
    if (tick >= expires) {
      Server.LOG.log(Level.DEBUG, "a connection has taken too long");
      abort();
    }
  }

  // ---- for others ----

  /** Returns whether no request is to follow the one under way. */
  boolean isLast() {
    return !server.keepsIdle();
  }

  boolean isBusy() {
    return busy;
  }

  /** Told how the protocol that the connection speaks now is ended when the server stops. */
  void farewell(Runnable newFarewell) {
    farewell = newFarewell;
    if (server.isStopping()) {
      sayFarewell(); // or stop() may have looked before it was there
    }
  }

  /** Ends another protocol than HTTP, in a fiber of its own: the client may take its time. */
  void sayFarewell() {
    Runnable known = farewell;
    if (known != null) {
      server.go("http-farewell", known);
    }
  }

  /** Closes the connection at once, also in the middle of a request or a response. */
  void abort() {
    aborted = true;
    transport.abort();
  }

  Transport transport() {
    return transport;
  }

  Input input() {
    return input;
  }

  Output output() {
    return output;
  }

  HttpLimits limits() {
    return server.limits();
  }
}
