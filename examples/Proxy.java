import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A proxy between a client and a server: two fibers, each copies one direction. */
public class Proxy {
  static int copy(TcpStream from, TcpStream to) throws IOException {
    byte[] buffer = new byte[8192];
    int sum = 0;
    for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
      to.write(buffer, 0, n);
      sum += n;
    }
    to.shutdownOutput(); // passes on the end of the stream
    return sum;
  }

  public static void main(String[] args) {
    Weft.run(
        () -> {
          var free = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
          try (TcpListener server = TcpListener.bind(free);
              TcpListener proxy = TcpListener.bind(free)) {
            Weft.go(() -> answer(server.accept()));
            Fiber<Void> passing =
                Weft.go(
                    () -> {
                      try (TcpStream client = proxy.accept();
                          TcpStream target = TcpStream.connect(server.localAddress())) {
                        Fiber<Integer> there = Weft.go(() -> copy(client, target));
                        int back = copy(target, client);
                        System.out.println(there.join() + " bytes went there, " + back + " back");
                      }
                    });
            try (TcpStream stream = TcpStream.connect(proxy.localAddress())) {
              stream.write("what is the answer?".getBytes());
              stream.shutdownOutput();
              String answer = new String(stream.inputStream().readAllBytes());
              passing.join();
              System.out.println(answer);
            }
          }
        });
  }

  static void answer(TcpStream stream) throws IOException {
    try (stream) {
      int length = stream.inputStream().readAllBytes().length;
      stream.write(("42, to a question of " + length + " letters").getBytes());
    }
  }
}
