package dev.weft.bench.echo;

import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;

/** A fiber for each connection, in blocking style. */
final class WeftServer implements EchoServer {
  private final boolean listenerOfEachThread;

  /**
   * Creates one.
   *
   * @param listenerOfEachThread whether the system deals connections to a listener of each thread,
   *     by {@code SO_REUSEPORT}, or one fiber accepts and deals them
   */
  WeftServer(boolean listenerOfEachThread) {
    this.listenerOfEachThread = listenerOfEachThread;
  }

  @Override
  public void start(int threads, int buffer) throws IOException {
    Scheduler scheduler = Scheduler.builder().name("echo").threads(threads).build().start();
    serve(scheduler, listenerOfEachThread ? threads : 1, listenerOfEachThread, buffer);
  }

  /** Serves on a scheduler, with so many listeners, and tells the port. */
  static void serve(Scheduler scheduler, int listeners, boolean listenerOfEachThread, int buffer)
      throws IOException {
    int port = 0;
    for (int i = 0; i < listeners; i++) {
      TcpListener listener = listen(port, listenerOfEachThread);
      port = ((InetSocketAddress) listener.localAddress()).getPort();
      FiberOptions anywhere = FiberOptions.named("echo");
      FiberOptions place = listenerOfEachThread ? anywhere.onThread(i) : anywhere;
      scheduler.go(
          place,
          () -> {
            while (true) {
              TcpStream stream = listener.accept();
              scheduler.go(place, () -> echo(stream, buffer));
            }
          });
    }
    EchoServer.tellPort(port);
  }

  private static TcpListener listen(int port, boolean listenerOfEachThread) throws IOException {
    return TcpListener.builder()
        .backlog(BACKLOG)
        .option(StandardSocketOptions.SO_REUSEPORT, listenerOfEachThread)
        .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  private static void echo(TcpStream stream, int size) {
    try (stream) {
      stream.option(StandardSocketOptions.TCP_NODELAY, true);
      byte[] buffer = new byte[size];
      for (int n = stream.read(buffer); n >= 0; n = stream.read(buffer)) {
        stream.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // the other side has hung up
    }
  }
}
