package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short form of {@link RepeatStress}. */
@Tag("stress")
@Feature("V2")
class RepeatStressTest {
  @TempDir Path folder;

  @Test
  void noRunDiffersInAnyJvmUnderLoadOrNot() throws Exception {
    assertThat(RepeatStress.run(2_000, 0, Progress.silent())).isGreaterThan(500);
  }

  @Test
  void progressIsMadeAtEachLineOfAProcess() throws Exception {
    AtomicInteger lines = new AtomicInteger();
    // the process goes on only if its first line has been counted
    Path counted = folder.resolve("counted");
    ProcessBuilder waits =
        new ProcessBuilder(
            "sh",
            "-c",
            "echo one; while [ ! -e '" + counted + "' ]; do sleep 0.01; done; echo two");
    List<List<String>> outputs =
        RepeatStress.outputs(
            List.of(waits),
            () -> {
              if (lines.incrementAndGet() == 1) {
                write(counted);
              }
            });
    assertThat(outputs).containsExactly(List.of("one", "two"));
    assertThat(lines).hasValue(2);
  }

  private static void write(Path file) {
    try {
      Files.createFile(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aFailureEndsTheOtherProcesses() throws Exception {
    ProcessBuilder fails = new ProcessBuilder("sh", "-c", "echo failed; exit 3");
    ProcessBuilder lasts = new ProcessBuilder("sleep", "3600");
    List<ProcessHandle> before = ProcessHandle.current().children().toList();
    assertThatThrownBy(() -> RepeatStress.outputs(List.of(fails, lasts), () -> {}))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("status 3: failed");
    for (ProcessHandle child : ProcessHandle.current().children().toList()) {
      if (!before.contains(child)) {
        child.onExit().get(10, TimeUnit.SECONDS);
      }
    }
  }
}
