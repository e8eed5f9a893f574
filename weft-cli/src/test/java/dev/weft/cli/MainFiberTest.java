package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/** Programs that do know of Weft, and find their main to be a fiber. */
@Feature("H1")
class MainFiberTest extends ProgramsTest {
  @Test
  void mainIsAFiberOnSoManyThreads() throws Exception {
    write(
        """
        void main() {
          IO.println(Fiber.current().map(Fiber::name) + " " + Scheduler.current().map(Scheduler::threads));
        }
        """);
    String all = "Optional[" + Runtime.getRuntime().availableProcessors() + "]";
    assertThat(run()).isEqualTo(printed("Optional[main] " + all + "\n"));
    assertThat(run("--threads", "3")).isEqualTo(printed("Optional[main] Optional[3]\n"));
    assertThat(run("--threads=1")).isEqualTo(printed("Optional[main] Optional[1]\n"));
    assertThat(run("--main-thread")).isEqualTo(printed("Optional.empty Optional.empty\n"));
  }

  @Test
  @Feature("S23")
  void virtualThreadsThatItStartsAreItsGuests() throws Exception {
    write(
        """
        void main() throws Exception {
          Thread guest = Thread.ofVirtual().name("visitor").start(LockSupport::park);
          while (guest.getState() != Thread.State.WAITING) { Thread.yield(); }
          Scheduler.current().get().dump().text().lines()
              .filter(line -> line.contains("visitor"))
              .forEach(line -> IO.println(line.contains("a guest")));
        }
        """);
    assertThat(run()).isEqualTo(printed("true\n"));
  }

  @Test
  void fibersAndTimersThatItLeavesAreWaitedFor() throws Exception {
    write(
        """
        void main() {
          Scheduler here = Scheduler.current().get();
          Weft.go(() -> {
            Fiber.sleep(Duration.ofMillis(200));
            IO.println("fiber");
            Weft.go(() -> {
              Fiber.sleep(Duration.ofMillis(200));
              IO.println("its child");
              here.timers().after(Duration.ofMillis(200), () -> IO.println("timer"));
            });
          });
          here.timers().every(Duration.ofMillis(1), () -> {});
          Thread.startVirtualThread(LockSupport::park);
          IO.println("main");
        }
        """);
    assertThat(run()).isEqualTo(printed("main\nfiber\nits child\ntimer\n"));
    assertThat(run("--threads", "1")).isEqualTo(printed("main\nfiber\nits child\ntimer\n"));
  }

  @Test
  void exceptionsOfItsFibersAreReported() throws Exception {
    write(
        """
        void main() {
          Weft.go(() -> { throw new IllegalStateException("at once"); });
          Weft.go(() -> {
            Fiber.sleep(Duration.ofMillis(100));
            throw new IllegalStateException("later");
          });
        }
        """);
    Command.Result result = run();
    assertThat(result.exitStatus()).isZero();
    assertThat(result.stderr())
        .containsOnlyOnce("IllegalStateException: at once")
        .containsOnlyOnce("IllegalStateException: later");
  }

  @Test
  void aDeadlockAfterItsEndIsReported() throws Exception {
    write(
        """
        void main() {
          Weft.go(() -> { Fiber.suspend(); });
        }
        """);
    Process process = programs.run("Program.java").startWithErrors();
    try (BufferedReader errors = process.errorReader(StandardCharsets.UTF_8)) {
      assertThat(errors.lines().anyMatch(line -> line.contains("deadlock in scheduler main")))
          .isTrue();
    } finally {
      process.destroy();
    }
  }

  @Test
  void mainMayRunSchedulersOfItsOwn() throws Exception {
    write(
        """
        void main() {
          Weft.run(() -> IO.println("in " + Scheduler.current().get().name()));
          Scheduler own = Scheduler.builder().name("own").threads(1).useCaller(true).build();
          own.go(() -> IO.println("in " + Scheduler.current().get().name() + " on " + Fiber.threadIndex()));
          own.start();
          IO.println("nothing has run yet");
          own.stop();
          IO.println("in " + Scheduler.current().get().name());
        }
        """);
    assertThat(run())
        .isEqualTo(printed("in weft-main\nnothing has run yet\nin own on 0\nin main\n"));
  }

  @Test
  void otherFibersRunWhileMainReadsStandardInput() throws Exception {
    write(
        """
        void main() throws Exception {
          Thread.startVirtualThread(() -> {
            try { Thread.sleep(100); } catch (InterruptedException e) { }
            IO.println("another");
          });
          IO.println("main read " + IO.readln());
        }
        """);
    Process process = programs.run("--threads", "2", "Program.java").start();
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        var input = process.outputWriter(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).isEqualTo("another");
      input.write("this\n");
      input.flush();
      assertThat(output.readLine()).isEqualTo("main read this");
      assertThat(process.waitFor()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  @Feature("H9")
  void theHookIsSwitchedOffBeforeAnythingRuns() throws Exception {
    write("void main() { IO.println(System.getProperty(\"weft.hook\")); }");
    assertThat(run("--no-hook")).isEqualTo(printed("off\n"));
    assertThat(run("--no-hook", "--main-thread")).isEqualTo(printed("off\n"));
    assertThat(run()).isEqualTo(printed("null\n"));
  }

  /** To link them takes longer than all the rest of the start. */
  @Test
  void aProgramWithoutSocketsLinksNoSystemCalls() throws Exception {
    write("void main() { IO.println(\"hello\"); }");
    programs
        .run("Program.java")
        .with("JDK_JAVA_OPTIONS", "-Xlog:class+load:file=classes.log")
        .run();
    assertThat(Files.readString(folder.resolve("classes.log")))
        .contains("dev.weft.Scheduler ")
        .doesNotContain("DowncallStub");
  }

  private void write(String program) throws Exception {
    programs.write(
        "Program.java",
        "import dev.weft.*; import java.time.*; import java.util.concurrent.locks.*;\n" + program);
  }

  private Command.Result run(String... options) throws Exception {
    String[] words = java.util.Arrays.copyOf(options, options.length + 1);
    words[options.length] = "Program.java";
    return programs.run(words).run();
  }

  private static Command.Result printed(String stdout) {
    return new Command.Result(0, stdout, "");
  }
}
