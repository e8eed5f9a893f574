package dev.weft.im;

import dev.weft.Scheduler;
import dev.weft.Weft;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletionException;

/**
 * What {@code ./weft im} starts: the server as a program. It keeps what it knows in the file {@code
 * weft-im.mv.db}, unless told otherwise, and ends when the process is told to.
 */
public final class ImMain {
  private static final int WRONG_USE = 2;
  private static final String USAGE =
      "usage: ./weft im [--port P] [--web-port P] [--bind ADDRESS] [--threads N]"
          + " [--database URL] [--redis URL] [--beat MS] [--tls CERT KEY] [--connections N]"
          + " [--origin URL] [--behind-proxy]";

  private ImMain() {}

  /** Starts a server, which serves until the process ends. */
  public static void main(String... arguments) throws InterruptedException {
    try {
      start(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println("weft: " + e.getMessage());
      System.exit(WRONG_USE);
    } catch (CompletionException e) { // a port in use, a database that cannot be opened
      System.err.println("weft: cannot start: " + e.getCause().getMessage());
      System.exit(1);
    }
  }

  private static void start(String... arguments) throws InterruptedException {
    ImServer.Builder builder =
        ImServer.builder().linePort(5190).webPort(8081).database("jdbc:h2:./weft-im");
    boolean isSecure = false;
    int threads = Runtime.getRuntime().availableProcessors();
    List<String> origins = new ArrayList<>();
    Iterator<String> words = List.of(arguments).iterator();
    while (words.hasNext()) {
      String option = words.next();
      switch (option) {
        case "--port" -> builder.linePort(number(option, words, 0, 65_535));
        case "--web-port" -> builder.webPort(number(option, words, 0, 65_535));
        case "--threads" -> threads = number(option, words, 1, 10_000);
        case "--bind" -> builder.bind(value(option, words));
        case "--database" -> builder.database(value(option, words));
        case "--redis" -> builder.redis(value(option, words));
        case "--beat" -> builder.beat(Duration.ofMillis(number(option, words, 10, 3_600_000)));
        case "--tls" -> {
          Path certificate = Path.of(value(option, words));
          builder.tls(certificate, Path.of(value("--tls CERT", words)));
          isSecure = true;
        }
        case "--connections" -> builder.connections(number(option, words, 1, Integer.MAX_VALUE));
        case "--origin" -> origins.add(value(option, words));
        case "--behind-proxy" -> builder.behindProxy(true);
        default -> throw new IllegalArgumentException("unknown option " + option + "; " + USAGE);
      }
    }
    builder.origins(origins);
    Scheduler scheduler = Scheduler.builder().name("im").threads(threads).build().start();
    // on a helper thread: to open a database and load classes takes long on a busy machine
    ImServer server = scheduler.go(() -> Weft.blocking(() -> builder.build().start())).join();
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(server::stop));
    System.out.printf(
        "im: page at http%s://%s/, lines at %s%n",
        isSecure ? "s" : "", hostAndPort(server.webAddress()), hostAndPort(server.lineAddress()));
  }

  private static String value(String option, Iterator<String> words) {
    if (!words.hasNext()) {
      throw new IllegalArgumentException("option " + option + " needs a value; " + USAGE);
    }
    return words.next();
  }

  private static int number(String option, Iterator<String> words, int least, int most) {
    String text = value(option, words);
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new IllegalArgumentException(
        "%s must be a number from %d to %d, not %s"
            .formatted(option.substring(2), least, most, text));
  }

  private static String hostAndPort(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
