package dev.weft.im;

import dev.weft.FiberOptions;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.RejectedExecutionException;

/** Where clients connect by TCP: one fiber accepts, and each connection has one of its own. */
final class LineEndpoint implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");

  private final Node node;
  private final TcpListener listener;
  private final InetSocketAddress address;

  LineEndpoint(Node node, InetSocketAddress at) throws IOException {
    this.node = node;
    this.listener = TcpListener.bind(at);
    this.address = (InetSocketAddress) listener.localAddress();
  }

  void start() {
    node.scheduler().go(FiberOptions.named("im-acceptor"), this::acceptAll);
  }

  InetSocketAddress address() {
    return address;
  }

  private void acceptAll() {
    while (true) {
      try {
        begin(listener.accept());
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException e) {
        LOG.log(Level.WARNING, "cannot accept a connection", e);
      } catch (RejectedExecutionException e) {
        return; // the scheduler stops
      }
    }
  }

  private void begin(TcpStream stream) {
    try {
      stream.option(StandardSocketOptions.TCP_NODELAY, true);
      stream.option(StandardSocketOptions.SO_KEEPALIVE, true); // so dead clients are noticed
      Session session = new Session(node, new LineWire(stream));
      node.scheduler().go(FiberOptions.named("im-connection"), session::run);
    } catch (IOException e) {
      stream.close(); // it is gone already
    } catch (RejectedExecutionException e) {
      stream.close();
      throw e;
    }
  }

  @Override
  public void close() {
    listener.close();
  }
}
