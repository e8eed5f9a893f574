import dev.weft.*;
import dev.weft.net.*;

/** A UDP server that answers each datagram, and clients that ask at the same time. */
void main() throws Exception {
  var free = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  try (UdpSocket server = UdpSocket.bind(free)) {
    Weft.go(() -> serve(server));
    List<Fiber<String>> answers = new ArrayList<>();
    for (String word : List.of("warp", "weft", "loom")) {
      answers.add(Weft.go(() -> ask(word, server.localAddress())));
    }
    for (Fiber<String> answer : answers) {
      IO.println(answer.join());
    }
  } // the close ends the server's fiber
}

void serve(UdpSocket socket) throws IOException {
  ByteBuffer buffer = ByteBuffer.allocate(1_500);
  try {
    while (true) {
      buffer.clear();
      SocketAddress client = socket.receive(buffer);
      String word = StandardCharsets.UTF_8.decode(buffer.flip()).toString();
      socket.send(ByteBuffer.wrap((word + " has " + word.length() + " letters").getBytes()), client);
    }
  } catch (ClosedChannelException e) {
    // the end
  }
}

String ask(String word, SocketAddress server) throws IOException {
  ByteBuffer buffer = ByteBuffer.allocate(1_500);
  try (UdpSocket socket = UdpSocket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
    socket.receiveTimeout(Duration.ofSeconds(10)); // datagrams may get lost
    socket.send(ByteBuffer.wrap(word.getBytes()), server);
    socket.receive(buffer);
    return StandardCharsets.UTF_8.decode(buffer.flip()).toString();
  }
}
