package dev.weft.bench.echo;

import dev.weft.console.Console;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The main class of a server process that starts a console when it is asked to: by a connection to
 * a port that it writes to a file. Until then there is no console, not even one at which nobody
 * looks.
 */
final class WatchedServerMain {
  private WatchedServerMain() {}

  /** Takes the file, then what {@link ServerMain} takes. */
  public static void main(String[] args) throws Exception {
    ServerSocket door = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Files.writeString(Path.of(args[0]), "" + door.getLocalPort());
    Thread.ofPlatform().daemon().name("console-door").start(() -> startWhenAsked(door));
    String[] others = new String[args.length - 1];
    System.arraycopy(args, 1, others, 0, others.length);
    ServerMain.main(others);
  }

  /** Waits for a connection, and answers with the address of the console. */
  private static void startWhenAsked(ServerSocket door) {
    try (door;
        Socket asker = door.accept()) {
      byte[] url = Console.start(0).url().toString().getBytes(StandardCharsets.UTF_8);
      asker.getOutputStream().write(url);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts the console of a server process; returns its address. */
  static String startConsole(Path file) throws IOException {
    int port = Integer.parseInt(Files.readString(file));
    try (Socket door = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return new String(door.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
