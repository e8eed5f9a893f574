package dev.weft.bench.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.weft.Scheduler;
import dev.weft.http.WeftHttpServerProvider;
import io.helidon.webserver.WebServer;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * The web servers there are, each as its documentation advises: handlers that wait do so on virtual
 * threads where a server knows them, and by timers and callbacks where it has event loops.
 */
enum HttpPeer {
  /** Weft's, behind the JDK's API. */
  WEFT {
    @Override
    int start(int threads, HttpWork work) throws IOException {
      HttpServer server = new WeftHttpServerProvider().createHttpServer(anyPort(), BACKLOG);
      server.createContext("/", exchange -> handle(exchange, work));
      Scheduler.builder().name("http").threads(threads).build().start().go(() -> server.start());
      return server.getAddress().getPort();
    }
  },
  /** The JDK's, with a virtual thread for each request. */
  JDK {
    @Override
    int start(int threads, HttpWork work) throws IOException {
      System.setProperty(
          "com.sun.net.httpserver.HttpServerProvider",
          "sun.net.httpserver.DefaultHttpServerProvider");
      System.setProperty("sun.net.httpserver.maxIdleConnections", "100000"); // as Weft's, not 200
      System.setProperty("sun.net.httpserver.nodelay", "true");
      HttpServer server = HttpServer.create(anyPort(), BACKLOG);
      server.createContext("/", exchange -> handle(exchange, work));
      server.setExecutor(virtualThreads());
      server.start();
      return server.getAddress().getPort();
    }
  },
  /** Netty's codec on native epoll. */
  NETTY {
    @Override
    int start(int threads, HttpWork work) {
      return NettyHttp.start(threads, work);
    }
  },
  /** Undertow: I/O threads, and virtual threads for handlers that wait. */
  UNDERTOW {
    @Override
    int start(int threads, HttpWork work) {
      Executor waiting = virtualThreads();
      HttpHandler handler =
          exchange -> {
            if (work == HttpWork.PLAIN) {
              send(exchange);
            } else {
              exchange.dispatch(
                  waiting,
                  () -> {
                    work.run();
                    send(exchange);
                  });
            }
          };
      Undertow server =
          Undertow.builder()
              .addHttpListener(0, InetAddress.getLoopbackAddress().getHostAddress())
              .setIoThreads(threads)
              .setWorkerThreads(1)
              .setServerOption(UndertowOptions.ALWAYS_SET_KEEP_ALIVE, false)
              .setHandler(handler)
              .build();
      server.start();
      return ((InetSocketAddress) server.getListenerInfo().getFirst().getAddress()).getPort();
    }

    private void send(HttpServerExchange exchange) {
      exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain");
      exchange.getResponseSender().send(ByteBuffer.wrap(HttpWork.BYTES));
    }
  },
  /** Helidon 4: a virtual thread for each connection. */
  HELIDON {
    @Override
    int start(int threads, HttpWork work) {
      return WebServer.builder()
          .host(InetAddress.getLoopbackAddress().getHostAddress())
          .port(0)
          .backlog(BACKLOG)
          .routing(
              routes ->
                  routes.any(
                      (request, response) -> {
                        work.run();
                        response.header("Content-Type", "text/plain");
                        response.send(HttpWork.BYTES);
                      }))
          .build()
          .start()
          .port();
    }
  },
  /** Jetty 12 with virtual threads. */
  JETTY {
    @Override
    int start(int threads, HttpWork work) throws Exception {
      QueuedThreadPool pool = new QueuedThreadPool(threads + 8);
      pool.setVirtualThreadsExecutor(virtualThreads());
      Server server = new Server(pool);
      HttpConfiguration configuration = new HttpConfiguration();
      configuration.setSendServerVersion(false);
      ServerConnector connector =
          new ServerConnector(server, 1, threads, new HttpConnectionFactory(configuration));
      connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
      connector.setAcceptQueueSize(BACKLOG);
      server.addConnector(connector);
      server.setHandler(
          new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
              work.run();
              response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/plain");
              Content.Sink.write(response, true, HttpWork.TEXT, callback);
              return true;
            }
          });
      server.start();
      return connector.getLocalPort();
    }
  },
  /** Vert.x 5 on its event loops, with its own timer and client. */
  VERTX {
    @Override
    int start(int threads, HttpWork work)
        throws IOException, InterruptedException, ExecutionException {
      Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
      return VertxHttp.start(
          vertx, threads, work, new HttpServerOptions().setAcceptBacklog(BACKLOG));
    }
  };

  static final int BACKLOG = 4096;

  /** Begins to serve at a free port of the loopback address, which it returns. */
  abstract int start(int threads, HttpWork work) throws Exception;

  static Executor virtualThreads() {
    return Executors.newVirtualThreadPerTaskExecutor();
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private static void handle(HttpExchange exchange, HttpWork work) throws IOException {
    work.run();
    exchange.getResponseHeaders().set("Content-Type", "text/plain");
    exchange.sendResponseHeaders(200, HttpWork.BYTES.length);
    exchange.getResponseBody().write(HttpWork.BYTES);
    exchange.close();
  }
}
