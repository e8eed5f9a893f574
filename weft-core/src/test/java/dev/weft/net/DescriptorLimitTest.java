package dev.weft.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.internal.poller.Poller;
import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that runs out of descriptors, in a separate process with a low limit. */
class DescriptorLimitTest {
  /** Takes all descriptors, lets a client connect, and releases some. */
  static final class Program {
    public static void main(String[] args) {
      try {
        run();
      } catch (Throwable e) {
        e.printStackTrace(System.out);
        System.exit(1); // not later, when the fibers have ended
      }
    }

    private static void run() throws Exception {
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      Scheduler scheduler = Scheduler.builder().threads(1).build().start();
      TcpListener listener =
          TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Socket client = new Socket();
      new Socket().close(); // loads the classes
      Fiber<TcpStream> warmUp = scheduler.go(() -> listener.accept());
      new Socket(InetAddress.getLoopbackAddress(), port(listener)).close();
      warmUp.join().close();
      cpu(scheduler, threads); // loads the classes, too

      client.bind(null); // gets its descriptor before none is left
      List<AutoCloseable> taken = new ArrayList<>();
      try {
        while (true) {
          taken.add(DatagramChannel.open());
        }
      } catch (IOException e) {
        System.out.println("none left");
      }
      Fiber<TcpStream> accept = scheduler.go(() -> listener.accept());
      client.connect(listener.localAddress());
      while (accept.status() != Fiber.Status.WAITING) {
        Thread.onSpinWait();
      }
      long cpu = cpu(scheduler, threads);
      Thread.sleep(500); // the measured time
      System.out.println(cpu(scheduler, threads) - cpu < 100_000_000 ? "no spin" : "it spins");
      for (AutoCloseable one : taken) {
        one.close();
      }
      try (TcpStream accepted = accept.join(Duration.ofSeconds(10))) {
        System.out.println(
            accepted.remoteAddress().equals(client.getLocalSocketAddress())
                ? "accepted"
                : "another one");
      }
      client.close();
      listener.close();
      scheduler.stop();
    }

    private static int port(TcpListener listener) throws IOException {
      return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    private static long cpu(Scheduler scheduler, ThreadMXBean threads) {
      return Thread.getAllStackTraces().keySet().stream()
          .filter(thread -> thread.getName().startsWith(scheduler.name() + "-"))
          .mapToLong(thread -> threads.getThreadCpuTime(thread.threadId()))
          .sum();
    }
  }

  /** Waits for sockets on a worker that has no poller yet, and no descriptors to make one. */
  static final class FirstWait {
    public static void main(String[] args) throws Exception {
      InetAddress loopback = InetAddress.getLoopbackAddress();
      Scheduler scheduler = Scheduler.builder().threads(1).build().start();
      try (TcpListener listener = TcpListener.bind(new InetSocketAddress(loopback, 0));
          TcpStream peer = TcpStream.connect(listener.localAddress());
          TcpStream stream = listener.accept(); // no fiber has waited for it yet
          ServerSocket server = new ServerSocket(0, 50, loopback);
          Socket socket = new Socket(loopback, server.getLocalPort())) {
        peer.readTimeout(Duration.ofMillis(10));
        stream.readTimeout(Duration.ofMillis(10));
        socket.setSoTimeout(10);
        say(() -> read(socket)); // loads the classes, and so does the next line
        say(() -> peer.read(new byte[1]));
        List<DatagramChannel> taken = new ArrayList<>();
        try {
          while (true) {
            taken.add(DatagramChannel.open());
          }
        } catch (IOException e) {
          taken.removeLast().close(); // one descriptor is free, but a poller needs two
        }
        for (int i = 0; i < 3; i++) {
          scheduler.go(() -> say(() -> stream.read(new byte[1]))).join();
        }
        scheduler.go(() -> say(() -> read(socket))).join();
        taken.add(DatagramChannel.open()); // the descriptor is still free
        for (DatagramChannel one : taken) {
          one.close();
        }
        scheduler.go(() -> say(() -> stream.read(new byte[1]))).join();
      }
      System.exit(0);
    }

    private static int read(Socket socket) throws IOException {
      return socket.getInputStream().read();
    }

    private static void say(Callable<Integer> read) throws Exception {
      try {
        System.out.println(read.call());
      } catch (IOException e) {
        System.out.println(e.getClass().getSimpleName());
      }
    }
  }

  @Test
  @Feature({"N4", "H9"})
  void withoutDescriptorsForAPollerWeftsSocketsFailAndTheJdksDoWithout(@TempDir Path folder)
      throws Exception {
    assumeTrue(Poller.isEpoll(), "only then descriptors are needed that late");
    Command.Result result = run(FirstWait.class, folder);
    assertThat(result.stdout())
        .isEqualTo(
            """
            SocketTimeoutException
            SocketTimeoutException
            SocketException
            SocketException
            SocketException
            SocketTimeoutException
            SocketTimeoutException
            """);
    assertThat(result.exitStatus()).isZero();
  }

  private static Command.Result run(Class<?> program, Path folder) throws Exception {
    return Command.of(
            "sh",
            "-c",
            "ulimit -n 150 && exec \"$0\" \"$@\"",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "@" + Path.of(System.getProperty("weft.root"), "weft.args"),
            "-XX:-MaxFDLimit",
            "-Dweft.poller=" + (Poller.isEpoll() ? "epoll" : "nio"),
            "-cp",
            inJars(System.getProperty("java.class.path"), folder),
            program.getName())
        .run();
  }

  @Test
  @Feature("N4")
  void acceptReportsALackOfDescriptorsDoesNotSpinAndGoesOn(@TempDir Path folder) throws Exception {
    Command.Result result = run(Program.class, folder);
    assertThat(result.stdout()).isEqualTo("none left\nno spin\naccepted\n");
    assertThat(result.stderr())
        .contains("cannot accept at", "Too many open files", "ulimit -n")
        .containsOnlyOnce("cannot accept at");
    assertThat(result.exitStatus()).isZero();
  }

  /**
   * Runs from a jar, as users do: loading a class from a jar takes no descriptor, from a folder it
   * does.
   */
  private static String inJars(String classPath, Path folder) {
    List<String> entries = new ArrayList<>();
    for (String entry : classPath.split(File.pathSeparator, -1)) {
      if (Files.isDirectory(Path.of(entry))) {
        String jar = folder.resolve(entries.size() + ".jar").toString();
        int status =
            ToolProvider.findFirst("jar")
                .orElseThrow()
                .run(System.out, System.err, "-c0f", jar, "-C", entry, ".");
        assertThat(status).isZero();
        entries.add(jar);
      } else {
        entries.add(entry);
      }
    }
    return String.join(File.pathSeparator, entries);
  }
}
