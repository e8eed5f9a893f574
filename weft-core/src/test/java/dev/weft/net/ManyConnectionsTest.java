package dev.weft.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.weft.Fiber;
import dev.weft.ForkedJvm;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server of one thread with 10,000 idle connections, and some active connections. */
@Timeout(60)
class ManyConnectionsTest {
  private static final int IDLE = 10_000;
  private static final int BUSY = 20;
  private static final int MESSAGES = 100;

  /** Opens the idle connections, in a separate process, and holds them until its input ends. */
  static final class Clients {
    public static void main(String[] args) throws Exception {
      List<SocketChannel> held = new ArrayList<>();
      for (int i = 0; i < IDLE; i++) {
        held.add(
            SocketChannel.open(
                new InetSocketAddress(
                    InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]))));
      }
      System.out.println(held.size() + " connected");
      System.in.read();
    }
  }

  @Test
  @Feature("N6")
  void tenThousandIdleConnectionsDoNotHinderTheOthers() throws Exception {
    long limit =
        ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getMaxFileDescriptorCount();
    assumeTrue(
        limit > IDLE + 1_000,
        "needs " + (IDLE + 1_000) + " descriptors, the limit is " + limit + ": see ulimit -Hn");
    AtomicInteger accepted = new AtomicInteger();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start();
        TcpListener listener =
            TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      Fiber<Void> server = scheduler.go(() -> serve(listener, accepted));
      Process clients =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-cp",
                  ForkedJvm.classPathOf(Clients.class),
                  Clients.class.getName(),
                  String.valueOf(((InetSocketAddress) listener.localAddress()).getPort()))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      try (BufferedReader output = clients.inputReader()) {
        assertThat(output.readLine()).isEqualTo(IDLE + " connected");
        List<Fiber<Integer>> talkers = new ArrayList<>();
        for (int i = 0; i < BUSY; i++) {
          talkers.add(scheduler.go(() -> talk(listener)));
        }
        for (Fiber<Integer> talker : talkers) {
          assertThat(talker.join()).isEqualTo(MESSAGES);
        }
        assertThat(accepted).hasValue(IDLE + BUSY);
        assertThat(scheduler.stats().waiting()).isGreaterThanOrEqualTo(IDLE);
      } finally {
        clients.outputWriter().close();
        clients.waitFor();
      }
      server.cancel();
    }
  }

  private static void serve(TcpListener listener, AtomicInteger accepted) throws Exception {
    while (true) {
      TcpStream stream = listener.accept();
      accepted.incrementAndGet();
      Fiber.current()
          .orElseThrow()
          .scheduler()
          .go(
              () -> {
                try (stream) {
                  stream.inputStream().transferTo(stream.outputStream());
                }
              });
    }
  }

  private static int talk(TcpListener listener) throws Exception {
    byte[] bytes = new byte[64];
    int answered = 0;
    try (TcpStream stream = TcpStream.connect(listener.localAddress(), Duration.ofSeconds(30))) {
      for (int i = 0; i < MESSAGES; i++) {
        stream.write(bytes, 0, bytes.length);
        answered += stream.inputStream().readNBytes(bytes.length).length == bytes.length ? 1 : 0;
      }
    }
    return answered;
  }
}
