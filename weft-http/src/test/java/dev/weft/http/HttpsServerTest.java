package dev.weft.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import dev.weft.testkit.Certificate;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The encrypted server as handlers and clients see it. */
@Feature("A2")
class HttpsServerTest {
  private HttpsServer server;

  @BeforeEach
  void create() throws Exception {
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private static HttpClient client() throws Exception {
    return HttpClient.newBuilder().sslContext(Certificate.shared().owner()).build();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(
        URI.create("https://127.0.0.1:" + server.getAddress().getPort() + path));
  }

  private static void echo(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  @Test
  void theHttpsServerServesAsThePlainServerDoes() throws Exception {
    server.setHttpsConfigurator(new HttpsConfigurator(Certificate.shared().owner()));
    server.createContext("/", HttpsServerTest::echo);
    server.createContext(
        "/session",
        exchange -> {
          byte[] text = ((HttpsExchange) exchange).getSSLSession().getProtocol().getBytes(UTF_8);
          exchange.sendResponseHeaders(200, text.length);
          exchange.getResponseBody().write(text);
          exchange.close();
        });
    server.start();
    HttpClient client = client();
    assertThat(
            client.send(request("/session").build(), HttpResponse.BodyHandlers.ofString()).body())
        .isEqualTo("TLSv1.3");
    byte[] body = new byte[3_000_000];
    new Random(1).nextBytes(body);
    for (int i = 0; i < 3; i++) {
      HttpRequest post = request("/").POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
      assertThat(client.send(post, HttpResponse.BodyHandlers.ofByteArray()).body()).isEqualTo(body);
    }
    List<CompletableFuture<HttpResponse<String>>> all =
        IntStream.range(0, 100)
            .mapToObj(
                i ->
                    client.sendAsync(
                        request("/")
                            .POST(HttpRequest.BodyPublishers.ofString("number " + i))
                            .build(),
                        HttpResponse.BodyHandlers.ofString()))
            .toList();
    for (int i = 0; i < all.size(); i++) {
      assertThat(all.get(i).get().body()).isEqualTo("number " + i);
    }
  }

  @Test
  void theConfiguratorIsAskedForEachConnection() throws Exception {
    CompletableFuture<InetSocketAddress> asked = new CompletableFuture<>();
    server.setHttpsConfigurator(
        new HttpsConfigurator(Certificate.shared().owner()) {
          @Override
          public void configure(HttpsParameters parameters) {
            asked.complete(parameters.getClientAddress());
            var chosen = getSSLContext().getDefaultSSLParameters();
            chosen.setProtocols(new String[] {"TLSv1.2"});
            parameters.setSSLParameters(chosen);
          }
        });
    server.createContext("/", HttpsServerTest::echo);
    server.start();
    HttpResponse<Void> response =
        client().send(request("/").build(), HttpResponse.BodyHandlers.discarding());
    assertThat(response.sslSession().orElseThrow().getProtocol()).isEqualTo("TLSv1.2");
    assertThat(asked.get().getAddress().isLoopbackAddress()).isTrue();
  }

  @Test
  void withoutACertificateNobodyIsServed() throws Exception {
    server.createContext("/", HttpsServerTest::echo);
    server.start();
    assertThat(server.getHttpsConfigurator()).isNull();
    assertThatIOException()
        .isThrownBy(
            () -> client().send(request("/").build(), HttpResponse.BodyHandlers.discarding()));
  }

  @Test
  void aPlainClientIsNotUnderstood() throws Exception {
    server.setHttpsConfigurator(new HttpsConfigurator(Certificate.shared().owner()));
    server.createContext("/", HttpsServerTest::echo);
    server.start();
    try (RawClient client = new RawClient(server.getAddress())) {
      client.send("GET / HTTP/1.1\nHost: x\n\n");
      assertThatIOException().isThrownBy(client::receive);
    }
    assertThat(
            client()
                .send(request("/").build(), HttpResponse.BodyHandlers.discarding())
                .statusCode())
        .isEqualTo(200);
  }
}
