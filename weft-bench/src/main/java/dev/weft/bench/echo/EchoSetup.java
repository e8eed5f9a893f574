package dev.weft.bench.echo;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.run.Probe;
import dev.weft.bench.run.WindowProbe;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;

/** Which server a probe measures and how: flags tell it to the probe's process. */
final class EchoSetup {
  static final String SERVER = "weft.bench.echo.server";
  static final String THREADS = "weft.bench.echo.threads";

  /** The class path of the server's process. */
  static final String CLASS_PATH = "weft.bench.echo.class-path";

  /** The JVM flags of the server's process, one a line. */
  static final String FLAGS = "weft.bench.echo.flags";

  /** The program that serves, if it is none of the servers in Java. */
  static final String PROGRAM = "weft.bench.echo.program";

  /** Descriptors of a JVM besides connections: its jars and libraries, pipes, epoll. */
  private static final int OTHER_DESCRIPTORS = 200;

  private EchoSetup() {}

  /** Returns a measurement of a server, with more JVM flags. */
  static InTurns probe(
      Class<? extends WindowProbe> probe, EchoServer.Kind server, int threads, String... flags) {
    return new ServerWindows(probe, server, threads, List.of(flags));
  }

  static int threads() {
    return Integer.getInteger(THREADS);
  }

  /** Starts the server for so many connections and messages of a size. */
  static ServerProcess start(int connections, int size) throws IOException, Probe.Impossible {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new Probe.Impossible("needs Linux");
    }
    checkDescriptors(connections);
    String program = System.getProperty(PROGRAM);
    if (program != null) {
      Map<String, String> variables = Map.of("GOMAXPROCS", String.valueOf(threads()));
      return ServerProcess.start(false, List.of(program, "server"), variables);
    }
    return ServerProcess.start(
        EchoServer.Kind.valueOf(System.getProperty(SERVER)),
        threads(),
        buffer(size),
        System.getProperty(CLASS_PATH),
        System.getProperty(FLAGS).lines().toList());
  }

  /** More than a message, so that a read that does not fill it has taken all there is. */
  static int buffer(int size) {
    return Math.max(1024, 2 * size);
  }

  /** A JVM raises its own limit to the hard one, so there are no more descriptors than these. */
  private static void checkDescriptors(int connections) throws Probe.Impossible {
    var system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long limit = system.getMaxFileDescriptorCount();
    int needed = connections + OTHER_DESCRIPTORS;
    if (limit < needed) {
      throw new Probe.Impossible(
          "needs " + needed + " descriptors, the hard limit is " + limit + ": raise ulimit -Hn");
    }
  }
}
