import dev.weft.*;
import dev.weft.net.*;

/** An echo server and its clients: straight code, and no thread blocks on a socket. */
void main() throws Exception {
  TcpListener listener = TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  Fiber<?> server = Weft.go(() -> serve(listener));

  for (String word : List.of("to", "and", "fro")) {
    try (TcpStream stream = TcpStream.connect(listener.localAddress(), Duration.ofSeconds(5))) {
      stream.write(word.getBytes());
      stream.shutdownOutput();
      IO.println(new String(stream.inputStream().readAllBytes()));
    }
  }
  listener.close();
  server.join();
}

void serve(TcpListener listener) throws IOException {
  try {
    while (true) {
      TcpStream stream = listener.accept();
      Weft.go(() -> {
        try (stream) {
          stream.inputStream().transferTo(stream.outputStream());
        }
      });
    }
  } catch (ClosedChannelException e) {
    IO.println("closed");
  }
}
