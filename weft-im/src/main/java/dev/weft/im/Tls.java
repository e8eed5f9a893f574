package dev.weft.im;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A certificate and its key, from the files that certbot and openssl write. */
final class Tls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
  private static final char[] NO_PASSWORD = {};

  private final SSLContext context;

  private Tls(SSLContext context) {
    this.context = context;
  }

  SSLContext context() {
    return context;
  }

  /**
   * Reads the files.
   *
   * @throws IllegalArgumentException if that is not possible; the message says what to do
   */
  static Tls of(Path certificate, Path key) {
    try {
      Certificate[] chain = chain(certificate);
      PrivateKey secret = key(key, chain[0].getPublicKey().getAlgorithm());
      checkPair(chain[0], secret, certificate, key);
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, NO_PASSWORD);
      store.setKeyEntry("server", secret, NO_PASSWORD, chain);
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, NO_PASSWORD);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return new Tls(context);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read the certificate or its key: " + e, e);
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot use the certificate %s with the key %s: %s"
              .formatted(certificate, key, e.getMessage()),
          e);
    }
  }

  private static Certificate[] chain(Path file) throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(file)) {
      List<Certificate> chain =
          List.copyOf(CertificateFactory.getInstance("X.509").generateCertificates(in));
      if (chain.isEmpty()) {
        throw new IllegalArgumentException(file + " has no certificate in PEM");
      }
      return chain.toArray(Certificate[]::new);
    }
  }

  private static PrivateKey key(Path file, String algorithm)
      throws IOException, GeneralSecurityException {
    Matcher pem = KEY.matcher(Files.readString(file, StandardCharsets.US_ASCII));
    if (!pem.find()) {
      throw new IllegalArgumentException(
          ("%s has no line BEGIN PRIVATE KEY; if it has another kind of key convert it:"
                  + " openssl pkcs8 -topk8 -nocrypt -in %s -out key.pem")
              .formatted(file, file));
    }
    byte[] bytes = Base64.getMimeDecoder().decode(pem.group(1));
    return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
  }

  /** A key of another certificate would only be noticed by the first client. */
  private static void checkPair(Certificate certificate, PrivateKey key, Path file, Path keyFile)
      throws GeneralSecurityException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> key.getAlgorithm(); // EdDSA
        };
    byte[] text = "the same pair".getBytes(StandardCharsets.US_ASCII);
    Signature signing = Signature.getInstance(algorithm);
    signing.initSign(key);
    signing.update(text);
    byte[] signed = signing.sign();
    Signature checking = Signature.getInstance(algorithm);
    checking.initVerify(certificate);
    checking.update(text);
    if (!checking.verify(signed)) {
      throw new IllegalArgumentException(
          "the key in %s is not that of the certificate in %s".formatted(keyFile, file));
    }
  }
}
