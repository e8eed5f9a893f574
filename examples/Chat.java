import dev.weft.*;
import dev.weft.net.*;

final Set<TcpStream> people = ConcurrentHashMap.newKeySet();

/** A chat server that sends each message to all other users. Then two users try it. */
void main() throws IOException {
  var free = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  try (TcpListener listener = TcpListener.bind(free);
      TcpStream ann = TcpStream.connect(listener.localAddress());
      TcpStream bob = TcpStream.connect(listener.localAddress())) {
    for (int i = 0; i < 2; i++) {
      TcpStream person = listener.accept();
      people.add(person);
      Weft.go(() -> welcome(person));
    }
    ann.write("Ann: is anybody there?\n".getBytes());
    IO.println(lines(bob).readLine());
    bob.write("Bob: I am\n".getBytes());
    IO.println(lines(ann).readLine());
  }
}

void welcome(TcpStream person) throws IOException {
  try (person) {
    BufferedReader lines = lines(person);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      for (TcpStream other : people) {
        if (other != person) {
          other.write((line + "\n").getBytes());
        }
      }
    }
  } finally {
    people.remove(person);
  }
}

BufferedReader lines(TcpStream stream) {
  return new BufferedReader(new InputStreamReader(stream.inputStream()));
}
