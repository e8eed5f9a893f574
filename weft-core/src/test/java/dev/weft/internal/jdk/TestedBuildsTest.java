package dev.weft.internal.jdk;

import static org.assertj.core.api.Assertions.assertThat;

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
    TestedBuilds.check();
  }

  @Test
  void aBuildCountsOnlyIfOneLineHasAllItsClasses() throws Exception {
    List<String> own = ownDigests();
    String line = TestedBuilds.line();
    assertThat(TestedBuilds.has("# none\n" + line + "\n", own)).isTrue();
    for (String digest : own) {
      String without = line.replace(digest, digest + "0");
      assertThat(TestedBuilds.has(without, own)).as(without).isFalse();
      String onTwoLines = "one: " + digest + "\ntwo: " + line.replace(digest, "a.B 1 00000000");
      assertThat(TestedBuilds.has(onTwoLines, own)).as(onTwoLines).isFalse();
    }
  }

  @Test
  void aDigestCountsOnlyAsAWhole() throws Exception {
    String virtual = TestedBuilds.digest(Class.forName("java.lang.VirtualThread"));
    List<String> wanted = List.of(virtual);
    assertThat(TestedBuilds.has(TestedBuilds.line(), wanted)).isTrue();
    assertThat(TestedBuilds.has("# " + TestedBuilds.line(), wanted)).isFalse();
    assertThat(TestedBuilds.has("some: " + virtual + "0", wanted)).isFalse();
    assertThat(TestedBuilds.has("some: x" + virtual, wanted)).isFalse();
  }

  private static List<String> ownDigests() throws Exception {
    List<String> digests = new ArrayList<>();
    for (String name :
        List.of("java.lang.VirtualThread", "jdk.internal.vm.Continuation", "java.lang.Thread")) {
      digests.add(TestedBuilds.digest(Class.forName(name)));
    }
    return digests;
  }

  @Test
  void anUntestedBuildIsSwitchedByTheJdkAndThatIsSaidOnce(@TempDir Path folder) throws Exception {
    ForkedJvm.Result result = run(listOf(folder, "# none\n"));
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output())
        .contains("joined 42")
        .containsOnlyOnce("fibers are switched by the JDK itself")
        .contains("no test run of Weft has seen this build of the JDK")
        .contains("add the line '" + TestedBuilds.line() + "' to tested-builds.txt");
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
