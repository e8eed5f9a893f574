package dev.weft.http;

import static dev.weft.http.TlsParametersTest.configurator;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import dev.weft.testkit.Certificate;
import dev.weft.testkit.Feature;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIMatcher;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.StandardConstants;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS on fibers of one thread, with clients that are the JDK's and have threads of their own. */
class TlsTransportTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final List<AutoCloseable> open = new ArrayList<>();
  private SSLContext serverContext;
  private SSLContext clientContext;

  @BeforeEach
  void makeContexts() throws Exception {
    serverContext = Certificate.shared().owner();
    clientContext = Certificate.shared().stranger();
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
    assertThat(scheduler.stop(Duration.ofSeconds(5))).as("all has ended").isTrue();
  }

  // ---- what the tests are made of ----

  /** What a server does with a connection after the handshake. */
  private interface Service {
    void serve(TlsTransport transport, TcpStream stream) throws Exception;
  }

  /** Serves connections, a fiber each. */
  private final class Server implements AutoCloseable {
    private final TcpListener listener =
        TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    private final BlockingQueue<Object> ends = new LinkedBlockingQueue<>();

    Server(HttpsConfigurator configurator, Service service) throws IOException {
      this(scheduler, configurator, service);
    }

    Server(Scheduler on, HttpsConfigurator configurator, Service service) throws IOException {
      open.add(this);
      on.go(
          () -> {
            try {
              while (true) {
                TcpStream stream = listener.accept();
                on.go(() -> serve(configurator, service, stream));
              }
            } catch (ClosedChannelException e) {
              return; // by close()
            }
          });
    }

    private void serve(HttpsConfigurator configurator, Service service, TcpStream stream)
        throws IOException {
      InetSocketAddress client = (InetSocketAddress) stream.remoteAddress();
      try (TlsTransport transport =
          new TlsTransport(stream, TlsParameters.engine(configurator, client))) {
        transport.handshake();
        service.serve(transport, stream);
        ends.add("served");
      } catch (Throwable e) {
        ends.add(e);
      }
    }

    InetSocketAddress address() throws IOException {
      return (InetSocketAddress) listener.localAddress();
    }

    /** Waits for a connection to end; returns "served" or what was thrown. */
    Object end() throws InterruptedException {
      @Nullable Object end = ends.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
      if (end == null) {
        throw new AssertionError("no connection has ended");
      }
      return end;
    }

    @Override
    public void close() {
      listener.close();
    }
  }

  private Server server(Service service) throws IOException {
    return new Server(new HttpsConfigurator(serverContext), service);
  }

  private Server echo() throws IOException {
    return server((transport, stream) -> echo(transport, new byte[8 * 1024]));
  }

  private static void echo(Transport transport, byte[] buffer) throws IOException {
    for (int n = transport.read(buffer, 0, buffer.length);
        n >= 0;
        n = transport.read(buffer, 0, buffer.length)) {
      assertThat(n).isPositive();
      transport.write(buffer, 0, n);
    }
  }

  private SSLSocket client(Server server, String... protocols) throws IOException {
    return client(new Socket(), server, protocols);
  }

  /** A client over a socket that is not connected yet. */
  private SSLSocket client(Socket raw, Server server, String... protocols) throws IOException {
    connect(raw, server);
    SSLSocket socket =
        (SSLSocket)
            clientContext
                .getSocketFactory()
                .createSocket(raw, "127.0.0.1", server.address().getPort(), true);
    open.add(socket);
    if (protocols.length > 0) {
      socket.setEnabledProtocols(protocols);
    }
    return socket;
  }

  private void connect(Socket raw, Server server) throws IOException {
    open.add(raw);
    raw.connect(server.address());
    raw.setTcpNoDelay(true);
    raw.setSoTimeout((int) LIMIT.toMillis());
  }

  /** Our own transport as a client: its engine tells whether a close_notify has come. */
  private TlsTransport weftClient(Server server, SSLEngine engine) throws IOException {
    engine.setUseClientMode(true);
    TcpStream stream = TcpStream.connect(server.address());
    TlsTransport transport = new TlsTransport(stream, engine);
    open.add(transport);
    return transport;
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Runs on a thread of its own. */
  private static <T> FutureTask<T> background(Callable<T> body) {
    FutureTask<T> task = new FutureTask<>(body);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  private static <T> T result(FutureTask<T> task) throws Exception {
    return task.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  private static void write(Socket socket, byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  private static byte[] read(Socket socket, int length) throws IOException {
    return socket.getInputStream().readNBytes(length);
  }

  private static String text(Transport transport, int length) throws IOException {
    byte[] bytes = new byte[length];
    for (int done = 0; done < length; ) {
      int count = transport.read(bytes, done, length - done);
      if (count < 0) {
        throw new EOFException("after " + done + " bytes");
      }
      done += count;
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static void assertEchoes(Socket socket, int length) throws Exception {
    byte[] message = random(length);
    FutureTask<?> writer =
        background(
            () -> {
              write(socket, message);
              return null;
            });
    assertThat(Arrays.equals(read(socket, length), message)).as("%s bytes", length).isTrue();
    result(writer);
  }

  private static void waits(Fiber<?> fiber) {
    long start = System.nanoTime();
    while (fiber.status() != Fiber.Status.WAITING) {
      assertThat(System.nanoTime() - start).isLessThan(LIMIT.toNanos());
      LockSupport.parkNanos(100_000);
    }
  }

  // ---- bytes ----

  @ParameterizedTest
  @CsvSource({
    "TLSv1.2, 1",
    "TLSv1.2, 64",
    "TLSv1.2, 16384",
    "TLSv1.2, 1048576",
    "TLSv1.3, 1",
    "TLSv1.3, 64",
    "TLSv1.3, 16384",
    "TLSv1.3, 1048576"
  })
  @Feature("A2")
  void echoes(String protocol, int length) throws Exception {
    Server server = echo();
    try (SSLSocket socket = client(server, protocol)) {
      assertEchoes(socket, length);
      assertEchoes(socket, length);
      assertThat(socket.getSession().getProtocol()).isEqualTo(protocol);
    }
    assertThat(server.end()).isEqualTo("served");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 1000, 20_000})
  @Feature("A2")
  void aRecordIsReadInPiecesOfAnyLength(int length) throws Exception {
    Server server = server((transport, stream) -> echo(transport, new byte[length]));
    try (SSLSocket socket = client(server)) {
      assertEchoes(socket, 16 * 1024);
      assertEchoes(socket, 10);
      assertEchoes(socket, 50_000);
    }
    assertThat(server.end()).isEqualTo("served");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  @Feature("A2")
  void recordsMayComeByteByByte(String protocol) throws Exception {
    Server server = echo();
    Socket slow =
        new Socket() {
          @Override
          public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()); // writes each on its own
          }
        };
    try (SSLSocket socket = client(slow, server, protocol)) {
      assertEchoes(socket, 3000);
      assertEchoes(socket, 3);
    }
    assertThat(server.end()).isEqualTo("served");
  }

  @Test
  @Feature("A2")
  void onlyTheGivenPartOfAnArrayIsUsed() throws Exception {
    Server server =
        server(
            (transport, stream) -> {
              byte[] buffer = bytes("..........");
              assertThat(transport.read(buffer, 3, 0)).isZero();
              assertThat(transport.read(buffer, 3, 4)).isEqualTo(4);
              assertThat(buffer).isEqualTo(bytes("...abcd..."));
              transport.write(buffer, 4, 0);
              transport.write(buffer, 4, 2);
              assertThatExceptionOfType(IndexOutOfBoundsException.class)
                  .isThrownBy(() -> transport.read(buffer, 8, 3));
              assertThatExceptionOfType(IndexOutOfBoundsException.class)
                  .isThrownBy(() -> transport.write(buffer, 8, 3));
            });
    try (SSLSocket socket = client(server)) {
      write(socket, bytes("abcd"));
      assertThat(socket.getInputStream().readAllBytes()).isEqualTo(bytes("bc"));
    }
    assertThat(server.end()).isEqualTo("served");
  }

  @Test
  @Feature("A2")
  void manyConnectionsOnOneThread() throws Exception {
    int clients = 40;
    Server server = echo();
    CyclicBarrier allConnected = new CyclicBarrier(clients);
    List<FutureTask<Integer>> tasks = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      SSLSocket socket = client(server, i % 2 == 0 ? "TLSv1.2" : "TLSv1.3");
      tasks.add(
          background(
              () -> {
                socket.startHandshake();
                allConnected.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
                for (int length = 1; length <= 20_000; length *= 3) {
                  byte[] message = random(length);
                  write(socket, message);
                  assertThat(read(socket, length)).isEqualTo(message);
                }
                socket.close();
                return 1;
              }));
    }
    int done = 0;
    for (FutureTask<Integer> task : tasks) {
      done += result(task);
      assertThat(server.end()).isEqualTo("served");
    }
    assertThat(done).isEqualTo(clients);
  }

  @ParameterizedTest
  @CsvSource({"TLSv1.2, 1", "TLSv1.3, 1", "TLSv1.2, 2", "TLSv1.3, 2"})
  @Feature("A2")
  void twoFibersReadAndWriteAtOnce(String protocol, int threads) throws Exception {
    byte[] request = random(3_000_000);
    byte[] response = random(3_000_001);
    Scheduler own = Scheduler.builder().threads(threads).build().start();
    try {
      Server server =
          new Server(
              own,
              new HttpsConfigurator(serverContext),
              (transport, stream) -> {
                Fiber<Void> writer =
                    own.go(
                        () -> {
                          for (int at = 0; at < response.length; ) {
                            int count = Math.min(1 + at % 40_000, response.length - at);
                            transport.write(response, at, count);
                            at += count;
                          }
                        });
                byte[] got = new byte[request.length];
                for (int at = 0; at < got.length; ) {
                  at += transport.read(got, at, Math.min(1 + at % 40_000, got.length - at));
                }
                writer.join();
                assertThat(Arrays.equals(got, request)).isTrue();
              });
      SSLSocket socket = client(server, protocol);
      socket.startHandshake();
      FutureTask<?> sender =
          background(
              () -> {
                for (int at = 0; at < request.length; ) {
                  int count = Math.min(50_000, request.length - at);
                  socket.getOutputStream().write(request, at, count);
                  at += count;
                  if (protocol.equals("TLSv1.3")) {
                    socket.startHandshake(); // asks for other keys
                  }
                }
                return null;
              });
      byte[] got = read(socket, response.length);
      result(sender);
      assertThat(Arrays.equals(got, response)).isTrue();
      assertThat(server.end()).isEqualTo("served");
      server.close();
    } finally {
      assertThat(own.stop(Duration.ofSeconds(5))).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  @Feature("A2")
  void theClientMayChangeTheKeys(String protocol) throws Exception {
    Server server = echo();
    try (SSLSocket socket = client(server, protocol)) {
      for (int i = 0; i < 5; i++) {
        assertEchoes(socket, 20_000);
        // after the first: another handshake in TLS 1.2, a request for new keys in TLS 1.3
        socket.startHandshake();
      }
      assertEchoes(socket, 1);
    }
    assertThat(server.end()).isEqualTo("served");
  }

  @Test
  @Feature("A2")
  void readingGoesOnThoughAnAnswerHasToWaitForWhoWrites() throws Exception {
    byte[] large = random(20_000_000);
    BlockingQueue<Fiber<?>> writers = new LinkedBlockingQueue<>();
    BlockingQueue<String> received = new LinkedBlockingQueue<>();
    Server server =
        server(
            (transport, stream) -> {
              Fiber<Void> writer = scheduler.go(() -> transport.write(large, 0, large.length));
              writers.add(writer);
              received.add(text(transport, 3));
              writer.join();
            });
    SSLSocket socket = client(server, "TLSv1.3");
    socket.startHandshake();
    waits(writers.take()); // for this client to read, which it does not yet
    socket.startHandshake(); // asks for other keys, to be answered by a record
    write(socket, bytes("abc"));
    assertThat(received.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("abc");
    assertThat(Arrays.equals(read(socket, large.length), large)).isTrue();
    assertThat(socket.getInputStream().read()).isEqualTo(-1);
    assertThat(server.end()).isEqualTo("served");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  @Feature("A2")
  void aSessionIsTakenUpAgain(String protocol) throws Exception {
    Server server = echo();
    List<Long> created = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      try (SSLSocket socket = client(server, protocol)) {
        assertEchoes(socket, 10);
        created.add(socket.getSession().getCreationTime());
      }
      assertThat(server.end()).isEqualTo("served");
    }
    assertThat(created.get(1)).isEqualTo(created.get(0));
  }

  // ---- handshakes that fail ----

  @Test
  @Feature("A2")
  void plainTextIsRefusedAndNobodyElseIsHurt() throws Exception {
    Server server = echo();
    SSLSocket other = client(server);
    assertEchoes(other, 100);
    Socket plain = new Socket();
    connect(plain, server);
    write(plain, bytes("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assertThat(server.end()).isInstanceOf(SSLException.class);
    assertThat(plain.getInputStream().readAllBytes()).as("an alert").startsWith(21, 3);
    assertEchoes(other, 100);
    other.close();
    assertThat(server.end()).isEqualTo("served");
  }

  @Test
  @Feature("A2")
  void aClientMayEndBeforeTheHandshake() throws Exception {
    Server server = echo();
    try (Socket raw = new Socket()) {
      connect(raw, server);
    }
    assertThat(server.end())
        .isInstanceOf(EOFException.class)
        .asString()
        .contains("shake hands")
        .contains("ended in the middle");
  }

  @Test
  @Feature("A2")
  void aClientMayEndInTheMiddleOfTheHandshake() throws Exception {
    Server server = echo();
    SSLEngine engine = clientContext.createSSLEngine();
    engine.setUseClientMode(true);
    ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), hello);
    for (int length : new int[] {3, hello.position() / 2, hello.position()}) {
      try (Socket raw = new Socket()) {
        connect(raw, server);
        raw.getOutputStream().write(hello.array(), 0, length);
        raw.shutdownOutput();
        assertThat(server.end()).as("%s bytes", length).isInstanceOf(EOFException.class);
        raw.getInputStream().readAllBytes();
      }
    }
    assertEchoes(client(server), 10);
  }

  @Test
  @Feature("A2")
  void nothingInCommonIsAFailureOnBothSides() throws Exception {
    Server server =
        new Server(
            configurator(
                serverContext,
                parameters -> {
                  SSLParameters chosen = new SSLParameters();
                  chosen.setProtocols(new String[] {"TLSv1.3"});
                  parameters.setSSLParameters(chosen);
                }),
            (transport, stream) -> {});
    SSLSocket socket = client(server, "TLSv1.2");
    assertThatExceptionOfType(SSLException.class)
        .isThrownBy(socket::startHandshake)
        .withMessageContaining("protocol_version");
    assertThat(server.end()).isInstanceOf(SSLException.class);
  }

  @Test
  @Feature("A2")
  void anExceptionOfTheServersCodeInTheHandshakeFailsTheConnectionOnly() throws Exception {
    SNIMatcher failing =
        new SNIMatcher(StandardConstants.SNI_HOST_NAME) {
          @Override
          public boolean matches(SNIServerName name) {
            throw new IllegalStateException("it is Sunday");
          }
        };
    Server server =
        new Server(
            configurator(
                serverContext,
                parameters -> {
                  SSLParameters chosen = new SSLParameters();
                  chosen.setSNIMatchers(List.of(failing));
                  parameters.setSSLParameters(chosen);
                }),
            (transport, stream) -> {});
    SSLSocket socket = client(server);
    SSLParameters named = socket.getSSLParameters();
    named.setServerNames(List.of(new SNIHostName("localhost")));
    socket.setSSLParameters(named);
    assertThatExceptionOfType(IOException.class).isThrownBy(socket::startHandshake);
    assertThat((Throwable) server.end())
        .isInstanceOf(SSLException.class)
        .hasRootCauseMessage("it is Sunday");
    client(server).startHandshake(); // names no host, so nobody is asked
    assertThat(server.end()).isEqualTo("served");
  }

  @Test
  @Feature("A2")
  void aSilentClientIsLeftWhenTheTimeIsOver() throws Exception {
    try (TcpListener listener =
            TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Socket raw = new Socket()) {
      raw.connect(listener.localAddress());
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                TcpStream stream = listener.accept();
                stream.readTimeout(Duration.ofMillis(30));
                try (TlsTransport transport = new TlsTransport(stream, serverEngine())) {
                  transport.handshake();
                }
              });
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(() -> fiber.join(LIMIT))
          .withCauseInstanceOf(SocketTimeoutException.class);
    }
  }

  private SSLEngine serverEngine() {
    SSLEngine engine = serverContext.createSSLEngine();
    engine.setUseClientMode(false);
    return engine;
  }

  // ---- ends ----

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  @Feature("A2")
  void theClientsCloseNotifyIsTheEnd(String protocol) throws Exception {
    Server server =
        server(
            (transport, stream) -> {
              assertThat(text(transport, 3)).isEqualTo("abc");
              assertThat(transport.read(new byte[10], 0, 10)).isEqualTo(-1);
              assertThat(transport.read(new byte[10], 0, 10)).isEqualTo(-1);
              if (protocol.equals("TLSv1.3")) { // there the end of one way is not that of the other
                transport.write(bytes("late"), 0, 4);
              } else {
                assertThatExceptionOfType(SSLException.class)
                    .isThrownBy(() -> transport.write(bytes("late"), 0, 4))
                    .withMessageContaining("it has ended the TLS session");
              }
            });
    SSLSocket socket = client(server, protocol);
    write(socket, bytes("abc"));
    socket.shutdownOutput();
    if (protocol.equals("TLSv1.3")) {
      assertThat(socket.getInputStream().readAllBytes()).isEqualTo(bytes("late"));
    }
    assertThat(server.end()).isEqualTo("served");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  @Feature("A2")
  void closeSendsACloseNotify(String protocol) throws Exception {
    Server server = server((transport, stream) -> transport.write(bytes("abc"), 0, 3));
    SSLEngine engine = clientContext.createSSLEngine();
    engine.setEnabledProtocols(new String[] {protocol});
    TlsTransport client = weftClient(server, engine);
    client.handshake();
    assertThat(text(client, 3)).isEqualTo("abc");
    assertThat(client.read(new byte[1], 0, 1)).isEqualTo(-1);
    assertThat(engine.isInboundDone()).as("close_notify has come").isTrue();
    assertThat(server.end()).isEqualTo("served");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  @Feature("A2")
  void anEndWithoutCloseNotifyIsAnEndToo(String protocol) throws Exception {
    Server server =
        server(
            (transport, stream) -> {
              assertThat(text(transport, 3)).isEqualTo("abc");
              assertThat(transport.read(new byte[10], 0, 10)).isEqualTo(-1);
            });
    Socket raw = new Socket();
    SSLSocket socket = client(raw, server, protocol);
    write(socket, bytes("abc"));
    write(raw, new byte[] {23, 3, 3}); // and of the next record not even the head
    raw.shutdownOutput();
    assertThat(server.end()).isEqualTo("served");
  }

  @Test
  @Feature("A2")
  void aResetIsAFailure() throws Exception {
    Server server = echo();
    Socket raw = new Socket();
    SSLSocket socket = client(raw, server);
    assertEchoes(socket, 10);
    raw.setSoLinger(true, 0);
    raw.close();
    assertThat(server.end()).isInstanceOf(IOException.class);
    assertEchoes(client(server), 10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  @Feature("A2")
  void aForgedRecordIsRefusedWithAnAlert(String protocol) throws Exception {
    Server server = echo();
    Socket raw = new Socket();
    SSLSocket socket = client(raw, server, protocol);
    assertEchoes(socket, 10);
    byte[] forged = new byte[5 + 64];
    System.arraycopy(new byte[] {23, 3, 3, 0, 64}, 0, forged, 0, 5);
    write(raw, forged);
    assertThat(server.end()).isInstanceOf(SSLException.class);
    assertThatExceptionOfType(SSLException.class)
        .isThrownBy(() -> read(socket, 1))
        .withMessageContaining("bad_record_mac");
  }

  // ---- close, cancellation, timeouts ----

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  @Feature("A2")
  void closeFromElsewhereWakesWhoReads(String protocol) throws Exception {
    BlockingQueue<TlsTransport> transports = new LinkedBlockingQueue<>();
    Server server =
        server(
            (transport, stream) -> {
              Fiber<Integer> reader = scheduler.go(() -> transport.read(new byte[1], 0, 1));
              scheduler
                  .go(
                      () -> {
                        while (reader.status() != Fiber.Status.WAITING) {
                          Fiber.yield();
                        }
                        transport.close();
                        transport.close();
                      })
                  .join();
              assertThatExceptionOfType(CompletionException.class)
                  .isThrownBy(() -> reader.join(LIMIT))
                  .withCauseInstanceOf(ClosedChannelException.class);
              assertThatExceptionOfType(ClosedChannelException.class)
                  .isThrownBy(() -> transport.write(new byte[1], 0, 1));
              assertThatExceptionOfType(ClosedChannelException.class)
                  .isThrownBy(() -> transport.read(new byte[1], 0, 1));
              transports.add(transport);
            });
    SSLSocket socket = client(server, protocol);
    assertThat(socket.getInputStream().read()).isEqualTo(-1);
    assertThat(server.end()).isEqualTo("served");
    transports.take().close();
  }

  @Test
  @Feature("A2")
  void closeDoesNotWaitForWhoWrites() throws Exception {
    BlockingQueue<TlsTransport> transports = new LinkedBlockingQueue<>();
    BlockingQueue<Fiber<?>> fibers = new LinkedBlockingQueue<>();
    Server server =
        server(
            (transport, stream) -> {
              fibers.add(Fiber.current().orElseThrow());
              transports.add(transport);
              transport.write(new byte[50_000_000], 0, 50_000_000);
            });
    SSLSocket socket = client(server);
    socket.startHandshake(); // and reads nothing
    waits(fibers.take());
    transports.take().close(); // on this thread, which is no fiber
    assertThat(server.end()).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  @Feature("A2")
  void closeGivesUpIfThereIsNoRoomForItsLastWord() throws Exception {
    Server server =
        server(
            (transport, stream) -> {
              stream.writeTimeout(Duration.ofMillis(100));
              assertThatExceptionOfType(SocketTimeoutException.class)
                  .isThrownBy(() -> stream.write(new byte[50_000_000])); // past the transport
              transport.close();
              assertThat(stream.isOpen()).isFalse();
            });
    SSLSocket socket = client(server);
    socket.startHandshake();
    assertThat(server.end()).isEqualTo("served");
  }

  @Test
  @Feature("A2")
  void closeDuringTheHandshakeEndsIt() throws Exception {
    try (TcpListener listener =
            TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Socket raw = new Socket()) {
      raw.connect(listener.localAddress());
      TlsTransport transport = new TlsTransport(listener.accept(), serverEngine());
      Fiber<Void> fiber = scheduler.go(transport::handshake);
      waits(fiber);
      transport.close();
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(() -> fiber.join(LIMIT))
          .withCauseInstanceOf(ClosedChannelException.class);
    }
  }

  /** A socket that can stop in the middle of a record. */
  private static final class Stuttering extends Socket {
    final CountDownLatch halfSent = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    volatile boolean stutters;

    @Override
    public OutputStream getOutputStream() throws IOException {
      return new FilterOutputStream(super.getOutputStream()) {
        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
          if (!stutters) {
            out.write(bytes, offset, length);
            return;
          }
          out.write(bytes, offset, length / 2);
          halfSent.countDown();
          try {
            goOn.await();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          out.write(bytes, offset + length / 2, length - length / 2);
        }
      };
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 16_000})
  @Feature("A2")
  void aReadThatTimesOutInTheMiddleOfARecordLosesNothing(int length) throws Exception {
    Stuttering raw = new Stuttering();
    Server server =
        server(
            (transport, stream) -> {
              raw.halfSent.await();
              stream.readTimeout(Duration.ofMillis(30));
              for (int i = 0; i < 2; i++) {
                assertThatExceptionOfType(SocketTimeoutException.class)
                    .isThrownBy(() -> transport.read(new byte[10], 0, 10));
              }
              stream.readTimeout(Duration.ZERO);
              raw.goOn.countDown();
              echo(transport, new byte[8 * 1024]);
            });
    try (SSLSocket socket = client(raw, server)) {
      socket.startHandshake();
      raw.stutters = true;
      byte[] message = random(length);
      write(socket, message);
      raw.stutters = false;
      assertThat(read(socket, length)).isEqualTo(message);
    }
    assertThat(server.end()).isEqualTo("served");
  }

  @Test
  @Feature("A2")
  void afterAWriteThatWasCutShortNothingIsSent() throws Exception {
    Server server =
        server(
            (transport, stream) -> {
              stream.writeTimeout(Duration.ofMillis(50));
              byte[] large = new byte[50_000_000];
              assertThatExceptionOfType(SocketTimeoutException.class)
                  .isThrownBy(() -> transport.write(large, 0, large.length));
              assertThatExceptionOfType(IOException.class)
                  .isThrownBy(() -> transport.write(large, 0, 1))
                  .withMessageContaining("failed within a record");
            });
    SSLSocket socket = client(server);
    socket.startHandshake();
    assertThat(server.end()).isEqualTo("served");
    byte[] buffer = new byte[64 * 1024];
    InputStream in = socket.getInputStream();
    try {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        assertThat(Arrays.equals(buffer, 0, n, new byte[n], 0, n)).isTrue();
      }
    } catch (IOException e) {
      // the last record is not whole
    }
  }

  @Test
  @Feature("A2")
  void aCancelledReaderLeavesTheConnectionUsable() throws Exception {
    Server server =
        server(
            (transport, stream) -> {
              Fiber<Integer> reader =
                  scheduler.go(
                      () -> {
                        try {
                          return transport.read(new byte[1], 0, 1);
                        } catch (InterruptedIOException e) {
                          return 4711;
                        }
                      });
              while (reader.status() != Fiber.Status.WAITING) {
                Fiber.yield();
              }
              reader.cancel();
              while (reader.status() != Fiber.Status.DONE) {
                Fiber.yield();
              }
              transport.write(bytes("go"), 0, 2);
              echo(transport, new byte[100]);
            });
    try (SSLSocket socket = client(server)) {
      assertThat(read(socket, 2)).isEqualTo(bytes("go"));
      assertEchoes(socket, 1000);
    }
    assertThat(server.end()).isEqualTo("served");
  }

  // ---- certificates of clients ----

  private Object sessionWith(SSLContext clients, Consumer<HttpsParameters> choice)
      throws Exception {
    clientContext = clients;
    BlockingQueue<SSLSession> sessions = new LinkedBlockingQueue<>();
    Server server =
        new Server(
            configurator(serverContext, choice),
            (transport, stream) -> {
              sessions.add(transport.session());
              transport.write(bytes("welcome"), 0, 7);
            });
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    try (SSLSocket socket = client(server)) {
      socket.getInputStream().transferTo(answer);
    } catch (IOException e) {
      assertThat(server.end()).isInstanceOf(SSLException.class);
      return e;
    }
    assertThat(server.end()).isEqualTo("served");
    assertThat(answer.toString(StandardCharsets.UTF_8)).isEqualTo("welcome");
    return sessions.take();
  }

  private static Consumer<HttpsParameters> parameters(Consumer<SSLParameters> choice) {
    return parameters -> {
      SSLParameters chosen =
          parameters.getHttpsConfigurator().getSSLContext().getDefaultSSLParameters();
      choice.accept(chosen);
      parameters.setSSLParameters(chosen);
    };
  }

  @SuppressWarnings("deprecation") // the old setters have to work as well
  private static List<Consumer<HttpsParameters>> needingTheClientsCertificate() {
    return List.of(
        parameters(chosen -> chosen.setNeedClientAuth(true)),
        parameters -> parameters.setNeedClientAuth(true));
  }

  @SuppressWarnings("deprecation") // the old setters have to work as well
  private static List<Consumer<HttpsParameters>> wantingTheClientsCertificate() {
    return List.of(
        parameters(chosen -> chosen.setWantClientAuth(true)),
        parameters -> parameters.setWantClientAuth(true));
  }

  private static void assertKnown(Object session) throws Exception {
    assertThat(((SSLSession) session).getPeerPrincipal().getName()).isEqualTo("CN=127.0.0.1");
  }

  private static void assertUnknown(Object session) {
    assertThatExceptionOfType(SSLPeerUnverifiedException.class)
        .isThrownBy(((SSLSession) session)::getPeerPrincipal);
  }

  @Test
  @Feature("A2")
  void aNeededCertificateIsAskedForAndWithoutItThereIsNoConnection() throws Exception {
    for (Consumer<HttpsParameters> needing : needingTheClientsCertificate()) {
      assertKnown(sessionWith(Certificate.shared().owner(), needing));
      assertThat(sessionWith(Certificate.shared().stranger(), needing))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  @Feature("A2")
  void aWantedCertificateIsAskedForAndMayBeMissing() throws Exception {
    for (Consumer<HttpsParameters> wanting : wantingTheClientsCertificate()) {
      assertKnown(sessionWith(Certificate.shared().owner(), wanting));
      assertUnknown(sessionWith(Certificate.shared().stranger(), wanting));
    }
  }

  @Test
  @Feature("A2")
  void withoutAWishNobodyIsAsked() throws Exception {
    assertUnknown(sessionWith(Certificate.shared().owner(), parameters(chosen -> {})));
  }

  @Test
  @Feature("A2")
  void theAddressesAreThoseOfTheStream() throws Exception {
    BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
    Server server =
        server(
            (transport, stream) -> {
              seen.add(transport.localAddress());
              seen.add(transport.remoteAddress());
              seen.add(transport.session().isValid());
            });
    try (SSLSocket socket = client(server)) {
      socket.startHandshake();
      assertThat(seen.take()).isEqualTo(socket.getRemoteSocketAddress());
      assertThat(seen.take()).isEqualTo(socket.getLocalSocketAddress());
      assertThat(seen.take()).isEqualTo(true);
    }
    assertThat(server.end()).isEqualTo("served");
  }
}
