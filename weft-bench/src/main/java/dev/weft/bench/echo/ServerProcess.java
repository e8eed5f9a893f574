package dev.weft.bench.echo;

import dev.weft.bench.run.CpuClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * An echo server in a process of its own. It ends when it is closed, and also when this process
 * ends in any way: its input is a pipe from here.
 */
final class ServerProcess implements AutoCloseable {
  private static final String RESIDENT = "VmRSS:";

  private final boolean http;
  private final Process process;
  private final BufferedReader output;
  private final Writer input;
  private final int port;

  /** Starts one and waits until it serves. */
  static ServerProcess start(EchoServer.Kind kind, int threads, int buffer, List<String> jvmFlags)
      throws IOException {
    return start(kind, threads, buffer, System.getProperty("java.class.path"), jvmFlags);
  }

  /** Starts one with another class path. */
  static ServerProcess start(
      EchoServer.Kind kind, int threads, int buffer, String classPath, List<String> jvmFlags)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmFlags);
    command.addAll(List.of("-cp", classPath));
    command.add(ServerMain.class.getName());
    command.addAll(List.of(kind.name(), String.valueOf(threads), String.valueOf(buffer)));
    return start(kind.isHttp(), command, Map.of());
  }

  /** Starts one that is no JVM. */
  static ServerProcess start(boolean http, List<String> command, Map<String, String> variables)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(variables);
    return new ServerProcess(http, builder.start());
  }

  private ServerProcess(boolean http, Process process) throws IOException {
    this.http = http;
    this.process = process;
    output = process.inputReader();
    input = process.outputWriter();
    boolean serves = false;
    try {
      port = (int) read(EchoServer.PORT);
      serves = true;
    } finally {
      if (!serves) {
        process.destroyForcibly();
      }
    }
  }

  int port() {
    return port;
  }

  /** Returns the messages for this server, of a size if the server allows any. */
  Talk talk(int size) {
    return http ? Talk.http(port) : Talk.echo(size);
  }

  long pid() {
    return process.pid();
  }

  /** Returns the CPU time that it has taken. */
  long cpuNanos() {
    return CpuClock.nanosOf(pid());
  }

  /** Returns how many bytes of its heap are in use after a collection. */
  long usedHeap() throws IOException {
    return ask(ServerMain.HEAP);
  }

  /**
   * Returns how many bytes of memory the process has; after {@link #usedHeap}, for which it has
   * collected its garbage.
   */
  long residentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc", String.valueOf(pid()), "status"))) {
      if (line.startsWith(RESIDENT)) {
        return 1024 * Long.parseLong(line.substring(RESIDENT.length()).replace("kB", "").strip());
      }
    }
    throw new IOException("the kernel does not tell the memory of process " + pid());
  }

  /** Returns how many bytes it has allocated on its heap. */
  long allocated() throws IOException {
    return ask(ServerMain.ALLOCATED);
  }

  /** Lets so many of its fibers compute. */
  void startComputing(int fibers) throws IOException {
    ask(ServerMain.COMPUTE + fibers);
  }

  /** Lets them stop after their bursts. */
  void stopComputing() throws IOException {
    ask(ServerMain.STOP);
  }

  /** Returns how much they have computed, in microseconds of an undisturbed core. */
  long computedMicros() throws IOException {
    return ask(ServerMain.COMPUTED);
  }

  private long ask(String question) throws IOException {
    input.write(question + "\n");
    input.flush();
    return read(ServerMain.answerTo(question));
  }

  /** Lets its input end, as the end of this process would. */
  void closeInput() throws IOException {
    input.close();
  }

  private long read(String prefix) throws IOException {
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(prefix)) {
        return Long.parseLong(line.substring(prefix.length()));
      }
      System.out.println(line);
    }
    throw new IOException("the server has ended instead of telling its " + prefix.substring(1));
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
