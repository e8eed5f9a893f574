package dev.weft.bench.http;

import dev.weft.bench.run.CpuClock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A web server in a process of its own, which ends with this one. */
final class HttpPeerProcess implements AutoCloseable {
  private final Process process;
  private final int port;

  /** Starts one with these flags of the JVM, and waits until it serves. */
  HttpPeerProcess(HttpPeer peer, int threads, HttpWork work, List<String> flags)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(
        List.of(HttpPeerMain.class.getName(), peer.name(), String.valueOf(threads), work.name()));
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    port = ServerPort.read(process.inputReader());
  }

  int port() {
    return port;
  }

  /** Returns the CPU time that it has taken. */
  long cpuNanos() {
    return CpuClock.nanosOf(process.pid());
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
