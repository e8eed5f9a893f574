package dev.weft.bench.http;

import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.net.InetAddress;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/** Vert.x: an instance for each event loop; waits by its timer, blocks on virtual threads. */
final class VertxHttp extends AbstractVerticle {
  private static final Executor BLOCKING = HttpPeer.virtualThreads();

  private final HttpWork work;
  private final HttpServerOptions options;
  private final AtomicInteger port;

  private VertxHttp(HttpWork work, HttpServerOptions options, AtomicInteger port) {
    this.work = work;
    this.options = options;
    this.port = port;
  }

  static int start(Vertx vertx, int threads, HttpWork work, HttpServerOptions options)
      throws InterruptedException, ExecutionException {
    AtomicInteger port = new AtomicInteger();
    for (int i = 0; i < threads; i++) { // the later ones share the port of the first
      vertx
          .deployVerticle(
              new VertxHttp(work, options, port),
              new DeploymentOptions().setThreadingModel(ThreadingModel.EVENT_LOOP))
          .toCompletionStage()
          .toCompletableFuture()
          .get();
    }
    return port.get();
  }

  @Override
  public void start(Promise<Void> started) {
    HttpServer server = vertx.createHttpServer(options).requestHandler(this::handle);
    server
        .listen(port.get(), InetAddress.getLoopbackAddress().getHostAddress())
        .onSuccess(
            listening -> {
              port.set(listening.actualPort());
              started.complete();
            })
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
