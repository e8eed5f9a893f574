package dev.weft.proof;

import dev.weft.testkit.Certificate;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.HttpsURLConnection;
import okhttp3.ConnectionPool;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;
import org.apache.hc.core5.util.Timeout;

/** An HTTP client that sends a request and waits for the response. */
interface WebClient extends AutoCloseable {
  /** Returns the body of the response to a POST, or to a GET if there is nothing to send. */
  String ask(URI uri, Optional<String> body) throws IOException, InterruptedException;

  @Override
  void close() throws IOException;

  /** The tested clients. */
  enum Kind {
    APACHE {
      @Override
      WebClient open(Certificate certificate, Duration readTimeout) {
        return new Apache(certificate, readTimeout);
      }
    },
    OK_HTTP {
      @Override
      WebClient open(Certificate certificate, Duration readTimeout) {
        return new OkHttp(certificate, readTimeout);
      }
    },
    JDK_HTTP_CLIENT {
      @Override
      WebClient open(Certificate certificate, Duration readTimeout) {
        return new JdkHttpClient(certificate, readTimeout);
      }
    },
    HTTP_URL_CONNECTION {
      @Override
      WebClient open(Certificate certificate, Duration readTimeout) {
        return new UrlConnection(certificate, readTimeout);
      }
    };

    /** Makes a client that trusts the certificate and has this read timeout. */
    abstract WebClient open(Certificate certificate, Duration readTimeout);
  }

  /** Apache HttpClient 5, the classic client. */
  final class Apache implements WebClient {
    private final CloseableHttpClient client;

    Apache(Certificate certificate, Duration readTimeout) {
      PoolingHttpClientConnectionManager connections =
          PoolingHttpClientConnectionManagerBuilder.create()
              .setTlsSocketStrategy(new DefaultClientTlsStrategy(certificate.context()))
              .setDefaultConnectionConfig(
                  ConnectionConfig.custom()
                      .setSocketTimeout(Timeout.of(readTimeout))
                      .setConnectTimeout(Timeout.of(OneThread.LIMIT))
                      .build())
              .setMaxConnTotal(OneThread.FIBERS)
              .setMaxConnPerRoute(OneThread.FIBERS)
              .build();
      client =
          HttpClients.custom().setConnectionManager(connections).disableAutomaticRetries().build();
    }

    @Override
    public String ask(URI uri, Optional<String> body) throws IOException {
      ClassicHttpRequest request =
          body.map(text -> ClassicRequestBuilder.post(uri).setEntity(text).build())
              .orElseGet(() -> ClassicRequestBuilder.get(uri).build());
      return client.execute(request, response -> EntityUtils.toString(response.getEntity()));
    }

    @Override
    public void close() throws IOException {
      client.close();
    }
  }

  /** OkHttp: it connects on its own threads, everything else runs on the caller's. */
  final class OkHttp implements WebClient {
    private final OkHttpClient client;

    OkHttp(Certificate certificate, Duration readTimeout) {
      client =
          new OkHttpClient.Builder()
              .sslSocketFactory(certificate.context().getSocketFactory(), certificate.trust())
              .connectionPool(new ConnectionPool())
              .readTimeout(readTimeout)
              .connectTimeout(OneThread.LIMIT)
              .retryOnConnectionFailure(false)
              .build();
    }

    @Override
    public String ask(URI uri, Optional<String> body) throws IOException {
      Request.Builder request = new Request.Builder().url(uri.toString());
      body.ifPresent(
          text -> request.post(RequestBody.create(text.getBytes(StandardCharsets.UTF_8))));
      try (Response response = client.newCall(request.build()).execute()) {
        return response.body().string();
      }
    }

    @Override
    public void close() {
      client.connectionPool().evictAll();
      client.dispatcher().executorService().shutdown();
    }
  }

  /** The client of {@code java.net.http}: its own selector thread serves its sockets. */
  final class JdkHttpClient implements WebClient {
    private final HttpClient client;
    private final Duration readTimeout;

    JdkHttpClient(Certificate certificate, Duration readTimeout) {
      client = HttpClient.newBuilder().sslContext(certificate.context()).build();
      this.readTimeout = readTimeout;
    }

    @Override
    public String ask(URI uri, Optional<String> body) throws IOException, InterruptedException {
      HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(readTimeout);
      body.ifPresent(text -> request.POST(HttpRequest.BodyPublishers.ofString(text)));
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /** {@code HttpURLConnection}. */
  final class UrlConnection implements WebClient {
    private final Certificate certificate;
    private final Duration readTimeout;

    UrlConnection(Certificate certificate, Duration readTimeout) {
      this.certificate = certificate;
      this.readTimeout = readTimeout;
    }

    @Override
    public String ask(URI uri, Optional<String> body) throws IOException {
      HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
      if (connection instanceof HttpsURLConnection secure) {
        secure.setSSLSocketFactory(certificate.context().getSocketFactory());
      }
      connection.setReadTimeout((int) readTimeout.toMillis());
      if (body.isPresent()) {
        connection.setDoOutput(true);
        try (OutputStream out = connection.getOutputStream()) {
          out.write(body.get().getBytes(StandardCharsets.UTF_8));
        }
      }
      try (InputStream in = connection.getInputStream()) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    }

    @Override
    public void close() {}
  }
}
