package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Under {@code ./weft run} every virtual thread of a program runs on Weft. */
@Feature("H10")
class WholeProgramTest extends ProgramsTest {
  /** What a server with an acceptor or a selector on a platform thread does. */
  private static final String PLATFORM_STARTS_VIRTUAL =
      """
      import java.util.concurrent.*;
      void main() throws Exception {
        try (var handlers = Executors.newVirtualThreadPerTaskExecutor()) {
          handlers.submit(() -> IO.println("from main: " + where())).get();
          Thread acceptor = new Thread(() -> {
            try {
              handlers.submit(() -> IO.println("from a platform thread: " + where())).get();
            } catch (Exception e) {
              e.printStackTrace();
            }
          });
          acceptor.start();
          acceptor.join();
        }
      }
      String where() { return Thread.currentThread().toString().replaceAll(".*@|-\\\\d+$", ""); }
      """;

  @Test
  void threadsThatPlatformThreadsStartRunOnWeft() throws Exception {
    programs.write("Program.java", PLATFORM_STARTS_VIRTUAL);
    Command.Result onWeft = printed("from main: main\nfrom a platform thread: main\n");

    assertThat(run()).isEqualTo(onWeft);
    assertThat(run("--threads", "1")).isEqualTo(onWeft);
    assertThat(run("--no-hook")).isEqualTo(onWeft);
    assertThat(run("--main-thread")).isEqualTo(onWeft);
  }

  @Test
  void aPropertyLeavesThemToTheJdk() throws Exception {
    programs.write("Program.java", PLATFORM_STARTS_VIRTUAL);

    assertThat(
            programs
                .run("Program.java")
                .with("JDK_JAVA_OPTIONS", "-Dweft.threads=jdk")
                .run()
                .stdout())
        .isEqualTo("from main: main\nfrom a platform thread: ForkJoinPool-1-worker\n");
  }

  /** Prints how deep main, a thread and a virtual thread can recurse. */
  private static final String DEEP =
      """
      public class Program {
        static int depth;
        static void down() { depth++; down(); }
        static void report() {
          depth = 0;
          try { down(); } catch (StackOverflowError e) { }
          System.out.println(depth > 100_000 ? "deep" : "depth " + depth);
        }
        public static void main(String[] args) throws Exception {
          report();
          Thread thread = new Thread(Program::report);
          thread.start();
          thread.join();
          Thread.startVirtualThread(Program::report).join();
        }
      }
      """;

  @Test
  void theStackSizeOfTheUserCounts() throws Exception {
    programs.write("Program.java", DEEP);
    programs.write("options", "-Xss64m");

    for (String options : List.of("-Xss64m", "-ea -XX:ThreadStackSize=65536", "@options -ea")) {
      assertThat(programs.run("Program.java").with("JDK_JAVA_OPTIONS", options).run().stdout())
          .as(options)
          .isEqualTo("deep\ndeep\ndeep\n");
    }
  }

  @Test
  void withoutClassSharingNothingIsSaidOfWeftsArchive() throws Exception {
    programs.compile(
        "Program",
        "public class Program { public static void main(String[] args) { System.out.println(\"ran\"); } }");
    Command.Result result =
        programs.run("-cp", ".", "Program").with("JDK_JAVA_OPTIONS", "-Xshare:off").run();

    assertThat(result.stdout()).isEqualTo("ran\n");
    assertThat(result.stderr().lines()).allMatch(line -> line.startsWith("NOTE: Picked up"));
  }

  /** The user makes the archive by ./weft run too, since it holds for one class path. */
  @ParameterizedTest
  @CsvSource({
    "-XX:AOTCacheOutput=own.aot, -XX:AOTCache=own.aot",
    "-XX:ArchiveClassesAtExit=own.jsa, -XX:SharedArchiveFile=own.jsa"
  })
  void anArchiveOfTheUserCounts(String make, String use) throws Exception {
    Path compiled =
        programs.compile(
            "Program",
            "public class Program { public static void main(String[] args) { System.out.println(\"ran\"); } }");
    programs.jar("program.jar", new Attributes(), compiled.resolve("Program.class"));
    programs.run("-cp", "program.jar", "Program").with("JDK_JAVA_OPTIONS", make).run();
    Command.Result result =
        programs
            .run("-cp", "program.jar", "Program")
            .with("JDK_JAVA_OPTIONS", use + " -Xlog:class+load:file=loaded.txt")
            .run();

    assertThat(result.stdout()).isEqualTo("ran\n");
    assertThat(Files.readAllLines(programs.folder().resolve("loaded.txt")))
        .anyMatch(line -> line.matches(".* Program source: shared objects file.*"))
        .anyMatch(line -> line.matches(".* dev.weft.Scheduler source: shared objects file.*"));
  }

  /**
   * A restart as Spring's devtools do it ({@code Restarter}): the class loads itself anew, main is
   * called again on a thread "restartedMain" and the thread that called it first ends by an
   * exception that its handler swallows.
   */
  private static final String RESTARTS =
      """
      import java.net.*;
      import java.util.concurrent.*;
      public class Program {
        static class SilentExit extends RuntimeException {}

        static class Restarted extends URLClassLoader {
          Restarted() throws Exception {
            super(new URL[] {new java.io.File(".").toURI().toURL()}, Program.class.getClassLoader());
          }
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            Class<?> found = findLoadedClass(name);
            return found != null ? found : name.startsWith("Program") ? findClass(name) : super.loadClass(name, resolve);
          }
        }

        public static void main(String[] args) throws Exception {
          if (args.length > 0) {
            serve(args[0]);
            return;
          }
          Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> {
            if (!(e instanceof SilentExit)) { e.printStackTrace(); }
          });
          restart("first").join();
          new Thread(() -> {
            try {
              restart("second").join();
            } catch (Exception e) { e.printStackTrace(); }
          }, "File Watcher").start();
          throw new SilentExit();
        }

        static Thread restart(String generation) throws Exception {
          ClassLoader loader = new Restarted();
          Thread thread = new Thread(() -> {
            try {
              Class.forName("Program", false, loader).getMethod("main", String[].class)
                  .invoke(null, (Object) new String[] {generation});
            } catch (ReflectiveOperationException e) { e.printStackTrace(); }
          }, "restartedMain");
          thread.setContextClassLoader(loader);
          thread.setDaemon(false);
          thread.start();
          return thread;
        }

        static void serve(String generation) throws Exception {
          Thread main = Thread.currentThread();
          System.out.println(generation + " " + main.getName() + " in " + main.getThreadGroup().getName()
              + ", own loader: " + (main.getContextClassLoader() == Program.class.getClassLoader()));
          try (var handlers = Executors.newVirtualThreadPerTaskExecutor()) {
            handlers.submit(() -> System.out.println(generation + " handler on "
                + Thread.currentThread().toString().replaceAll(".*@|-[0-9]+$", "") + ", own loader: "
                + (Thread.currentThread().getContextClassLoader() == Program.class.getClassLoader()))).get();
          }
        }
      }
      """;

  @Test
  void aRestartByAnotherClassLoaderWorksAsUnderJava() throws Exception {
    programs.compile("Program", RESTARTS);
    Command.Result underJava = programs.java("-cp", ".", "Program").run();
    Command.Result onWeft = programs.run("-cp", ".", "Program").run();

    assertThat(onWeft)
        .isEqualTo(
            new Command.Result(
                underJava.exitStatus(),
                underJava.stdout().replace("on ForkJoinPool-1-worker", "on main"),
                ""));
    assertThat(onWeft.stdout())
        .isEqualTo(
            """
            first restartedMain in main, own loader: true
            first handler on main, own loader: true
            second restartedMain in main, own loader: true
            second handler on main, own loader: true
            """);
  }

  private static final String SERVER =
      """
      import java.util.concurrent.*;
      import java.util.concurrent.locks.*;
      public class Program {
        public static void main(String[] args) throws Exception {
          Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
              Thread.startVirtualThread(() -> System.out.println("hook")).join();
            } catch (InterruptedException e) { throw new AssertionError(e); }
          }));
          new Thread(() -> Thread.startVirtualThread(() -> {
            System.out.println("ready");
            LockSupport.park();
          })).start();
          new Thread(LockSupport::park).start();
        }
      }
      """;

  /** Main has returned; a virtual thread of a shutdown hook still runs. */
  @Test
  void aSignalEndsItAndRunsTheHooks() throws Exception {
    programs.compile("Program", SERVER);
    for (String option : List.of("--threads=1", "--main-thread")) {
      Process process = programs.run(option, "-cp", ".", "Program").start();
      try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
        assertThat(output.readLine()).isEqualTo("ready");
        process.toHandle().destroy(); // destroy() of a process closes its output
        assertThat(output.readLine()).isEqualTo("hook");
        assertThat(process.waitFor()).isEqualTo(143);
      } finally {
        process.destroyForcibly();
      }
    }
  }

  @Test
  void aJvmThatCannotIsToldInOneSentence() throws Exception {
    programs.write("Program.java", PLATFORM_STARTS_VIRTUAL);
    Command.Result result =
        programs
            .run("Program.java")
            .with("JDK_JAVA_OPTIONS", "-XX:+UnlockExperimentalVMOptions -XX:-VMContinuations")
            .run();

    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stderr().lines().filter(line -> !line.startsWith("NOTE: Picked up")))
        .containsExactly(
            "weft: Weft cannot run on this JVM, which has no continuations: leave out"
                + " -XX:-VMContinuations, or use a JVM that has them");
  }

  private Command.Result run(String... options) throws Exception {
    List<String> words = new ArrayList<>(List.of(options));
    words.add("Program.java");
    return programs.run(words.toArray(new String[0])).run();
  }

  private static Command.Result printed(String stdout) {
    return new Command.Result(0, stdout, "");
  }
}
