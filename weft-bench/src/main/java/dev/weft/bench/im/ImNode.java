package dev.weft.bench.im;

import dev.weft.Weft;
import dev.weft.bench.run.CpuClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** {@code ./weft im} in a process of its own, which can be measured, stopped and killed. */
final class ImNode implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile("im: page at https?://([0-9.]+):([0-9]+)/, lines at ([0-9.]+):([0-9]+)");
  private static final Pattern USED = Pattern.compile("used ([0-9]+)K");
  private static final String HEAP = "-Xmx1g";

  private final Process process;
  private final Thread hook;
  private final InetSocketAddress web;
  private final InetSocketAddress lines;

  /**
   * The server, to be started.
   *
   * @param command what starts it, without options
   * @param jars the class path that its JDBC drivers are on
   */
  record Program(List<String> command, List<Path> jars) {
    Program {
      command = List.copyOf(command);
      jars = List.copyOf(jars);
    }

    /** Returns what {@code ./weft im} starts; its jars are there when it has been started once. */
    static Program launched(Path root) throws IOException {
      List<String> command = List.of(root.resolve("weft").toString(), "im");
      Path folder = root.resolve("target").resolve("launch").resolve("weft-im");
      if (!Files.isDirectory(folder)) {
        return new Program(command, List.of());
      }
      try (Stream<Path> files = Files.list(folder)) {
        return new Program(command, files.toList());
      }
    }
  }

  static ImNode start(Program program, String database, String... more) throws IOException {
    List<String> command = new ArrayList<>(program.command());
    command.addAll(List.of("--port", "0", "--web-port", "0", "--database", database));
    command.addAll(List.of(more));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JDK_JAVA_OPTIONS", HEAP);
    return new ImNode(builder.redirectError(ProcessBuilder.Redirect.DISCARD).start());
  }

  private ImNode(Process process) throws IOException {
    this.process = process;
    this.hook = Thread.ofPlatform().unstarted(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(hook);
    BufferedReader output = process.inputReader();
    String line = output.readLine();
    Matcher ready = READY.matcher(String.valueOf(line));
    if (!ready.matches()) {
      process.destroyForcibly();
      throw new IOException("./weft im does not start: it says " + line);
    }
    web = new InetSocketAddress(ready.group(1), Integer.parseInt(ready.group(2)));
    lines = new InetSocketAddress(ready.group(3), Integer.parseInt(ready.group(4)));
  }

  /** Returns the flags that the server's JVM gets beside those of Weft. */
  static List<String> flags() {
    return List.of(HEAP);
  }

  InetSocketAddress web() {
    return web;
  }

  InetSocketAddress lines() {
    return lines;
  }

  long cpuNanos() {
    return CpuClock.nanosOf(process.pid());
  }

  /** Returns the memory of the process that is in use, in bytes. */
  long residentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
      if (line.startsWith("VmRSS:")) {
        return 1024L * Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("the server has ended");
  }

  /** Returns what of the heap is alive, in bytes. */
  long liveBytes() throws Exception {
    return Weft.blocking(
        () -> {
          tell("GC.run");
          tell("GC.run");
          Matcher used = USED.matcher(tell("GC.heap_info"));
          if (!used.find()) {
            throw new IOException("jcmd does not tell how much of the heap is used");
          }
          return 1024L * Long.parseLong(used.group(1));
        });
  }

  private String tell(String command) throws IOException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    Process asking =
        new ProcessBuilder(jcmd.toString(), String.valueOf(process.pid()), command)
            .redirectErrorStream(true)
            .start();
    return new String(asking.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Tells it to stop, and waits until it has. */
  @Override
  public void close() throws IOException {
    process.destroy();
    try {
      Weft.blocking(() -> process.onExit().join());
    } catch (Exception e) {
      throw new IOException("cannot wait for the end of the server", e);
    }
    Runtime.getRuntime().removeShutdownHook(hook);
  }
}
