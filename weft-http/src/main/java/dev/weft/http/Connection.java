package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

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
 * a second: a step writes down when it is too late, and who looks then closes the connection. So a
 * request costs no timer.
 */
final class Connection {
  private static final int NEVER = Integer.MAX_VALUE;

  private final Server server;
  private final Transport transport;
  private final Input input;
  private final Output output;

  // the tick at which it has to be closed; a late look does no harm
  private volatile int expires = NEVER;

  // false while it waits for a request
  private volatile boolean busy = true;

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
      while (serveOne()) {}
    } catch (IOException e) {
      server.log(Level.DEBUG, "a connection is lost", e);
    } catch (InterruptedException e) {
      server.log(Level.DEBUG, "a connection is given up", e);
    } finally {
      transport.close();
      server.ended(this);
    }
  }

  /** Serves the next request; returns false if there is none, or is to be none after it. */
  private boolean serveOne() throws IOException, InterruptedException {
    RequestHead head;
    Exchange exchange;
    try {
      head = awaitRequest();
      if (head == null) {
        return false;
      }
      exchange = new Exchange(this, head, contextOf(head));
    } catch (Rejected e) {
      reject(e);
      return false;
    }
    if (head.bodyLength() == 0) {
      requestHasEnded();
    } else {
      expireAfter(server.limits().requestSeconds());
    }
    handle(exchange);
    return exchange.awaitEnd() && server.keepsIdle();
  }

  private @Nullable RequestHead awaitRequest() throws IOException, Rejected {
    HttpLimits limits = server.limits();
    if (input.isEmpty()) {
      expireAfter(limits.idleSeconds());
      busy = false;
      boolean came = !server.isStopping() && input.more();
      busy = true;
      if (!came) {
        return null;
      }
    }
    return RequestHead.read(input, limits, () -> expireAfter(limits.headSeconds()));
  }

  private Context contextOf(RequestHead head) throws Rejected {
    Context context = server.contexts().find(head.path());
    if (context == null) {
      throw new Rejected(Status.NOT_FOUND, "there is nothing at " + head.path());
    }
    if (context.getHandler() == null) {
      throw new Rejected(Status.INTERNAL_ERROR, context + " has no handler");
    }
    return context;
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
      server.log(Level.WARNING, "the executor has refused " + exchange, e);
      exchange.fail(Status.UNAVAILABLE);
    }
  }

  private void handleHere(Exchange exchange) {
    HttpExchange shown = transport.session() == null ? exchange : new TlsExchange(exchange);
    try {
      exchange.context().handle(exchange, shown);
    } catch (Throwable e) {
      if (!exchange.hasEnded()) {
        server.log(Level.WARNING, "the handler of " + exchange + " has failed", e);
      }
      exchange.fail(Status.INTERNAL_ERROR);
    }
    exchange.endUpgrade();
  }

  private void reject(Rejected why) throws IOException {
    byte[] text = (why.getMessage() + "\n").getBytes(ISO_8859_1);
    output.write("HTTP/1.1 " + why.status() + " " + Status.reason(why.status()) + "\r\n");
    output.write("Date: " + HttpDate.now() + "\r\nConnection: close\r\n");
    output.write("Content-Type: text/plain\r\nContent-Length: " + text.length + "\r\n\r\n");
    output.write(text, 0, text.length);
    output.flush();
  }

  // ---- time ----

  private void expireAfter(int seconds) {
    expires = seconds == HttpLimits.NONE ? NEVER : server.tickAfter(seconds);
  }

  /** Told when the whole of a request has come: from now on it is the response that takes time. */
  void requestHasEnded() {
    expireAfter(server.limits().responseSeconds());
  }

  /** For a connection that speaks another protocol. */
  void setNoLimit() {
    expires = NEVER;
  }

  /** Closes it if its time is over. */
  void closeIfExpired(int tick) {
    if (tick >= expires) {
      server.log(Level.DEBUG, "a connection has taken too long", null);
      transport.abort();
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

  /** Closes it at once, whatever it is at. */
  void abort() {
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
