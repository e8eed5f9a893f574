package dev.weft.bench.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where and when numbers were taken.
 *
 * @param code the commit that was measured, with {@code -dirty} if files differed from it
 */
public record Environment(
    String date,
    String code,
    String jdk,
    String os,
    String cpu,
    int cores,
    List<String> collectors,
    List<String> jvmFlags,
    String commandLine,
    int rounds,
    boolean quick) {
  private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

  /** Describes this machine and this JVM. */
  public static Environment here(
      String code, List<String> jvmFlags, String commandLine, int rounds, boolean quick) {
    return new Environment(
        LocalDate.now(ZoneId.systemDefault()).toString(),
        code,
        System.getProperty("java.vendor.version", "") + " (" + Runtime.version() + ")",
        System.getProperty("os.name") + " " + System.getProperty("os.arch"),
        processor(),
        Runtime.getRuntime().availableProcessors(),
        ManagementFactory.getGarbageCollectorMXBeans().stream().map(gc -> gc.getName()).toList(),
        jvmFlags,
        commandLine,
        rounds,
        quick);
  }

  /** Returns one line for a picture: date, JDK, processor. */
  public String line() {
    return String.join(
        " · ", date, "JDK " + jdk, os, cpu, cores + (cores == 1 ? " core" : " cores"));
  }

  /** Returns one line about how it was measured. */
  public String method() {
    return "median of %d %s%s, each contestant in a fresh JVM a round"
        .formatted(rounds, rounds == 1 ? "round" : "rounds", quick ? " (quick, so rough)" : "");
  }

  private static String processor() {
    if (!Files.isReadable(CPU_INFO)) {
      return "unknown processor";
    }
    try (Stream<String> lines = Files.lines(CPU_INFO)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown processor");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + CPU_INFO, e);
    }
  }
}
