package dev.weft.internal.jdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.Fiber;
import dev.weft.ForkedJvm;
import dev.weft.Weft;
import dev.weft.testkit.Feature;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fast switching is on only where the classes of the JDK are those of a tested build. */
@Feature("H9")
class TestedBuildsTest {
  /** Switches fibers. */
  static final class Program {
    public static void main(String[] args) {
      Weft.run(
          () -> {
            Fiber<Integer> other =
                Weft.go(
                    () -> {
                      Fiber.yield();
                      return 42;
                    });
            System.out.println("joined " + other.join());
          });
    }
  }

  private static ForkedJvm.Result run(Path list, String... properties) throws Exception {
    List<String> arguments = new ArrayList<>();
    arguments.add("@" + Path.of(System.getProperty("weft.root"), "weft.args"));
    arguments.addAll(List.of(properties));
    arguments.add("-cp");
    arguments.add(list + File.pathSeparator + System.getProperty("java.class.path"));
    arguments.add(Program.class.getName());
    return ForkedJvm.java(arguments.toArray(String[]::new));
  }

  private static Path listOf(Path folder, String content) throws Exception {
    Path list = folder.resolve("dev/weft/internal/jdk/tested-builds.txt");
    Files.createDirectories(list.getParent());
    Files.writeString(list, content);
    return folder;
  }

  @Test
  void theTestsRunOnATestedBuild() throws Exception {
    TestedBuilds.check(Class.forName("java.lang.VirtualThread"));
    TestedBuilds.check(Class.forName("jdk.internal.vm.Continuation"));
  }

  @Test
  void aClassThatNoTestRunHasSeenIsNamedWithTheLineToAdd() throws Exception {
    assertThatExceptionOfType(UnsupportedJdk.class)
        .isThrownBy(() -> TestedBuilds.check(String.class))
        .withMessageContaining("no test run of Weft has seen its java.lang.String")
        .withMessageContaining("add the line '" + TestedBuilds.line() + "' to tested-builds.txt");
  }

  @Test
  void aDigestCountsOnlyAsAWhole() throws Exception {
    String virtual = TestedBuilds.digest(Class.forName("java.lang.VirtualThread"));
    assertThat(TestedBuilds.line()).endsWith(", jdk.internal.vm.Continuation" + continuation());
    assertThat(TestedBuilds.has(TestedBuilds.line(), virtual)).isTrue();
    assertThat(TestedBuilds.has("# " + TestedBuilds.line(), virtual)).isFalse();
    assertThat(TestedBuilds.has("some: " + virtual + "0", virtual)).isFalse();
    assertThat(TestedBuilds.has("some: x" + virtual, virtual)).isFalse();
  }

  private static String continuation() throws Exception {
    String name = "jdk.internal.vm.Continuation";
    return TestedBuilds.digest(Class.forName(name)).substring(name.length());
  }

  @Test
  void anUntestedBuildIsSwitchedByTheJdkAndThatIsSaidOnce(@TempDir Path folder) throws Exception {
    ForkedJvm.Result result = run(listOf(folder, "# none\n"));
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output())
        .contains("joined 42")
        .containsOnlyOnce("fibers are switched by the JDK itself")
        .contains("no test run of Weft has seen its java.lang.VirtualThread");
  }

  @Test
  void aTestedBuildSaysNothing(@TempDir Path folder) throws Exception {
    String own = "# this JDK\n" + TestedBuilds.line() + "\n";
    ForkedJvm.Result result = run(listOf(folder, own));
    assertThat(result.output()).contains("joined 42").doesNotContain("switched by the JDK");
  }

  @Test
  void fastSwitchingCanBeAskedForOnAnUntestedBuild(@TempDir Path folder) throws Exception {
    ForkedJvm.Result result = run(listOf(folder, "# none\n"), "-Dweft.switch=weft");
    assertThat(result.output()).contains("joined 42").doesNotContain("switched by the JDK");
  }
}
