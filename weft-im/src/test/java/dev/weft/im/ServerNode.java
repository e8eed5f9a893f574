package dev.weft.im;

import dev.weft.testkit.Command;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An {@link ImMain} in a process of its own, to be killed. */
final class ServerNode implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile("im: page at https?://([0-9.]+):([0-9]+)/, lines at ([0-9.]+):([0-9]+)");

  private final Process process;
  private final InetSocketAddress address;
  private final InetSocketAddress webAddress;

  static ServerNode start(String database, String... more) throws Exception {
    return startInside(List.of(), database, more);
  }

  /** Starts one behind other words, of a program that runs those that follow as a command. */
  static ServerNode startInside(List<String> outside, String database, String... more)
      throws Exception {
    List<String> words = new ArrayList<>(outside);
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of("-cp", System.getProperty("java.class.path")));
    words.add("@" + Path.of(System.getProperty("weft.root"), "weft.args"));
    words.add("-XX:+UseSerialGC");
    words.add("dev.weft.im.ImMain");
    words.addAll(List.of("--port", "0", "--web-port", "0", "--database", database));
    words.addAll(List.of(more));
    return new ServerNode(Command.of(words.toArray(String[]::new)).start());
  }

  private ServerNode(Process process) throws Exception {
    this.process = process;
    String line = process.inputReader().readLine();
    Matcher ready = READY.matcher(String.valueOf(line));
    if (!ready.matches()) {
      process.destroyForcibly();
      throw new IllegalStateException("ImMain says: " + line);
    }
    webAddress = new InetSocketAddress(ready.group(1), Integer.parseInt(ready.group(2)));
    address = new InetSocketAddress(ready.group(3), Integer.parseInt(ready.group(4)));
  }

  InetSocketAddress address() {
    return address;
  }

  InetSocketAddress webAddress() {
    return webAddress;
  }

  long pid() {
    return process.pid();
  }

  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Tells it to stop, and waits until it has. */
  void stop() {
    process.destroy();
    process.onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
