package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Without its flags Weft names the missing flags, and these are enough. */
class RequiredFlagsTest {
  /** The first call of a user's program. */
  static final class Program {
    public static void main(String[] args) {
      try {
        Coroutine.of(() -> System.out.println("it runs")).resume();
      } catch (ExceptionInInitializerError e) {
        System.out.println(e.getCause());
        System.exit(3);
      }
    }
  }

  @Test
  void onTheClassPathTheMessageNamesFlagsThatWork() throws Exception {
    String classPath = ForkedJvm.classPathOf(Coroutine.class, Program.class);
    ForkedJvm.Result without = ForkedJvm.java("-cp", classPath, Program.class.getName());
    assertThat(without.exitStatus()).isEqualTo(3);
    assertThat(without.output())
        .contains("IllegalStateException")
        .contains("class path")
        .contains("java @weft.args");

    String flags = flagsIn(without.output());
    assertThat(flags).contains("=ALL-UNNAMED");
    ForkedJvm.Result with =
        ForkedJvm.java(concat(flags, "-cp", classPath, Program.class.getName()));
    assertThat(with.output()).isEqualTo("it runs\n");
    assertThat(with.exitStatus()).isZero();
  }

  @Test
  void onTheModulePathTheMessageNamesFlagsThatWork(@TempDir Path dir) throws Exception {
    String modulePath =
        ForkedJvm.classPathOf(
            Coroutine.class,
            NullMarked.class,
            MessagePassingQueue.class,
            MpscUnboundedVarHandleArrayQueue.class);
    Path program = compileModule(dir, modulePath);
    String[] run = {"-p", modulePath + java.io.File.pathSeparator + program, "-m", "app/app.Main"};
    ForkedJvm.Result without = ForkedJvm.java(run);
    assertThat(without.exitStatus()).isNotZero();
    assertThat(without.output()).contains("IllegalStateException").contains("module path");

    String flags = flagsIn(without.output());
    assertThat(flags).contains("=dev.weft");
    ForkedJvm.Result with = ForkedJvm.java(concat(flags, run));
    assertThat(with.output()).isEqualTo("it runs\n");
    assertThat(with.exitStatus()).isZero();

    // and without the optional modules
    ForkedJvm.Result alone = ForkedJvm.java(concat(flags + " --limit-modules=app", run));
    assertThat(alone.output()).isEqualTo("it runs\n");
  }

  private static Path compileModule(Path dir, String modulePath) throws Exception {
    Path sources = Files.createDirectories(dir.resolve("src/app"));
    Files.writeString(dir.resolve("src/module-info.java"), "module app { requires dev.weft; }");
    Files.writeString(
        sources.resolve("Main.java"),
        """
        package app;
        public class Main {
          public static void main(String[] args) {
            dev.weft.Weft.run(
                () -> dev.weft.Coroutine.of(() -> System.out.println("it runs")).resume());
          }
        }
        """);
    Path classes = dir.resolve("classes");
    int status =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(
                System.out,
                System.err,
                "-p",
                modulePath,
                "-d",
                classes.toString(),
                dir.resolve("src/module-info.java").toString(),
                sources.resolve("Main.java").toString());
    assertThat(status).isZero();
    return classes;
  }

  private static String flagsIn(String message) {
    List<String> flags =
        message.lines().map(String::strip).filter(line -> line.startsWith("--")).toList();
    assertThat(flags).isNotEmpty();
    return String.join(" ", flags);
  }

  private static String[] concat(String flags, String... rest) {
    return java.util.stream.Stream.concat(
            java.util.Arrays.stream(flags.split(" ", -1)), java.util.Arrays.stream(rest))
        .toArray(String[]::new);
  }
}
