package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** Where clients connect by TCP: one fiber accepts, and each connection has one of its own. */
final class LineEndpoint implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");
  private static final int BACKLOG = 1024;

  /** How long it pauses after a failure, as for want of file descriptors. */
  private static final Duration AFTER_FAILURE = Duration.ofMillis(100);

  /** After so many connections it pauses: a crowd that comes at once must not delay the others. */
  private static final int CROWD = 16;

  private static final Duration BETWEEN_CROWDS = Duration.ofMillis(1);

  /** Waits for the next connection. */
  private interface Acceptor {
    Wire accept() throws IOException;
  }

  /**
   * Bytes that the system keeps for a client. It would take megabytes for a client that does not
   * read, outside all limits of this server, and so many that the client is noticed late.
   */
  private static final int SEND_BUFFER = 128 << 10;

  private final Node node;
  private final Acceptor acceptor;
  private final AutoCloseable listener;
  private final InetSocketAddress address;
  private volatile boolean closed;
  private boolean troubled;

  LineEndpoint(Node node, InetSocketAddress at, @Nullable Tls tls) throws IOException {
    this.node = node;
    if (tls == null) {
      TcpListener plain = TcpListener.builder().backlog(BACKLOG).bind(at);
      this.address = (InetSocketAddress) plain.localAddress();
      this.listener = plain;
      this.acceptor = () -> plainWire(plain.accept());
    } else {
      ServerSocket socket = new ServerSocket();
      socket.bind(at, BACKLOG);
      this.address = (InetSocketAddress) socket.getLocalSocketAddress();
      this.listener = socket;
      SSLSocketFactory factory = tls.context().getSocketFactory();
      this.acceptor = () -> encryptedWire(socket.accept(), factory);
    }
  }

  void start() {
    node.scheduler().go(FiberOptions.named("im-acceptor"), this::acceptAll);
  }

  InetSocketAddress address() {
    return address;
  }

  private void acceptAll() throws InterruptedException {
    for (int accepted = 1; !closed; accepted++) {
      try {
        begin(acceptor.accept());
        troubled = false;
        if (accepted % CROWD == 0) {
          Fiber.sleep(BETWEEN_CROWDS);
        }
      } catch (IOException e) {
        if (!closed) {
          if (!troubled) {
            LOG.log(Level.WARNING, "cannot accept a connection; told once", e);
          }
          troubled = true;
          Fiber.sleep(AFTER_FAILURE);
        }
      } catch (RejectedExecutionException e) {
        return; // the scheduler stops
      }
    }
  }

  private void begin(Wire wire) {
    try {
      node.scheduler().go(FiberOptions.named("im-connection"), new Session(node, wire)::run);
    } catch (RejectedExecutionException e) {
      wire.close();
      throw e;
    }
  }

  private static Wire plainWire(TcpStream stream) throws IOException {
    try {
      stream.option(StandardSocketOptions.TCP_NODELAY, true);
      stream.option(StandardSocketOptions.SO_KEEPALIVE, true); // so dead clients are noticed
      stream.option(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER);
      return new LineWire(ByteStream.plain(stream), Place.of(stream.remoteAddress()));
    } catch (IOException e) {
      stream.close(); // it is gone already
      throw e;
    }
  }

  private static Wire encryptedWire(Socket socket, SSLSocketFactory factory) throws IOException {
    try {
      socket.setTcpNoDelay(true);
      socket.setKeepAlive(true);
      socket.setSendBufferSize(SEND_BUFFER);
      String place = Place.of(socket.getRemoteSocketAddress());
      return new LineWire(ByteStream.encrypted(socket, factory), place);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      listener.close();
    } catch (Exception e) {
      LOG.log(Level.DEBUG, "cannot close the port " + address, e);
    }
  }
}
