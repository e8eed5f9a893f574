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
    System.err.println("weft: console at " + open(where).url());
    InetAddress at = address(where).getAddress();
    if (!at.isLoopbackAddress()) {
      System.err.println(
          "weft: the console listens at "
              + (at.isAnyLocalAddress() ? "all addresses of this machine" : at.getHostAddress())
              + ": other machines reach it, unencrypted; what it shows needs the token of the URL");
    }
  }

  /** Starts the console, which browsers may name as the value of the property does. */
  public static Console open(String where) throws IOException {
    String host = host(where);
    return host.isEmpty()
        ? Console.start(address(where))
        : Console.start(address(where), host.contains(":") ? "[" + host + "]" : host);
  }

  private static String host(String where) {
    return where.substring(0, Math.max(0, where.lastIndexOf(':'))).replaceAll("[\\[\\]]", "");
  }

  /** Returns the address that the value of the property means; the loopback one for a port. */
  public static InetSocketAddress address(String where) throws IOException {
    int colon = where.lastIndexOf(':');
    String host = host(where);
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
