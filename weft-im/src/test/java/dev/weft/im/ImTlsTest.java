package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Encrypted lines and an encrypted page. */
@Feature("A4")
class ImTlsTest {
  private static final char[] STORE_PASSWORD = "changeit".toCharArray();

  @TempDir static Path folder;
  private static Path certificate;
  private static Path key;
  private static SSLContext client;

  @BeforeAll
  static void makeCertificates() throws Exception {
    client = clientOf(makePair(folder, "rsa", "RSA"));
    certificate = folder.resolve("rsa.crt");
    key = folder.resolve("rsa.key");
  }

  /** Returns what a client needs to trust a server. */
  static SSLContext clientOf(KeyStore server) throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", server.getCertificate("server"));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  /** Writes NAME.crt and NAME.key, as openssl would. */
  static KeyStore makePair(Path in, String name, String algorithm) throws Exception {
    Path file = in.resolve(name + ".p12");
    Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    Command.of(
            keytool.toString(),
            "-genkeypair",
            "-alias",
            "server",
            "-keyalg",
            algorithm,
            "-dname",
            "CN=weft",
            "-ext",
            "san=ip:127.0.0.1",
            "-storetype",
            "PKCS12",
            "-storepass",
            String.valueOf(STORE_PASSWORD),
            "-keystore",
            file.toString())
        .run();
    KeyStore store = KeyStore.getInstance(file.toFile(), STORE_PASSWORD);
    write(in.resolve(name + ".crt"), "CERTIFICATE", store.getCertificate("server").getEncoded());
    write(
        in.resolve(name + ".key"),
        "PRIVATE KEY",
        store.getKey("server", STORE_PASSWORD).getEncoded());
    return store;
  }

  private static void write(Path file, String kind, byte[] bytes) throws IOException {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    Files.writeString(
        file, "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(kind, body, kind));
  }

  @Test
  void linesOverTls() throws Exception {
    try (ImServer server = ImServer.builder().tls(certificate, key).build().start();
        SSLSocket socket =
            (SSLSocket)
                client
                    .getSocketFactory()
                    .createSocket(
                        server.lineAddress().getAddress(), server.lineAddress().getPort());
        InputStream in = new BufferedInputStream(socket.getInputStream())) {
      assertThat(ask(socket, in, "REGISTER ann correct-horse")).isEqualTo("OK REGISTER ann");
      String long4k = "x".repeat(4000);
      for (int i = 1; i <= 20; i++) {
        List<String> lines = List.of(ask(socket, in, "TELL ann " + long4k), ImClient.readLine(in));
        assertThat(lines).contains("OK TELL " + i); // before or after the message itself
        assertThat(lines).anyMatch(line -> line.endsWith(" @ann ann " + long4k));
      }
      assertThat(ask(socket, in, "QUIT")).isEqualTo("OK QUIT");
      assertThat(in.read()).isEqualTo(-1); // with a goodbye, or this would throw
    }
  }

  private static String ask(SSLSocket socket, InputStream in, String line) throws IOException {
    socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    return ImClient.readLine(in);
  }

  /** What is no TLS, or says nothing, keeps nobody else from connecting. */
  @Test
  void aClientThatNeverShakesHandsHarmsNobody() throws Exception {
    try (ImServer server = ImServer.builder().tls(certificate, key).build().start()) {
      InetAddress address = server.lineAddress().getAddress();
      int port = server.lineAddress().getPort();
      try (Socket silent = new Socket(address, port);
          Socket plain = new Socket(address, port);
          SSLSocket good = (SSLSocket) client.getSocketFactory().createSocket(address, port);
          InputStream in = new BufferedInputStream(good.getInputStream())) {
        plain.getOutputStream().write("PING\n".getBytes(StandardCharsets.UTF_8));
        assertThat(ask(good, in, "PING")).isEqualTo("OK PING");
        assertThat(silent.isConnected()).isTrue();
      }
    }
  }

  @Test
  void thePageAndItsWebSocketOverTls() throws Exception {
    try (ImServer server = ImServer.builder().tls(certificate, key).build().start();
        HttpClient http = HttpClient.newBuilder().sslContext(client).build()) {
      String host = "127.0.0.1:" + server.webAddress().getPort();
      HttpResponse<String> page =
          http.send(
              HttpRequest.newBuilder(URI.create("https://" + host + "/")).build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.headers().firstValue("Strict-Transport-Security")).isPresent();
      CompletableFuture<String> answer = new CompletableFuture<>();
      WebSocket socket =
          http.newWebSocketBuilder()
              .header("Origin", "https://" + host)
              .buildAsync(
                  URI.create("wss://" + host + "/chat"),
                  new WebSocket.Listener() {
                    @Override
                    public CompletionStage<?> onText(
                        WebSocket web, CharSequence data, boolean last) {
                      answer.complete(data.toString());
                      return null;
                    }
                  })
              .join();
      socket.sendText("PING secret", true).join();
      assertThat(answer.get(30, TimeUnit.SECONDS)).isEqualTo("OK PING secret");
      socket.abort();
    }
  }

  @Test
  void mistakesSayWhatToDo() throws Exception {
    makePair(folder, "ec", "EC");
    makePair(folder, "other", "RSA");
    ImServer.builder().tls(folder.resolve("ec.crt"), folder.resolve("ec.key"));
    assertThatThrownBy(() -> ImServer.builder().tls(certificate, folder.resolve("other.key")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not that of the certificate");
    assertThatThrownBy(() -> ImServer.builder().tls(certificate, certificate))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("openssl pkcs8 -topk8");
    assertThatThrownBy(() -> ImServer.builder().tls(folder.resolve("none"), key))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot read");
  }
}
