package dev.weft.cli;

import dev.weft.internal.PlainText;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The processes of this machine that use Weft. On Linux they are told by the name of the watchdog's
 * thread, which the kernel shows without asking the process; on other systems by asking.
 */
final class WeftProcesses {
  private static final Path PROC = Path.of("/proc");

  /** The name of the thread that every process has in which a scheduler was started. */
  private static final String WATCHDOG = "weft-watchdog";

  private WeftProcesses() {}

  /** Returns whether the kernel shows the threads of processes. */
  static boolean hasProc() {
    return Files.isDirectory(PROC.resolve("self/task"));
  }

  /** Returns the processes that use Weft, oldest first; of all users, as far as they are shown. */
  static List<ProcessHandle> list() {
    try (Stream<ProcessHandle> all = ProcessHandle.allProcesses()) {
      return all.filter(process -> usesWeft(process.pid()))
          .sorted(
              Comparator.comparing(process -> process.info().startInstant().orElse(Instant.MAX)))
          .toList();
    }
  }

  /** A table of processes, or a line that says that there is none. */
  static String table(List<ProcessHandle> processes) {
    if (!hasProc()) {
      return "this system does not show the threads of processes: jps lists the Java processes\n";
    }
    if (processes.isEmpty()) {
      return "no process of this machine uses Weft, or none that you may see\n";
    }
    StringBuilder out = new StringBuilder("    PID USER             UP COMMAND\n");
    for (ProcessHandle process : processes) {
      ProcessHandle.Info info = process.info();
      out.append(
          String.format(
              Locale.ROOT,
              "%7d %-12s %6s %s%n",
              process.pid(),
              info.user().orElse("?"),
              info.startInstant().map(WeftProcesses::since).orElse("?"),
              command(info)));
    }
    return out.toString();
  }

  private static String since(Instant start) {
    Duration up = Duration.between(start, Instant.now());
    if (up.toDays() > 0) {
      return up.toDays() + " d";
    }
    return up.toHours() > 0
        ? up.toHours() + " h"
        : up.toMinutes() > 0 ? up.toMinutes() + " min" : up.toSeconds() + " s";
  }

  /**
   * The command line without the options of the JVM, and without control characters: each user of
   * the machine chooses those of its processes, and must not command the terminal of another.
   */
  private static String command(ProcessHandle.Info info) {
    List<String> words = new ArrayList<>(List.of(info.arguments().orElse(new String[0])));
    while (!words.isEmpty() && isJvmOption(words.getFirst())) {
      boolean hasValue =
          List.of("-cp", "-p", "-classpath", "--class-path").contains(words.getFirst());
      words.removeFirst();
      if (hasValue && !words.isEmpty()) {
        words.removeFirst();
      }
    }
    String text =
        PlainText.oneLine(words.isEmpty() ? info.command().orElse("?") : String.join(" ", words));
    return text.length() > 100 ? text.substring(0, 99) + "…" : text;
  }

  private static boolean isJvmOption(String word) {
    return word.startsWith("@") || (word.startsWith("-") && !word.equals("-jar"));
  }

  /**
   * Returns a process that may be asked.
   *
   * @param word the process id, as the user wrote it
   * @param command the command that asks
   */
  static ProcessHandle find(String word, String command) {
    long pid;
    try {
      pid = Long.parseLong(word);
    } catch (NumberFormatException e) {
      throw UserMistake.usage(
          "the process must be named by its number, not by '%s'; ./weft ps lists those that use Weft"
              .formatted(word));
    }
    Optional<ProcessHandle> found = ProcessHandle.of(pid);
    if (found.isEmpty()) {
      throw UserMistake.program(
          "there is no process " + pid + "; ./weft ps lists those that use Weft");
    }
    String owner = found.get().info().user().orElse("");
    String me = ProcessHandle.current().info().user().orElse("");
    if (!owner.isEmpty() && !owner.equals(me) && !me.equals("root")) {
      throw UserMistake.program(
          "you, %s, may not look into process %d: it belongs to %s; run ./weft %s as %s"
              .formatted(
                  me, pid, owner, command, owner.equals("root") ? "root" : owner + " or as root"));
    }
    if (hasProc() && !usesWeft(pid)) {
      throw UserMistake.program(
          "process %d does not use Weft: no scheduler has been started in it; ./weft ps lists those that do"
              .formatted(pid));
    }
    return found.get();
  }

  /** Returns whether a process has a watchdog of Weft's; false if that cannot be seen. */
  static boolean usesWeft(long pid) {
    Path tasks = PROC.resolve(pid + "/task");
    if (!Files.isDirectory(tasks)) {
      return false;
    }
    try (DirectoryStream<Path> all = Files.newDirectoryStream(tasks)) {
      for (Path task : all) {
        if (read(task.resolve("comm")).strip().equals(WATCHDOG)) {
          return true;
        }
      }
    } catch (IOException | java.nio.file.DirectoryIteratorException e) {
      return false; // it has ended, or it belongs to another user and is hidden
    }
    return false;
  }

  /** Returns the contents of a file of the kernel's; empty if it cannot be read. */
  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }
}
