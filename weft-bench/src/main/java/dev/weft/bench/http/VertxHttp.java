package dev.weft.bench.http;

import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;

/** Vert.x: an instance for each event loop; waits by its timer, blocks on virtual threads. */
final class VertxHttp extends AbstractVerticle {
  private static final Executor BLOCKING = HttpPeer.virtualThreads();

  private final HttpWork work;
  private final HttpServerOptions options;
  private final int port;

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
      case ROUND_TRIP ->
          BLOCKING.execute(
              () -> {
                work.run();
                context.runOnContext(nothing -> send(request));
              });
    }
  }

  private static void send(HttpServerRequest request) {
    var _ = request.response().putHeader("Content-Type", "text/plain").end(HttpWork.TEXT);
  }
}
