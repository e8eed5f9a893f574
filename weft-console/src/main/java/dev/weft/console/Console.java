package dev.weft.console;

import com.sun.net.httpserver.HttpServer;
import dev.weft.Scheduler;
import dev.weft.http.WeftHttpServerProvider;
import dev.weft.internal.watch.FiberLooks;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A web page that shows the schedulers of this process: what their threads do, their fibers by
 * state, the longest waits with stacks, the tree of scopes. {@code -Dweft.console=7070} starts a
 * console without a change of the program.
 *
 * {@snippet class="dev.weft.console.ConsoleTest" region="start"}
 *
 * <p>The URL has a random token; without it the console answers nothing. A console listens at the
 * loopback address unless an address is given. While no page is open it costs nothing; while one is
 * open, little: {@code docs/console.md} tells what, {@code docs/numbers.md} has numbers.
 */
public final class Console implements AutoCloseable {
  private static final int TOKEN_BYTES = 18;

  // limits for clients without the token: of 16 pages with their files, and of one short URL
  private static final int MOST_CONNECTIONS = 64;
  private static final int MOST_HEAD_BYTES = 16_384;

  private final Scheduler scheduler;
  private final HttpServer server;
  private final Collector collector;
  private final URI url;
  private final AtomicBoolean closed = new AtomicBoolean();

  private Console(InetSocketAddress address, Set<String> hosts) throws IOException {
    String token = newToken();
    scheduler = Scheduler.builder().name("weft-console").threads(1).daemon(true).build();
    collector = new Collector(scheduler);
    server = provider().createHttpServer(address, 0); // the port may be taken
    server.createContext("/", new ConsoleHandler(token, hosts, collector));
    FiberLooks.hide(scheduler);
    scheduler.start().go(server::start);
    url = urlOf(server.getAddress(), token);
  }

  /**
   * Starts a console at the loopback address.
   *
   * @param port the port, or 0 for any that is free
   * @throws IOException if the port is taken
   */
  public static Console start(int port) throws IOException {
    return start(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  /**
   * Starts a console at an address of this machine. Requests must name it by an IP address, as
   * localhost, or by one of the given names: a page of another site that makes its own name point
   * here gets nothing.
   *
   * @param hosts the names by which browsers reach this machine
   * @throws IOException if the address cannot be listened at
   */
  public static Console start(InetSocketAddress address, String... hosts) throws IOException {
    return new Console(address, Set.of(hosts));
  }

  private static WeftHttpServerProvider provider() {
    return new WeftHttpServerProvider()
        .withConnections(MOST_CONNECTIONS)
        .withHeadBytes(MOST_HEAD_BYTES);
  }

  private static String newToken() {
    byte[] random = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  private static URI urlOf(InetSocketAddress at, String token) {
    InetAddress address =
        at.getAddress().isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : at.getAddress();
    String host = address.getHostAddress().replaceFirst("%.*", "");
    return URI.create(
        "http://%s:%d/%s/"
            .formatted(host.contains(":") ? "[" + host + "]" : host, at.getPort(), token));
  }

  /** Returns the address of the page, with the token. */
  public URI url() {
    return url;
  }

  /** Ends the console; open pages say so. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      collector.close();
      server.stop(0);
      scheduler.stop(Duration.ofSeconds(1));
      FiberLooks.unhide(scheduler);
    }
  }
}
