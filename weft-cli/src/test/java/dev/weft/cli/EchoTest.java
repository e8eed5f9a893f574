package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ./weft echo}, as a process of its own. */
@Feature("A1")
class EchoTest {
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  /** A running server. */
  private record Server(Process process, int port) implements AutoCloseable {
    static Server start(String... options) throws IOException {
      List<String> words = new ArrayList<>(List.of("echo", "--port", "0"));
      words.addAll(List.of(options));
      Process process = Script.weft(words.toArray(new String[0])).start();
      BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
      String line = out.readLine();
      Matcher port = Pattern.compile("echo: (?:TCP|UDP) port (\\d+) at \\S+").matcher(line);
      assertThat(port.matches()).as(line).isTrue();
      return new Server(process, Integer.parseInt(port.group(1)));
    }

    @Override
    public void close() {
      process.destroy();
    }
  }

  private static void assertEchoes(int port, String text) throws IOException {
    try (Socket socket = new Socket(LOOPBACK, port)) {
      socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      socket.shutdownOutput();
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .isEqualTo(text);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"--poller=epoll", "--poller=nio", "--reuse-port"})
  void tcp(String option) throws Exception {
    try (Server server = Server.start("--threads", "2", option)) {
      for (int i = 0; i < 5; i++) {
        assertEchoes(server.port(), "message " + i + " ".repeat(20_000));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"epoll", "nio"})
  void udp(String poller) throws Exception {
    try (Server server = Server.start("--udp", "--poller", poller);
        DatagramSocket socket = new DatagramSocket()) {
      socket.setSoTimeout(10_000);
      for (String text : List.of("one", "two")) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        socket.send(new DatagramPacket(bytes, bytes.length, LOOPBACK, server.port()));
        DatagramPacket answer = new DatagramPacket(new byte[100], 100);
        socket.receive(answer);
        assertThat(new String(answer.getData(), 0, answer.getLength(), StandardCharsets.UTF_8))
            .isEqualTo(text);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"--threads=2", "--reuse-port"})
  void otherMachinesReachTheServerOnlyWithAnOption(String option) throws Exception {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "127.0.0.2 is Linux's");
    InetAddress other = InetAddress.getByName("127.0.0.2"); // not the address of localhost
    try (Server server = Server.start(option)) {
      assertEchoes(server.port(), "loopback");
      assertThatThrownBy(() -> new Socket(other, server.port()).close())
          .isInstanceOf(ConnectException.class);
    }
    try (Server server = Server.start(option, "--bind", "0.0.0.0")) {
      assertEchoes(server.port(), "loopback");
      new Socket(other, server.port()).close();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --port,70000    | port must be a number from 0 to 65535, not 70000
          --port,x        | port must be a number from 0 to 65535, not x
          --threads,0     | threads must be a number from 1 to 10000, not 0
          --poller,kqueue | poller must be epoll or nio, not kqueue
          --bind,[x]      | bind must be an address of this machine, as localhost or 0.0.0.0, not [x]
          --port          | option --port needs a value; usage: ./weft echo
          --fast          | unknown option --fast; usage: ./weft echo
          now             | unknown option now; usage: ./weft echo
          """)
  void badUsageIsOneLineAndStatus2(String arguments, String message) throws Exception {
    List<String> words = new ArrayList<>(List.of("echo"));
    words.addAll(List.of(arguments.split(",", -1)));
    Command.Result result = Script.weft(words.toArray(new String[0])).run();
    assertThat(result.exitStatus()).isEqualTo(2);
    assertThat(result.stdout()).isEmpty();
    assertThat(result.stderr()).startsWith("weft: " + message).hasLineCount(1);
  }

  @Test
  void aPortInUseIsOneLineAndStatus1() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      Command.Result result =
          Script.weft("echo", "--port", String.valueOf(taken.getLocalPort())).run();
      assertThat(result.exitStatus()).isEqualTo(1);
      assertThat(result.stderr())
          .startsWith("weft: cannot bind to")
          .contains(String.valueOf(taken.getLocalPort()))
          .hasLineCount(1);
    }
  }
}
