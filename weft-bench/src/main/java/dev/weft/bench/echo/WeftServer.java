package dev.weft.bench.echo;

import dev.weft.Scheduler;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;

/** A fiber for each connection, in blocking style. */
final class WeftServer implements EchoServer {
  @Override
  public void start(int threads, int buffer) throws IOException {
    Scheduler scheduler = Scheduler.builder().name("echo").threads(threads).build().start();
    TcpListener listener =
        TcpListener.builder()
            .backlog(BACKLOG)
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    scheduler.go(
        () -> {
          while (true) {
            TcpStream stream = listener.accept();
            scheduler.go(() -> echo(stream, buffer));
          }
        });
    ServerMain.tellPort(((InetSocketAddress) listener.localAddress()).getPort());
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
