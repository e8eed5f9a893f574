import dev.weft.Weft;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;

/** An echo server and its clients: straight code, and no thread blocks on a socket. */
public class Echo {
  public static void main(String[] args) {
    Weft.run(
        () -> {
          var free = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
          TcpListener listener = TcpListener.bind(free);
          Weft.go(() -> serve(listener));

          for (String word : new String[] {"to", "and", "fro"}) {
            try (TcpStream stream =
                TcpStream.connect(listener.localAddress(), Duration.ofSeconds(5))) {
              stream.write(word.getBytes());
              stream.shutdownOutput();
              System.out.println(new String(stream.inputStream().readAllBytes()));
            }
          }
          listener.close();
        });
  }

  static void serve(TcpListener listener) throws Exception {
    try {
      while (true) {
        TcpStream stream = listener.accept();
        Weft.go(
            () -> {
              try (stream) {
                stream.inputStream().transferTo(stream.outputStream());
              }
            });
      }
    } catch (ClosedChannelException e) {
      System.out.println("closed");
    }
  }
}
