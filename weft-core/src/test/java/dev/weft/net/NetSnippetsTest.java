package dev.weft.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Weft;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The snippets of the Javadoc of sockets: compiled, run and checked here. */
class NetSnippetsTest {
  private static final InetSocketAddress ANY_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  // @start region="server"
  static void serve(TcpListener listener) throws Exception {
    while (true) {
      TcpStream stream = listener.accept(); // blocks no thread
      Weft.go(
          () -> {
            try (stream) {
              stream.inputStream().transferTo(stream.outputStream());
            }
          });
    }
  }

  // @end

  @Test
  void clientAndServer() {
    Weft.run(
        () -> {
          TcpListener listener = TcpListener.bind(ANY_PORT);
          Fiber<Void> server =
              Weft.go(
                  () -> {
                    try {
                      serve(listener);
                    } catch (ClosedChannelException e) {
                      // the end of the test
                    }
                  });
          SocketAddress address = listener.localAddress();
          // @start region="client"
          try (TcpStream stream = TcpStream.connect(address, Duration.ofSeconds(5))) {
            stream.readTimeout(Duration.ofSeconds(5));
            stream.write("hello".getBytes(StandardCharsets.UTF_8));
            stream.shutdownOutput();
            String answer =
                new String(stream.inputStream().readAllBytes(), StandardCharsets.UTF_8); // hello
            // @end
            assertThat(answer).isEqualTo("hello");
          }
          listener.close();
          server.join();
        });
  }

  @Test
  void udp() throws Exception {
    // @start region="udp"
    try (UdpSocket server = UdpSocket.bind(ANY_PORT);
        UdpSocket client = UdpSocket.bind(ANY_PORT)) {
      client.send(ByteBuffer.wrap(new byte[] {42}), server.localAddress());
      ByteBuffer datagram = ByteBuffer.allocate(1500);
      SocketAddress sender = server.receive(datagram); // the client's address
      // @end
      assertThat(sender).isEqualTo(client.localAddress());
      assertThat(datagram.position()).isEqualTo(1);
    }
  }
}
