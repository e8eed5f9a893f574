import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A chat server in 40 lines: it sends each message to all other users. Then two users try it. */
public class Chat {
  static final Set<TcpStream> PEOPLE = ConcurrentHashMap.newKeySet();

  static void welcome(TcpStream person) throws IOException {
    PEOPLE.add(person);
    try (person) {
      BufferedReader lines = lines(person);
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        for (TcpStream other : PEOPLE) {
          if (other != person) {
            other.write((line + "\n").getBytes());
          }
        }
      }
    } finally {
      PEOPLE.remove(person);
    }
  }

  static BufferedReader lines(TcpStream stream) {
    return new BufferedReader(new InputStreamReader(stream.inputStream()));
  }

  public static void main(String[] args) {
    Weft.run(
        () -> {
          var free = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
          try (TcpListener listener = TcpListener.bind(free);
              TcpStream ann = TcpStream.connect(listener.localAddress());
              TcpStream bob = TcpStream.connect(listener.localAddress())) {
            for (int i = 0; i < 2; i++) {
              TcpStream person = listener.accept();
              Weft.go(() -> welcome(person));
            }
            while (PEOPLE.size() < 2) {
              Fiber.yield();
            }
            ann.write("Ann: is anybody there?\n".getBytes());
            System.out.println(lines(bob).readLine());
            bob.write("Bob: I am\n".getBytes());
            System.out.println(lines(ann).readLine());
          }
        });
  }
}
