import dev.weft.*;
import dev.weft.net.*;

/** A proxy between a client and a server: two fibers, each copies one direction. */
void main() throws Exception {
  var free = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  try (TcpListener server = TcpListener.bind(free);
      TcpListener proxy = TcpListener.bind(free)) {
    Weft.go(() -> answer(server.accept()));
    Fiber<?> passing = Weft.go(() -> pass(proxy.accept(), server.localAddress()));
    try (TcpStream stream = TcpStream.connect(proxy.localAddress())) {
      stream.write("what is the answer?".getBytes());
      stream.shutdownOutput();
      String answer = new String(stream.inputStream().readAllBytes());
      passing.join();
      IO.println(answer);
    }
  }
}

void pass(TcpStream client, SocketAddress server) throws Exception {
  try (client;
      TcpStream target = TcpStream.connect(server)) {
    Fiber<Integer> there = Weft.go(() -> copy(client, target));
    int back = copy(target, client);
    IO.println(there.join() + " bytes went there, " + back + " back");
  }
}

int copy(TcpStream from, TcpStream to) throws IOException {
  byte[] buffer = new byte[8192];
  int sum = 0;
  for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
    to.write(buffer, 0, n);
    sum += n;
  }
  to.shutdownOutput(); // passes on the end of the stream
  return sum;
}

void answer(TcpStream stream) throws IOException {
  try (stream) {
    int length = stream.inputStream().readAllBytes().length;
    stream.write(("42, to a question of " + length + " letters").getBytes());
  }
}
