package dev.weft.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What Linux tells of a process from outside, so that it costs the process nothing; -1 where the
 * system does not tell it.
 *
 * @param cpuPercent of one core, since the figures before
 * @param cpu the CPU time that the process has used
 * @param taken when, by the clock of this process
 */
record SystemFigures(
    long cpuPercent,
    Duration cpu,
    long taken,
    long descriptors,
    long mostDescriptors,
    long sockets) {
  /** Sockets are told by their names, one by one: of more descriptors than these a sample. */
  private static final int MOST_NAMES = 2_000;

  static SystemFigures of(ProcessHandle process, SystemFigures before) {
    Duration cpu = process.info().totalCpuDuration().orElse(Duration.ZERO);
    long taken = System.nanoTime();
    long nanos = taken - before.taken;
    Path proc = Path.of("/proc/" + process.pid());
    long open = 0;
    long names = 0;
    long sockets = 0;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(proc.resolve("fd"))) {
      for (Path one : all) {
        open++;
        if (open <= MOST_NAMES) {
          names++;
          sockets += isSocket(one) ? 1 : 0;
        }
      }
    } catch (IOException | java.nio.file.DirectoryIteratorException e) {
      open = -1;
    }
    return new SystemFigures(
        before.taken == 0 || nanos <= 0 ? -1 : 100 * cpu.minus(before.cpu).toNanos() / nanos,
        cpu,
        taken,
        open,
        limit(proc),
        open < 0 ? -1 : names == 0 ? 0 : sockets * open / names);
  }

  static SystemFigures none() {
    return new SystemFigures(-1, Duration.ZERO, 0, -1, -1, -1);
  }

  private static boolean isSocket(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }

  private static long limit(Path proc) {
    return WeftProcesses.read(proc.resolve("limits"))
        .lines()
        .filter(line -> line.startsWith("Max open files"))
        .map(line -> line.substring("Max open files".length()).strip().split("\\s+", -1)[0])
        .filter(word -> word.matches("\\d+"))
        .map(Long::parseLong)
        .findFirst()
        .orElse(-1L);
  }
}
