package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs that ask for libraries. */
@Timeout(value = 5, unit = TimeUnit.MINUTES) // Maven may have to download
class LibrariesTest extends ProgramsTest {
  private Command run(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
    return Script.weft("run", name).in(folder);
  }

  private static String offline() {
    return "-o -Dmaven.repo.local=" + System.getProperty("localRepository");
  }

  @Test
  void theyAreOnItsClassPathWithWhatTheyNeed() throws Exception {
    Command command =
        run(
            "Json.java",
            """
            //DEPS com.google.code.gson:gson:2.13.2
            void main() {
              IO.println(new com.google.gson.Gson().toJson(java.util.List.of(1, 2)));
            }
            """);
    Command.Result wanted = new Command.Result(0, "[1,2]\n", "");
    assertThat(command.run()).isEqualTo(wanted);
    // the second time without Maven, which this would break
    assertThat(command.with("MAVEN_ARGS", "--no-such-option").run()).isEqualTo(wanted);
  }

  @Test
  void aCacheThatCannotBeWrittenKeepsNothing() throws Exception {
    programs.write("cache", "a file, which stops root too");
    Command command =
        run(
            "Json.java",
            """
            //DEPS com.google.code.gson:gson:2.13.2
            void main() { IO.println(new com.google.gson.Gson().toJson(1)); }
            """);

    assertThat(command.with("XDG_CACHE_HOME", folder.resolve("cache").toString()).run())
        .isEqualTo(new Command.Result(0, "1\n", ""));
  }

  @Test
  void aMissingLibraryIsNamed() throws Exception {
    Command.Result result =
        run("None.java", "//DEPS no.such:library:1.0\nvoid main() {}\n")
            .with("MAVEN_ARGS", offline())
            .run();
    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stderr())
        .startsWith("weft: cannot get the libraries of None.java: ")
        .contains("no.such:library")
        .hasLineCount(1);
  }

  /** Of two options the JVM takes the later. */
  @Test
  void mavenStartsWithOptionsForAShortRunAndTheUsersAfterThem() throws Exception {
    programs.write("bin/mvn", "#!/bin/sh\necho \"[ERROR] $MAVEN_OPTS\"\nexit 1\n");
    assertThat(folder.resolve("bin/mvn").toFile().setExecutable(true)).isTrue();
    Command command =
        run("Json.java", "//DEPS no.such:library:1.0\nvoid main() {}\n")
            .with("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"))
            .without("MAVEN_OPTS");

    String error = "weft: cannot get the libraries of Json.java: ";
    String brief = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
    assertThat(command.run()).isEqualTo(new Command.Result(1, "", error + brief + "\n"));
    assertThat(command.with("MAVEN_OPTS", "-Xmx1g").run())
        .isEqualTo(new Command.Result(1, "", error + brief + " -Xmx1g\n"));
  }

  @Test
  void aWordThatIsNoLibraryIsNamed() throws Exception {
    Command.Result result = run("Odd.java", "//DEPS gson\nvoid main() {}\n").run();
    assertThat(result)
        .isEqualTo(
            new Command.Result(
                1,
                "",
                "weft: Odd.java asks for the library gson; it must be group:artifact:version\n"));
  }
}
