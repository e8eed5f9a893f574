package dev.weft.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * A certificate for 127.0.0.1, made by the JDK's keytool and signed by itself.
 *
 * @param context for servers that show it and for clients that trust it
 * @param trust what such a client asks
 */
record Certificate(SSLContext context, X509TrustManager trust) {
  private static final String PASSWORD = "not-a-secret";

  private static @Nullable Certificate shared;

  /** Returns the one that all tests use: keytool takes its time. */
  static synchronized Certificate shared() throws Exception {
    if (shared == null) {
      Path folder = Files.createTempDirectory("weft-certificate-");
      Path file = folder.resolve("certificate.p12");
      try {
        shared = create(file);
      } finally {
        Files.deleteIfExists(file);
        Files.delete(folder);
      }
    }
    return shared;
  }

  private static Certificate create(Path file) throws Exception {
    Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    String options =
        "-genkeypair -alias server -keyalg EC -groupname secp256r1 -dname CN=127.0.0.1"
            + " -ext san=ip:127.0.0.1 -validity 10 -storepass %s -keystore ".formatted(PASSWORD);
    // by a shell, which takes the words apart
    Command.Result made =
        Command.of(
                "sh",
                "-c",
                "exec \"$0\" " + options + "\"$1\"",
                keytool.toString(),
                file.toString())
            .run();
    assertThat(made.exitStatus()).as(made.stdout() + made.stderr()).isZero();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
    own.init(keys, PASSWORD.toCharArray());
    KeyStore known = KeyStore.getInstance("PKCS12");
    known.load(null, null);
    known.setCertificateEntry("server", keys.getCertificate("server"));
    TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(known);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
    return new Certificate(context, (X509TrustManager) trusted.getTrustManagers()[0]);
  }
}
