package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Without its flags, and not allowed to open packages itself, Weft names the flags: they suffice.
 */
class RequiredFlagsTest {
  private static final String FORBIDDEN = "-Dweft.open=flags";

  /** The first call of a user's program. */
  static final class Program {
    public static void main(String[] args) {
      try {
        Coroutine.of(() -> System.out.println("it runs")).resume();
      } catch (ExceptionInInitializerError e) {
        System.out.println(e.getMessage());
        System.exit(3);
      }
    }
  }

  @Test
  void onTheClassPathTheMessageNamesFlagsThatWork() throws Exception {
    String classPath = ForkedJvm.classPathOf(Coroutine.class, Program.class);
    ForkedJvm.Result without = ForkedJvm.java(FORBIDDEN, "-cp", classPath, Program.class.getName());
    assertThat(without.exitStatus()).isEqualTo(3);
    assertThat(without.output()).startsWith("Weft, on the class path").contains("java @weft.args");

    String flags = flagsIn(without.output());
    assertThat(flags).contains("=ALL-UNNAMED");
    ForkedJvm.Result with =
        ForkedJvm.java(concat(flags, "-cp", classPath, Program.class.getName()));
    assertThat(with.output()).isEqualTo("it runs\n");
    assertThat(with.exitStatus()).isZero();
  }

  @Test
  void onTheModulePathTheMessageNamesFlagsThatWork(@TempDir Path dir) throws Exception {
    Path program =
        WeftModule.compileProgram(
            dir,
            """
            dev.weft.Weft.run(
                () -> dev.weft.Coroutine.of(() -> System.out.println("it runs")).resume());
            """);
    String[] run = {
      "-p", WeftModule.path() + java.io.File.pathSeparator + program, "-m", "app/app.Main"
    };
    ForkedJvm.Result without = ForkedJvm.java(concat(FORBIDDEN, run));
    assertThat(without.exitStatus()).isNotZero();
    assertThat(without.output()).contains("ExceptionInInitializerError: Weft, on the module path");

    String flags = flagsIn(without.output());
    assertThat(flags).contains("=dev.weft");
    ForkedJvm.Result with = ForkedJvm.java(concat(flags, run));
    assertThat(with.output()).isEqualTo("it runs\n");
    assertThat(with.exitStatus()).isZero();

    // and without the optional modules
    ForkedJvm.Result alone = ForkedJvm.java(concat(flags + " --limit-modules=app", run));
    assertThat(alone.output()).isEqualTo("it runs\n");
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
