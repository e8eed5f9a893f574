import com.sun.net.httpserver.HttpServer;
import dev.weft.http.WebSocket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** A web server through the JDK's own API, a fiber for each connection, and a WebSocket on it. */
void main() throws Exception {
  HttpServer server = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
  server.createContext("/hello", exchange -> {
    byte[] text = ("hello, " + exchange.getRequestURI().getQuery()).getBytes();
    exchange.sendResponseHeaders(200, text.length);
    exchange.getResponseBody().write(text);
    exchange.close();
  });
  server.createContext("/shout", WebSocket.handler(socket -> {
    for (var text = socket.receiveText(); text.isPresent(); text = socket.receiveText()) {
      socket.send(text.get().toUpperCase());
    }
  }));
  server.start();

  String at = "localhost:" + server.getAddress().getPort();
  try (HttpClient client = HttpClient.newHttpClient()) {
    var request = HttpRequest.newBuilder(URI.create("http://" + at + "/hello?you")).build();
    IO.println(client.send(request, BodyHandlers.ofString()).body());

    var answer = new CompletableFuture<String>();
    var socket = client.newWebSocketBuilder()
        .buildAsync(URI.create("ws://" + at + "/shout"), new Listener(answer))
        .get();
    socket.sendText("is anybody there?", true).get();
    IO.println(answer.get());
    socket.sendClose(1000, "").get();
  }
  server.stop(1);
}

record Listener(CompletableFuture<String> answer) implements java.net.http.WebSocket.Listener {
  @Override
  public CompletableFuture<?> onText(java.net.http.WebSocket socket, CharSequence text, boolean last) {
    answer.complete(text.toString());
    socket.request(1); // the close frame follows
    return null;
  }
}
