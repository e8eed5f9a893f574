package dev.weft.stress.sim;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.time.Duration.ofMillis;

import dev.weft.sim.Disk;
import dev.weft.sim.Host;
import dev.weft.sim.Simulation;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Everything around the fibers that a seed decides: a server with a file, on a host that crashes
 * and whose clock drifts; connections that are reset, late and refused; datagrams that are lost and
 * overtake each other; a partition; a disk that loses what was not forced.
 */
@SuppressWarnings("AddressSelection") // a simulated host has one address
final class FaultyProgram {
  private static final int REQUESTS = 3;

  private FaultyProgram() {}

  static void run(Simulation sim) throws Exception {
    sim.network()
        .latency(ofMillis(1), ofMillis(4))
        .resets(0.05)
        .stalls(0.05, ofMillis(50))
        .refusals(0.05)
        .losses(0.2)
        .silences(0.5);
    Disk disk = sim.disk("server").latency(ofMillis(0), ofMillis(1));
    long[] seen = new long[1];
    Host server = sim.host("server", () -> serve(disk, seen));
    server.clock().drift(sim.random().nextInt(-50_000, 50_000)).offset(ofMillis(77));
    sim.host("beats", () -> beat(seen));
    sim.at(
        ofMillis(1 + sim.random().nextInt(40)),
        () -> {
          server.crash();
          Thread.sleep(5);
          server.restart();
          sim.network().partition("main", "server");
          Thread.sleep(30);
          sim.network().heal();
        });
    try (DatagramSocket beats = new DatagramSocket(53)) {
      for (int answered = 0; answered < REQUESTS; ) {
        seen[0] = seen[0] * 31 + (ask() ? ++answered : -1);
        beats.setSoTimeout(3);
        try {
          DatagramPacket packet = new DatagramPacket(new byte[1], 1);
          beats.receive(packet);
          seen[0] = seen[0] * 31 + packet.getData()[0];
        } catch (SocketTimeoutException e) {
          seen[0]++;
        }
      }
    }
    disk.crash();
    Path log = disk.root().resolve("log");
    seen[0] = seen[0] * 31 + (Files.exists(log) ? Files.size(log) : -1);
    // the digest of a run has its times, and so all that was seen
    Thread.sleep(Math.floorMod(seen[0], 1_000L));
  }

  /** The main of the server: writes each request to its file, some of them by force. */
  private static void serve(Disk disk, long[] seen) throws IOException {
    try (ServerSocket listener = new ServerSocket(80)) {
      while (true) {
        try (Socket client = listener.accept();
            FileChannel log = FileChannel.open(disk.root().resolve("log"), CREATE, WRITE, APPEND);
            FileChannel folder = FileChannel.open(disk.root(), READ)) {
          int request = client.getInputStream().read();
          log.write(ByteBuffer.wrap(new byte[700]));
          if (log.size() % 3 == 0) {
            log.force(true);
            folder.force(true);
          }
          seen[0] = seen[0] * 31 + System.nanoTime() + System.currentTimeMillis();
          client.getOutputStream().write(request);
        } catch (IOException e) {
          seen[0]++; // reset; the next one
        }
      }
    }
  }

  private static boolean ask() throws InterruptedException {
    try (Socket socket = new Socket("server", 80)) {
      socket.setSoTimeout(100);
      socket.getOutputStream().write(7);
      return socket.getInputStream().read() == 7;
    } catch (IOException e) {
      Thread.sleep(2);
      return false;
    }
  }

  /** The main of a host that sends datagrams. */
  private static void beat(long[] seen) throws Exception {
    try (DatagramSocket socket = new DatagramSocket()) {
      for (byte i = 0; i < 20; i++) {
        InetAddress main = InetAddress.getByName("main");
        socket.send(new DatagramPacket(new byte[] {i}, 1, main, 53));
        Thread.sleep(2);
      }
      seen[0]++;
    }
  }
}
