package dev.weft.console.start;

import dev.weft.console.Console;
import dev.weft.internal.start.ConsoleStarter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Starts the console that {@code -Dweft.console=PORT} or {@code =HOST:PORT} asks for. */
public final class PropertyConsole implements ConsoleStarter {
  private static final int MOST_PORT = 65_535;

  /** For the ServiceLoader. */
  public PropertyConsole() {}

  /** Prints the URL to standard error: it is for the person that started the program. */
  @Override
  public void start(String where) throws IOException {
    System.err.println("weft: console at " + Console.start(address(where)).url());
  }

  /** Returns the address that the value of the property means; the loopback one for a port. */
  public static InetSocketAddress address(String where) throws IOException {
    int colon = where.lastIndexOf(':');
    String host = where.substring(0, Math.max(0, colon)).replaceAll("[\\[\\]]", "");
    int port;
    try {
      port = Integer.parseInt(where.substring(colon + 1));
    } catch (NumberFormatException e) {
      port = -1;
    }
    if (port < 0 || port > MOST_PORT) {
      throw new IOException("expected PORT or ADDRESS:PORT, with a port from 0 to " + MOST_PORT);
    }
    return new InetSocketAddress(
        host.isEmpty() ? InetAddress.getLoopbackAddress() : InetAddress.getByName(host), port);
  }
}
