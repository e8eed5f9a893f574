package dev.weft.im;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Command;
import dev.weft.testkit.TestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A PostgreSQL or Redis that {@code bin/servers} runs; it can be killed, and started again with the
 * same data at the same port. It ends with this process at the latest.
 */
final class ServerProcess implements AutoCloseable {
  private static final Pattern PORT = Pattern.compile(":([0-9]+)");

  private final String name;
  private final TestServer server;
  private final String url;
  private ProcessHandle process;
  private List<String> command = List.of();
  private Process again;

  /** Starts one: {@code postgres} or {@code redis}. */
  static ServerProcess start(String name) throws IOException, InterruptedException {
    return new ServerProcess(name, TestServer.start(name));
  }

  private ServerProcess(String name, TestServer server) {
    this.name = name;
    this.server = server;
    url = server.url();
    process = server.process();
  }

  String url() {
    return url;
  }

  /** Ends it as a crash would: at once, all its connections break. */
  void kill() throws IOException, InterruptedException {
    Path proc = Path.of("/proc", String.valueOf(process.pid()));
    assumeTrue(Files.isDirectory(proc), "this system has no /proc, to see how it was started");
    command = commandToStartAgain(proc);
    if (name.equals("postgres")) { // tells its children too
      Command.of("kill", "-QUIT", String.valueOf(process.pid())).run();
    } else {
      process.destroyForcibly();
    }
    process.onExit().join();
  }

  private List<String> commandToStartAgain(Path proc) throws IOException {
    List<String> words = new ArrayList<>();
    if (name.equals("redis")) { // which changes what /proc tells of its arguments
      words.add("redis-server");
      words.addAll(List.of("--port", String.valueOf(port()), "--bind", "127.0.0.1"));
      words.addAll(List.of("--save", "", "--appendonly", "no"));
      return words;
    }
    if (System.getProperty("user.name").equals("root")) {
      String group = Files.getAttribute(proc, "unix:gid").toString();
      String user = Files.getAttribute(proc, "unix:uid").toString();
      words.addAll(List.of("setpriv", "--reuid=" + user, "--regid=" + group, "--clear-groups"));
    }
    String cmdline = Files.readString(proc.resolve("cmdline"));
    words.addAll(List.of(cmdline.substring(0, cmdline.length() - 1).split("\0", -1)));
    return words;
  }

  private int port() {
    Matcher port = PORT.matcher(url);
    int last = 0;
    while (port.find()) {
      last = Integer.parseInt(port.group(1));
    }
    return last;
  }

  /** Starts it again after {@link #kill}; returns when it takes connections. */
  void startAgain() throws IOException, InterruptedException {
    again =
        new ProcessBuilder(command)
            .directory(new java.io.File("/"))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    process = again.toHandle();
    while (true) {
      try {
        new Socket(InetAddress.getLoopbackAddress(), port()).close();
        return;
      } catch (IOException e) {
        if (!again.isAlive()) {
          throw new IOException(command + " ended with " + again.exitValue(), e);
        }
        Thread.sleep(20);
      }
    }
  }

  @Override
  public void close() throws IOException {
    if (again != null) {
      Command.of("kill", "-QUIT", String.valueOf(again.pid())).start().onExit().join();
      again.destroy();
      again.onExit().join();
    }
    server.close();
  }
}
