package dev.weft.console;

import dev.weft.internal.blocking.Helpers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * The numbers of the whole process: CPU time, heap, helpers; on Linux also descriptors and sockets,
 * of which the links are counted every few seconds only.
 */
final class ProcessNumbers {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final long COUNT_EVERY_NANOS = 5_000_000_000L;
  private static final int MOST_COUNTED = 100_000;

  private final ProcessHandle self = ProcessHandle.current();
  private final long begun = System.currentTimeMillis() - uptimeSoFar();
  private long countedAt;
  private long descriptors = -1;
  private long sockets = -1;
  private long limit = -1;

  private static long uptimeSoFar() {
    return ProcessHandle.current()
        .info()
        .startInstant()
        .map(start -> System.currentTimeMillis() - start.toEpochMilli())
        .orElse(0L);
  }

  void write(Json json) {
    Runtime runtime = Runtime.getRuntime();
    count();
    Helpers helpers = Helpers.ofJvm();
    json.object().field("pid", self.pid());
    String command = System.getProperty("sun.java.command", "");
    json.field("program", program(command)).field("command", shortened(command));
    json.field("java", Runtime.version().toString());
    json.field("uptime", System.currentTimeMillis() - begun);
    json.field("cores", runtime.availableProcessors());
    json.field("cpu", self.info().totalCpuDuration().map(Duration::toMillis).orElse(-1L));
    json.field("heap", runtime.totalMemory() - runtime.freeMemory());
    json.field("heapLimit", runtime.maxMemory());
    json.field("descriptors", descriptors).field("sockets", sockets).field("limit", limit);
    json.field("helpers", helpers.threads()).field("helperLimit", helpers.limit());
    json.field("helperQueue", helpers.queued());
    json.endObject();
  }

  /**
   * Returns the name of the program in a command: of its jar, its main class without module and
   * package, or the source file that the JDK's launcher compiles.
   */
  static String program(String command) {
    String[] words = command.strip().split("\\s+", -1);
    String named =
        words.length > 1 && words[0].endsWith(".launcher.SourceLauncher") ? words[1] : words[0];
    String file = named.substring(Math.max(named.lastIndexOf('/'), named.lastIndexOf('\\')) + 1);
    return file.endsWith(".jar") || file.endsWith(".java")
        ? file
        : file.substring(file.lastIndexOf('.') + 1);
  }

  private static String shortened(String command) {
    return command.length() > 120 ? command.substring(0, 120) + "…" : command;
  }

  private void count() {
    long now = System.nanoTime();
    if ((countedAt != 0 && now - countedAt < COUNT_EVERY_NANOS)
        || !Files.isDirectory(DESCRIPTORS)) {
      return;
    }
    countedAt = now;
    try (Stream<Path> links = Files.list(DESCRIPTORS)) {
      List<Path> all = links.limit(MOST_COUNTED).toList();
      descriptors = all.size();
      sockets = all.stream().filter(ProcessNumbers::isSocket).count();
      limit =
          Files.readAllLines(LIMITS).stream()
              .filter(line -> line.startsWith("Max open files"))
              .map(line -> line.replaceFirst("Max open files\\s+(\\w+).*", "$1"))
              .filter(word -> word.matches("\\d+"))
              .mapToLong(Long::parseLong)
              .findFirst()
              .orElse(-1);
    } catch (IOException e) {
      descriptors = -1; // not shown
    }
  }

  private static boolean isSocket(Path link) {
    try {
      return Files.readSymbolicLink(link).toString().startsWith("socket:");
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }
}
