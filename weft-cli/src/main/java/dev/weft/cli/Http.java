package dev.weft.cli;

import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.SimpleFileServer;
import dev.weft.Scheduler;
import dev.weft.http.WeftHttpServerProvider;
import java.io.IOException;
import java.net.InetSocketAddress;

/** What {@code ./weft http} starts: a web server of the files in a folder. */
public final class Http {
  private Http() {}

  /** Serves until the process is ended. */
  public static void main(String[] args) {
    try {
      serve(HttpOptions.parse(args));
    } catch (UserMistake mistake) {
      System.err.println("weft: " + mistake.getMessage());
      System.exit(mistake.exitStatus());
    }
  }

  private static void serve(HttpOptions options) {
    Launcher.checkProperties();
    InetSocketAddress address = new InetSocketAddress(options.address(), options.port());
    HttpServer server;
    HttpContext files;
    try {
      server = new WeftHttpServerProvider().createHttpServer(address, 0);
      files = server.createContext("/", new HttpFolder(options.folder()));
    } catch (IOException e) {
      throw UserMistake.program(e.getMessage());
    } catch (IllegalArgumentException e) { // a limit that is no number
      throw UserMistake.usage(e.getMessage());
    }
    if (!options.quiet()) {
      files
          .getFilters()
          .add(SimpleFileServer.createOutputFilter(System.out, SimpleFileServer.OutputLevel.INFO));
    }
    Scheduler scheduler =
        Scheduler.builder().name("http").threads(options.threads()).build().start();
    scheduler.go(() -> server.start());
    System.out.printf(
        "http: %s at http://%s:%d/%n",
        options.folder(), options.address(), server.getAddress().getPort());
  }
}
