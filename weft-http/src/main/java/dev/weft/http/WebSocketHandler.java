package dev.weft.http;

/**
 * What a server does with a WebSocket: see {@link WebSocket#handler(WebSocketHandler)}.
 *
 * {@snippet class="dev.weft.http.WebSocketTest" region="messages"}
 */
@FunctionalInterface
public interface WebSocketHandler {
  /**
   * Serves one connection, from its beginning to its end: the socket is closed when this returns,
   * with 1000. If it throws that is 1011, or 1001 after an interrupt or a cancel; what it throws
   * goes to the HTTP server. Only what the socket itself has thrown does not: that a client has
   * gone away is no failure of the handler.
   */
  void handle(WebSocket socket) throws Exception;
}
