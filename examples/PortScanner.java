import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Checks many ports of this machine at once, a fiber for each, and finds the three it opened. */
public class PortScanner {
  public static void main(String[] args) {
    Weft.run(
        () -> {
          InetAddress here = InetAddress.getLoopbackAddress();
          List<TcpListener> open = new ArrayList<>();
          List<Fiber<Boolean>> looks = new ArrayList<>();
          for (int i = 0; i < 3; i++) {
            TcpListener listener = TcpListener.bind(new InetSocketAddress(here, 0));
            open.add(listener);
            int port = ((InetSocketAddress) listener.localAddress()).getPort();
            looks.add(Weft.go(() -> isOpen(new InetSocketAddress(here, port))));
          }
          for (int port = 1; port <= 9; port++) { // no server listens there
            var address = new InetSocketAddress(here, port);
            looks.add(Weft.go(() -> isOpen(address)));
          }
          int found = 0;
          for (Fiber<Boolean> look : looks) {
            found += look.join() ? 1 : 0;
          }
          System.out.println(found + " of " + looks.size() + " ports are open");
          open.forEach(TcpListener::close);
        });
  }

  static boolean isOpen(InetSocketAddress address) throws IOException {
    try (TcpStream stream = TcpStream.connect(address, Duration.ofSeconds(5))) {
      return stream.isOpen();
    } catch (ConnectException e) {
      return false;
    }
  }
}
