package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The server for browsers: WebSocket and the page. */
@Feature("A4")
class ImWebTest {
  private ImServer server;

  @BeforeEach
  void start() throws Exception {
    server = ImServer.builder().build().start();
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  @Test
  void bothKindsOfClientsInOneRoom() throws Exception {
    try (ImClient web = ImClient.web(server);
        ImClient tcp = ImClient.register(server, "tess")) {
      assertThat(web.ask("JOIN tea")).startsWith("ERR login ");
      assertThat(web.ask("REGISTER wendy " + ImClient.PASSWORD)).isEqualTo("OK REGISTER wendy");
      assertThat(web.ask("JOIN tea")).isEqualTo("OK JOIN tea");
      assertThat(tcp.ask("JOIN tea")).isEqualTo("OK JOIN tea");
      web.post("SAY tea from the browser ☕");
      tcp.post("SAY tea from the terminal");
      for (ImClient client : new ImClient[] {web, tcp}) {
        assertThat(client.message()).endsWith(" tea wendy from the browser ☕");
        assertThat(client.message()).endsWith(" tea tess from the terminal");
      }
      assertThat(tcp.history("HISTORY tea")).isEqualTo(web.history("HISTORY tea"));
      web.quit();
      tcp.await("PRESENCE wendy away");
      tcp.post("TELL wendy see you");
      try (ImClient again = ImClient.web(server)) {
        assertThat(again.ask("LOGIN wendy " + ImClient.PASSWORD)).isEqualTo("OK LOGIN wendy");
        assertThat(again.text()).isEqualTo("see you");
        assertThat(again.eventsUntilNow()).isEmpty();
      }
      assertThat(tcp.text()).isEqualTo("see you");
    }
  }

  @Test
  void limitsAreThoseOfLines() throws Exception {
    try (ImClient web = ImClient.web(server)) {
      assertThat(web.ask("PING a\nPING b")).startsWith("ERR syntax ");
      assertThat(web.ask("P".repeat(8193))).startsWith("ERR limit ");
      assertThat(web.ask("PING " + "ä".repeat(4096))).startsWith("ERR limit ");
      assertThat(web.ask("PING " + "ä".repeat(4093))).startsWith("OK PING ");
    }
  }

  @Test
  void stopSaysBye() throws Exception {
    try (ImClient web = ImClient.web(server)) {
      web.ask("PING");
      server.stop();
      assertThat(web.event()).startsWith("BYE ");
      web.awaitEnd();
    }
  }

  @Test
  void thePage() throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> page = get(http, "/");
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html; charset=utf-8");
      assertThat(page.body()).containsIgnoringCase("<!doctype html>");
      assertThat(get(http, "/index.html").body()).isEqualTo(page.body());
      for (String path : new String[] {"/no.html", "/../Im.class", "/web/", "/chatx", "/.css"}) {
        assertThat(get(http, path).statusCode()).as(path).isEqualTo(404);
      }
      assertThat(get(http, "/chat").statusCode()).isEqualTo(400); // it is for WebSockets
      assertThat(page.headers().map())
          .containsEntry("X-Frame-Options", List.of("DENY"))
          .containsEntry("Referrer-Policy", List.of("no-referrer"));
      assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
          .contains("default-src 'none'", "frame-ancestors 'none'");
      HttpRequest post =
          HttpRequest.newBuilder(url("/")).POST(HttpRequest.BodyPublishers.ofString("x")).build();
      assertThat(http.send(post, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(405);
    }
  }

  /** A page of another site must not speak to this server with this user's browser. */
  @Test
  void onlyTheServersOwnPageMayConnect() throws Exception {
    String host = "127.0.0.1:" + server.webAddress().getPort();
    assertThat(upgrade("http://" + host)).startsWith("HTTP/1.1 101 ");
    assertThat(upgrade("")).startsWith("HTTP/1.1 101 ");
    for (String origin :
        List.of(
            "http://evil.example",
            "https://" + host,
            "http://127.0.0.1",
            "http://" + host + ".evil.example",
            "null")) {
      assertThat(upgrade(origin)).as(origin).startsWith("HTTP/1.1 403 ");
    }
    server.stop();
    server = ImServer.builder().origins(List.of("https://chat.example.org")).build().start();
    assertThat(upgrade("https://chat.example.org")).startsWith("HTTP/1.1 101 ");
    assertThat(upgrade("https://evil.example.org")).startsWith("HTTP/1.1 403 ");
  }

  /** Returns the first line of the answer. */
  private String upgrade(String origin) throws IOException {
    InetSocketAddress at = server.webAddress();
    try (Socket socket = new Socket(at.getAddress(), at.getPort())) {
      List<String> lines =
          List.of(
              "GET /chat HTTP/1.1",
              "Host: 127.0.0.1:" + at.getPort(),
              "Upgrade: websocket",
              "Connection: Upgrade",
              "Sec-WebSocket-Version: 13",
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
              origin.isEmpty() ? "X-Nothing: x" : "Origin: " + origin,
              "",
              "");
      socket
          .getOutputStream()
          .write(String.join("\r\n", lines).getBytes(StandardCharsets.US_ASCII));
      return ImClient.readLine(socket.getInputStream());
    }
  }

  private HttpResponse<String> get(HttpClient http, String path)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(url(path)).build(), HttpResponse.BodyHandlers.ofString());
  }

  private URI url(String path) {
    return URI.create("http://127.0.0.1:" + server.webAddress().getPort() + path);
  }
}
