import dev.weft.*;
import dev.weft.net.*;

/** Checks many ports of this machine at once, a fiber for each, and finds the three it opened. */
void main() throws Exception {
  InetAddress here = InetAddress.getLoopbackAddress();
  List<TcpListener> open = new ArrayList<>();
  List<Fiber<Boolean>> looks = new ArrayList<>();
  for (int i = 0; i < 3; i++) {
    TcpListener listener = TcpListener.bind(new InetSocketAddress(here, 0));
    open.add(listener);
    SocketAddress address = listener.localAddress();
    looks.add(Weft.go(() -> isOpen(address)));
  }
  for (int port = 1; port <= 9; port++) { // no server listens there
    SocketAddress address = new InetSocketAddress(here, port);
    looks.add(Weft.go(() -> isOpen(address)));
  }
  int found = 0;
  for (Fiber<Boolean> look : looks) {
    found += look.join() ? 1 : 0;
  }
  IO.println(found + " of " + looks.size() + " ports are open");
  open.forEach(TcpListener::close);
}

boolean isOpen(SocketAddress address) throws IOException {
  try (TcpStream stream = TcpStream.connect(address, Duration.ofSeconds(5))) {
    return stream.isOpen();
  } catch (ConnectException e) {
    return false;
  }
}
