package dev.weft.im;

import dev.weft.Scheduler;
import dev.weft.Weft;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * What {@code ./weft im} starts: the server as a program. It keeps what it knows in the file {@code
 * weft-im.mv.db}, unless told otherwise, and ends when the process is told to.
 */
public final class ImMain {
  private static final int WRONG_USE = 2;
  private static final String USAGE =
      "usage: ./weft im [--port P] [--web-port P] [--bind ADDRESS] [--threads N]"
          + " [--database URL] [--redis URL] [--beat MS]";

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
    int threads = Runtime.getRuntime().availableProcessors();
    for (int i = 0; i < arguments.length; i += 2) {
      String option = arguments[i];
      String value = i + 1 < arguments.length ? arguments[i + 1] : null;
      switch (option) {
        case "--port" -> builder.linePort(number("port", value, 0, 65_535));
        case "--web-port" -> builder.webPort(number("web-port", value, 0, 65_535));
        case "--threads" -> threads = number("threads", value, 1, 10_000);
        case "--bind" -> builder.bind(given(option, value));
        case "--database" -> builder.database(given(option, value));
        case "--redis" -> builder.redis(given(option, value));
        case "--beat" -> builder.beat(Duration.ofMillis(number("beat", value, 10, 3_600_000)));
        default -> throw new IllegalArgumentException("unknown option " + option + "; " + USAGE);
      }
    }
    Scheduler scheduler = Scheduler.builder().name("im").threads(threads).build().start();
    // on a helper thread: to open a database and load classes takes long on a busy machine
    ImServer server = scheduler.go(() -> Weft.blocking(() -> builder.build().start())).join();
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(server::stop));
    System.out.printf(
        "im: page at http://%s/, lines at %s%n",
        hostAndPort(server.webAddress()), hostAndPort(server.lineAddress()));
  }

  private static String given(String option, @Nullable String value) {
    if (value == null) {
      throw new IllegalArgumentException("option " + option + " needs a value; " + USAGE);
    }
    return value;
  }

  private static int number(String name, @Nullable String value, int least, int most) {
    String text = given("--" + name, value);
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new IllegalArgumentException(
        "%s must be a number from %d to %d, not %s".formatted(name, least, most, text));
  }

  private static String hostAndPort(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
