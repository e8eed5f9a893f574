package dev.weft.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** A self-signed certificate for 127.0.0.1, made by the JDK's keytool. */
public final class Certificate {
  private static final String PASSWORD = "not-a-secret";

  private static @Nullable Certificate shared;

  private final KeyManager[] keys;
  private final TrustManager[] trust;

  private final SSLContext context;

  private Certificate(KeyManager[] keys, TrustManager[] trust) throws Exception {
    this.keys = keys;
    this.trust = trust;
    this.context = owner();
  }

  /** Returns the certificate that all tests share, because keytool is slow. */
  public static synchronized Certificate shared() throws Exception {
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

  /**
   * Returns a context for servers that present the certificate and for clients that trust it,
   * always the same.
   */
  public SSLContext context() {
    return context;
  }

  /** Returns a new context, with its own sessions, that presents the certificate and trusts it. */
  public SSLContext owner() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys, trust, null);
    return context;
  }

  /** Returns a new context that trusts the certificate and presents none. */
  public SSLContext stranger() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(new KeyManager[0], trust, null);
    return context;
  }

  /** Returns the trust manager for clients that trust the certificate. */
  public X509TrustManager trust() {
    return (X509TrustManager) trust[0];
  }

  private static Certificate create(Path file) throws Exception {
    Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    String options =
        "-genkeypair -alias server -keyalg EC -groupname secp256r1 -dname CN=127.0.0.1"
            + " -ext san=ip:127.0.0.1 -validity 10 -storepass %s -keystore ".formatted(PASSWORD);
    // a shell splits the words
    Command.Result made =
        Command.of(
                "sh",
                "-c",
                "exec \"$0\" " + options + "\"$1\"",
                keytool.toString(),
                file.toString())
            .run();
    assertThat(made.exitStatus()).as(made.stdout() + made.stderr()).isZero();
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
    own.init(store, PASSWORD.toCharArray());
    KeyStore known = KeyStore.getInstance("PKCS12");
    known.load(null, null);
    known.setCertificateEntry("server", store.getCertificate("server"));
    TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(known);
    return new Certificate(own.getKeyManagers(), trusted.getTrustManagers());
  }
}
