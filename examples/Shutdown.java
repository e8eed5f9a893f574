import dev.weft.*;
import dev.weft.net.*;

/**
 * Ends gracefully: on SIGTERM, Ctrl-C or System.exit the server accepts no more connections and
 * answers the requests under way, for ten seconds at most; then it cancels the rest.
 */
void main() throws Exception {
  Scheduler scheduler = Scheduler.builder().name("server").build().start();
  TcpListener listener = TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  scheduler.go(() -> serve(listener));
  Runtime.getRuntime().addShutdownHook(new Thread(() -> {
    IO.println("no more connections");
    listener.close();
    boolean all = scheduler.stop(Duration.ofSeconds(10));
    IO.println(all ? "all requests are answered" : "gave up on some requests");
  }));

  var begun = new CountDownLatch(1);
  scheduler.go(() -> ask(listener.localAddress(), begun)); // stop() waits for this fiber, too
  begun.await();
  System.exit(0); // what SIGTERM does, in the middle of the request
}

void ask(SocketAddress server, CountDownLatch begun) throws IOException {
  try (TcpStream client = TcpStream.connect(server)) {
    client.write("how are you?\n".getBytes());
    IO.println(readLine(client));
    begun.countDown();
    IO.println(readLine(client));
  }
}

void serve(TcpListener listener) throws IOException {
  try {
    while (true) {
      TcpStream stream = listener.accept();
      Weft.go(() -> answer(stream)); // on the scheduler of the calling fiber, which stop() drains
    }
  } catch (ClosedChannelException e) {
    // the end
  }
}

void answer(TcpStream stream) throws Exception {
  try (stream) {
    readLine(stream);
    stream.write("let me think\n".getBytes());
    Fiber.sleep(Duration.ofMillis(500));
    stream.write("fine\n".getBytes());
  }
}

String readLine(TcpStream stream) throws IOException {
  var line = new StringBuilder();
  for (int c = stream.inputStream().read(); c >= 0 && c != '\n'; c = stream.inputStream().read()) {
    line.append((char) c);
  }
  return line.toString();
}
