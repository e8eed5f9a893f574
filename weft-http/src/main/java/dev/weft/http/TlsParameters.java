package dev.weft.http;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/** What a configurator has chosen for one connection. */
final class TlsParameters extends HttpsParameters {
  private final HttpsConfigurator configurator;
  private final InetSocketAddress client;
  private @Nullable SSLParameters chosen;

  private TlsParameters(HttpsConfigurator configurator, InetSocketAddress client) {
    this.configurator = configurator;
    this.client = client;
  }

  /**
   * Makes the server's engine for a new connection, as the configurator wants it.
   *
   * @throws IllegalArgumentException if it wants what its context does not support
   */
  static SSLEngine engine(HttpsConfigurator configurator, InetSocketAddress client) {
    // the host as it is known, which asks no name server
    SSLEngine engine =
        configurator.getSSLContext().createSSLEngine(client.getHostString(), client.getPort());
    engine.setUseClientMode(false);
    TlsParameters parameters = new TlsParameters(configurator, client);
    configurator.configure(parameters);
    parameters.applyTo(engine);
    return engine;
  }

  @Override
  public HttpsConfigurator getHttpsConfigurator() {
    return configurator;
  }

  @Override
  public InetSocketAddress getClientAddress() {
    return client;
  }

  @Override
  public void setSSLParameters(@Nullable SSLParameters parameters) {
    if (parameters != null) {
      chosen = parameters;
    }
  }

  private void applyTo(SSLEngine engine) {
    if (chosen != null) {
      engine.setSSLParameters(chosen);
    } else {
      applyOldSetters(engine);
    }
  }

  @SuppressWarnings("deprecation") // what was written before Java 23 may use nothing else
  private void applyOldSetters(SSLEngine engine) {
    applyIfKnown("cipher suites", getCipherSuites(), engine::setEnabledCipherSuites);
    applyIfKnown("protocols", getProtocols(), engine::setEnabledProtocols);
    if (getNeedClientAuth()) {
      engine.setNeedClientAuth(true);
    } else if (getWantClientAuth()) {
      engine.setWantClientAuth(true);
    }
  }

  /** Goes on with the defaults if the names are unknown, as the JDK's own server does. */
  private static void applyIfKnown(
      String what, String @Nullable [] names, Consumer<String[]> setter) {
    if (names == null) {
      return;
    }
    try {
      setter.accept(names);
    } catch (IllegalArgumentException e) {
      System.getLogger("dev.weft.http")
          .log(
              Level.WARNING,
              "a connection has the default %s, for those of the configurator are not supported: %s"
                  .formatted(what, e.getMessage()));
    }
  }
}
