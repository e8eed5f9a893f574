package dev.weft.http;

import java.util.Objects;
import javax.net.ssl.SSLSession;

/** An exchange over an encrypted connection, as its handler sees it. */
final class TlsExchange extends DelegatingExchange {
  private final Exchange exchange;

  TlsExchange(Exchange exchange) {
    super(exchange);
    this.exchange = exchange;
  }

  Exchange exchange() {
    return exchange;
  }

  @Override
  public SSLSession getSSLSession() {
    return Objects.requireNonNull(exchange.session());
  }
}
