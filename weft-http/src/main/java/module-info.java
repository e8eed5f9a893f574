import org.jspecify.annotations.NullMarked;

/** HTTP/1.1 behind the JDK's own server API, and WebSocket, on fibers. */
@NullMarked
module dev.weft.http {
  requires transitive dev.weft;
  requires transitive jdk.httpserver;
  requires static com.google.errorprone.annotations;

  exports dev.weft.http;

  provides com.sun.net.httpserver.spi.HttpServerProvider with
      dev.weft.http.WeftHttpServerProvider;
}
