package dev.weft.proof;

import static dev.weft.proof.OneThread.FIBERS;
import static dev.weft.proof.OneThread.join;
import static dev.weft.proof.OneThread.joinAll;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Weft;
import dev.weft.testkit.Certificate;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JDK's sockets, both sides on the same thread. */
@Feature("H8")
class SocketTest {
  private static Certificate certificate;

  @BeforeAll
  static void create() throws Exception {
    certificate = Certificate.shared();
  }

  private static ServerSocket listen(boolean tls) throws IOException {
    ServerSocketFactory factory =
        tls ? certificate.context().getServerSocketFactory() : ServerSocketFactory.getDefault();
    return factory.createServerSocket(0, FIBERS, InetAddress.getLoopbackAddress());
  }

  private static Socket connect(boolean tls, ServerSocket listener) throws IOException {
    SocketFactory factory =
        tls ? certificate.context().getSocketFactory() : SocketFactory.getDefault();
    return factory.createSocket(listener.getInetAddress(), listener.getLocalPort());
  }

  /** Accepts until the listener is closed; each connection has a fiber. */
  private static int serve(ServerSocket listener, Gate gate) throws IOException {
    int accepted = 0;
    while (true) {
      Socket socket;
      try {
        socket = listener.accept();
      } catch (SocketException e) {
        return accepted;
      }
      accepted++;
      Weft.go(() -> answer(socket, gate));
    }
  }

  /** Echoes lines; the first line waits at the gate. */
  private static void answer(Socket socket, Gate gate) throws Exception {
    try (socket;
        BufferedReader in = reader(socket);
        PrintWriter out = writer(socket)) {
      String first = in.readLine();
      gate.pass();
      for (String line = first; line != null; line = in.readLine()) {
        out.println("echo " + line);
      }
    }
  }

  private static BufferedReader reader(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  private static PrintWriter writer(Socket socket) throws IOException {
    return new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  @ParameterizedTest(name = "TLS: {0}")
  @ValueSource(booleans = {false, true})
  void fibersOnBothSides(boolean tls) throws Exception {
    try (OneThread one = new OneThread()) {
      Gate gate = new Gate();
      ServerSocket listener = listen(tls);
      Fiber<Integer> server = one.go(() -> serve(listener, gate));
      try (listener) {
        List<Fiber<String>> clients =
            one.goAll(
                FIBERS,
                i -> {
                  try (Socket socket = connect(tls, listener);
                      BufferedReader in = reader(socket);
                      PrintWriter out = writer(socket)) {
                    StringBuilder answers = new StringBuilder();
                    for (int round = 0; round < 5; round++) {
                      out.println(i + "." + round);
                      answers.append(in.readLine()).append('\n');
                    }
                    return answers.toString();
                  }
                });
        one.eventually("the server has heard from all", () -> gate.arrived() == FIBERS);
        one.hasFreeThread();
        gate.open();
        assertThat(joinAll(clients))
            .isEqualTo(
                range(0, FIBERS)
                    .mapToObj(
                        i ->
                            "echo %d.0\necho %<d.1\necho %<d.2\necho %<d.3\necho %<d.4\n"
                                .formatted(i))
                    .toList());
      }
      assertThat(join(server)).isEqualTo(FIBERS);
    }
  }

  @Test
  void readAndConnectTimeouts() throws Exception {
    try (OneThread one = new OneThread();
        ServerSocket silent = listen(false)) { // the system connects, no server answers
      List<Fiber<String>> fibers =
          one.goAll(
              FIBERS / 2, // each connection waits in the backlog
              i -> {
                try (Socket socket = new Socket()) {
                  socket.connect(silent.getLocalSocketAddress(), 10_000);
                  socket.setSoTimeout(100);
                  return "read " + socket.getInputStream().read();
                } catch (SocketTimeoutException e) {
                  return e.getMessage();
                }
              });
      assertThat(joinAll(fibers)).containsOnly("Read timed out");
    }
  }

  /**
   * The server answers none until all questions have arrived. Packets may get lost: a client
   * without an answer asks again.
   */
  @Test
  void datagrams() throws Exception {
    try (OneThread one = new OneThread();
        DatagramSocket socket =
            new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      Gate gate = new Gate();
      Fiber<Integer> server =
          one.go(
              () -> {
                Map<String, DatagramPacket> asked = new HashMap<>();
                while (asked.size() < FIBERS) {
                  DatagramPacket question = new DatagramPacket(new byte[100], 100);
                  socket.receive(question);
                  asked.put(text(question), question);
                }
                gate.pass();
                for (DatagramPacket question : asked.values()) {
                  socket.send(packet("echo " + text(question), question.getSocketAddress()));
                }
                return asked.size();
              });
      List<Fiber<String>> clients =
          one.goAll(
              FIBERS,
              i -> {
                try (DatagramSocket client = new DatagramSocket()) {
                  client.setSoTimeout(500);
                  Optional<String> answer = Optional.empty();
                  while (answer.isEmpty()) {
                    client.send(packet("" + i, socket.getLocalSocketAddress()));
                    answer = receive(client);
                  }
                  return answer.get();
                }
              });
      one.eventually("the server has heard from all", () -> gate.arrived() == 1);
      one.hasFreeThread();
      gate.open();
      assertThat(join(server)).isEqualTo(FIBERS);
      assertThat(joinAll(clients)).isEqualTo(range(0, FIBERS).mapToObj(i -> "echo " + i).toList());
    }
  }

  private static Optional<String> receive(DatagramSocket socket) throws IOException {
    DatagramPacket packet = new DatagramPacket(new byte[100], 100);
    try {
      socket.receive(packet);
      return Optional.of(text(packet));
    } catch (SocketTimeoutException e) {
      return Optional.empty();
    }
  }

  private static DatagramPacket packet(String text, SocketAddress to) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new DatagramPacket(bytes, bytes.length, to);
  }

  private static String text(DatagramPacket packet) {
    return new String(
        packet.getData(), packet.getOffset(), packet.getLength(), StandardCharsets.UTF_8);
  }
}
