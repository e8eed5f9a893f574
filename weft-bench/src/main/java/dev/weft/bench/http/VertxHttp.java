package dev.weft.bench.http;

import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;

/** Vert.x: an instance for each event loop, which waits by its timer and asks by its client. */
final class VertxHttp extends AbstractVerticle {
  private final Deque<Backend> idle = new ArrayDeque<>();
  private final HttpWork work;
  private final HttpServerOptions options;
  private final int port;
  private NetClient client;

  private VertxHttp(HttpWork work, HttpServerOptions options, int port) {
    this.work = work;
    this.options = options;
    this.port = port;
  }

  static int start(Vertx vertx, int threads, HttpWork work, HttpServerOptions options)
      throws IOException, InterruptedException, ExecutionException {
    int port = freePort(); // which all instances ask for, and share
    for (int i = 0; i < threads; i++) {
      vertx
          .deployVerticle(
              new VertxHttp(work, options, port),
              new DeploymentOptions().setThreadingModel(ThreadingModel.EVENT_LOOP))
          .toCompletionStage()
          .toCompletableFuture()
          .get();
    }
    return port;
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  @Override
  public void start(Promise<Void> started) {
    client = vertx.createNetClient();
    HttpServer server = vertx.createHttpServer(options).requestHandler(this::handle);
    server
        .listen(port, InetAddress.getLoopbackAddress().getHostAddress())
        .onSuccess(listening -> started.complete())
        .onFailure(started::fail);
  }

  private void handle(HttpServerRequest request) {
    switch (work) {
      case PLAIN -> send(request);
      case SLEEP -> vertx.setTimer(HttpWork.SLEEP_MILLIS, id -> send(request));
      case ROUND_TRIP -> ask(() -> send(request));
    }
  }

  // ---- the other server ----

  /** A connection to the {@link HttpBackend}, used by this instance's event loop alone. */
  private final class Backend {
    private final NetSocket socket;
    private Runnable whenAnswered = () -> {};
    private int missing;

    Backend(NetSocket socket) {
      this.socket = socket;
      socket.handler(this::received);
    }

    void send(Runnable next) {
      whenAnswered = next;
      missing = HttpWork.BYTES.length;
      var _ = socket.write(Buffer.buffer(HttpWork.BYTES));
    }

    private void received(Buffer some) {
      missing -= some.length();
      if (missing == 0) {
        idle.addLast(this);
        whenAnswered.run();
      }
    }
  }

  private void ask(Runnable whenAnswered) {
    Backend free = idle.pollLast();
    if (free != null) {
      free.send(whenAnswered);
      return;
    }
    var _ =
        client
            .connect(
                Integer.getInteger(HttpWork.BACKEND),
                InetAddress.getLoopbackAddress().getHostAddress())
            .onSuccess(socket -> new Backend(socket).send(whenAnswered));
  }

  // ---- the response ----

  private static void send(HttpServerRequest request) {
    var _ = request.response().putHeader("Content-Type", "text/plain").end(HttpWork.TEXT);
  }
}
