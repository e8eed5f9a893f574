package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code ./weft} finds, builds and says by itself, on machines that lack something. */
class ScriptTest {
  /** What the script calls besides Java and Maven. */
  private static final List<String> TOOLS =
      List.of(
          "awk",
          "bash",
          "cat",
          "cksum",
          "cp",
          "dirname",
          "env",
          "find",
          "flock",
          "grep",
          "head",
          "ln",
          "ls",
          "mkdir",
          "mv",
          "readlink",
          "rm",
          "sed",
          "sleep",
          "tee",
          "touch",
          "tr");

  @TempDir private Path machine;

  // a clone of Weft on that machine; its folder has a space in its name
  private Path clone;

  @BeforeEach
  void emptyMachine() throws Exception {
    clone = Files.createDirectories(machine.resolve("home/my weft"));
    Files.createDirectories(machine.resolve("bin"));
    for (String tool : TOOLS) {
      for (String folder : List.of("/bin", "/usr/bin")) {
        if (Files.isExecutable(Path.of(folder, tool))
            && !Files.exists(machine.resolve("bin").resolve(tool))) {
          Files.createSymbolicLink(machine.resolve("bin").resolve(tool), Path.of(folder, tool));
        }
      }
    }
    // the folders of this machine, which may well have a JDK 25, become those of the other one
    String script = Files.readString(Script.ROOT.resolve("weft"));
    String jvms = machine.resolve("jvm").toString();
    executable(
        "home/my weft/weft",
        script.replaceAll("/usr/lib/jvm|/usr/java|/opt/|/Library|/usr/local", jvms));
    Clones.copyFiles(clone, "bin");
    Files.writeString(clone.resolve("pom.xml"), "<project>\n  <version>1.2.3</version>\n");
  }

  @Test
  void helpIsOnStandardOutput() throws Exception {
    var help = Script.weft("help").run();

    assertThat(help.stdout()).contains("./weft run", "./weft test", "./weft bench");
    assertThat(help.exitStatus()).isZero();
    assertThat(help.stderr()).isEmpty();
    assertThat(Script.weft().run()).isEqualTo(help);
    assertThat(Script.weft("--help").run()).isEqualTo(help);
    assertThat(Script.weft("-h").run()).isEqualTo(help);
  }

  @Test
  void eachCommandPrintsItsOwnHelpBeforeAnythingIsBuilt() throws Exception {
    List<String> commands =
        Pattern.compile("(?m)^  \\./weft ([a-z]+)")
            .matcher(weft("help").run().stdout())
            .results()
            .map(line -> line.group(1))
            .toList();
    assertThat(commands).contains("run", "new", "echo", "http", "im", "test", "dist");

    for (String command : commands) {
      var help = weft(command, "--help").run();
      assertThat(help.stdout()).startsWith("./weft " + command);
      assertThat(help).isEqualTo(new Command.Result(0, help.stdout(), ""));
      assertThat(weft(command, "-h").run()).isEqualTo(help);
      assertThat(weft("help", command).run()).isEqualTo(help);
    }
    assertThat(weft("run", "--threads", "2", "--help").run().stdout()).startsWith("./weft run");
  }

  /** The line that follows a mistake and the help come from different places. */
  @Test
  void helpExplainsEveryOptionOfTheUsageLine() throws Exception {
    Pattern usage = Pattern.compile("(?s)\"usage: \\./weft (\\w+)(.*?);");
    Pattern option = Pattern.compile("(?<=\\[)--?[a-z-]+");
    List<String> commands = new ArrayList<>();
    for (String module : List.of("weft-cli", "weft-im")) {
      for (Path file : sourcesOf(module)) {
        Matcher line = usage.matcher(Files.readString(file));
        while (line.find()) {
          commands.add(line.group(1));
          String help = weft("help", line.group(1)).run().stdout();
          assertThat(option.matcher(line.group(2)).results().map(MatchResult::group))
              .as("%s of %s", line.group(1), file.getFileName())
              .isNotEmpty()
              .allMatch(help::contains);
        }
      }
    }
    assertThat(commands).contains("run", "echo", "http", "im");
  }

  private static List<Path> sourcesOf(String module) throws Exception {
    try (Stream<Path> files = Files.walk(Script.ROOT.resolve(module).resolve("src/main/java"))) {
      return files.filter(file -> file.toString().endsWith(".java")).toList();
    }
  }

  /** Told before the packages are built, which takes a minute. */
  @Test
  void aProjectThatCannotBeWrittenIsOneLine() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");

    assertThat(weft("new", "weft/project").in(clone).run())
        .isEqualTo(failure(1, "cannot make a project in weft/project: it cannot be written"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          fly                  | unknown command 'fly'; ./weft help lists what there is
          help,fly             | unknown command 'fly'; ./weft help lists what there is
          help,../help/run     | unknown command '../help/run'; ./weft help lists what there is
          test,-X              | unknown option '-X'; Maven's own go after --: ./weft test -- -X
          new                  | usage: ./weft new DIR
          new,a,b              | usage: ./weft new DIR
          new,-x               | unknown option '-x'; usage: ./weft new DIR
          new,.                | cannot make a project in .: it exists and is not an empty folder
          new,weft             | cannot make a project in weft: it exists and is not an empty folder
          dist,--fast          | unknown option '--fast'; usage: ./weft dist [--version V] [--check]
          dist,--version       | option --version needs a value; usage: ./weft dist [--version V] [--check]
          dist,--version,../up | a version begins with a digit and has digits, letters, dots and dashes, as 1.2.0 or 1.2.0-rc.1, not '../up'
          """)
  void wrongUsageIsOneLineAndStatus2(String arguments, String message) throws Exception {
    assertThat(weft(arguments.split(",", -1)).in(clone).run()).isEqualTo(failure(2, message));
  }

  @Test
  void versionCommitAndJdk() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");
    String jdk = "JDK 25.0.3+9 in " + machine.resolve("jvm/jdk-25") + "\n";
    assertThat(weft("--version").run())
        .isEqualTo(new Command.Result(0, "weft 1.2.3\ncommit unknown\n" + jdk, ""));

    // unzipped
    Files.delete(clone.resolve("pom.xml"));
    Files.writeString(clone.resolve("VERSION"), "version=4.5.6\ncommit=abc\n");
    assertThat(weft("--version").run())
        .isEqualTo(new Command.Result(0, "weft 4.5.6\ncommit abc\n" + jdk, ""));
  }

  @Test
  void theCommitOfAClone() throws Exception {
    String commit = Command.of("git", "rev-parse", "HEAD").in(Script.ROOT).run().stdout().strip();
    assertThat(Script.weft("--version").run().stdout())
        .containsPattern("(?m)^weft \\d+\\.\\d+\\.\\d+(-\\S+)?$")
        .containsPattern("(?m)^commit " + commit.substring(0, 12) + "(-changed)?$")
        .containsPattern("(?m)^JDK 25.* in /");
  }

  @Test
  void commandsThatNeedACloneSaySoInAnUnzippedFolder() throws Exception {
    Files.delete(clone.resolve("pom.xml"));

    for (String command : List.of("im", "bench", "stress", "test", "dist")) {
      assertThat(weft(command).run())
          .isEqualTo(
              failure(
                  2,
                  "./weft %s needs a clone of Weft: %s has the launcher only"
                      .formatted(command, clone)));
    }
  }

  @Test
  void withoutJdk25ItSaysWhereToGetOne() throws Exception {
    jdk("jvm/jdk-17", "17.0.15");
    jdk("jvm/jdk-26", "26");

    var result = weft("run", "Hello").run();

    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stderr())
        .startsWith("weft: JDK 25 not found: install it (")
        .contains("apt", "brew", "sdk", "JAVA_HOME")
        .hasLineCount(1);
  }

  @Test
  void withoutMavenItSaysWhereToGetIt() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");

    var result = weft("run", "Hello").run();

    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stderr().lines().toList().getLast())
        .startsWith("weft: Maven not found: install it");
  }

  @Test
  void javaHomeGoesBeforeThePathAndThePathBeforeFolders() throws Exception {
    built();
    jdk("jvm/one", "25.0.1");
    assertThat(weft("run", "x").run().stdout()).contains("/jvm/one/bin/java @");

    jdk("path", "25.0.2");
    Files.createSymbolicLink(machine.resolve("bin/java"), machine.resolve("path/bin/java"));
    assertThat(weft("run", "x").run().stdout()).contains("/path/bin/java @");

    jdk("home/jdk", "25");
    String home = machine.resolve("home/jdk").toString();
    assertThat(weft("run", "x").with("JAVA_HOME", home).run().stdout())
        .contains("/home/jdk/bin/java @");

    jdk("old", "17");
    String old = machine.resolve("old").toString();
    assertThat(weft("run", "x").with("JAVA_HOME", old).run().stdout()).contains("/path/bin/java @");
  }

  @Test
  void aFailedBuildShowsTheErrorsAndTheLog() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");
    executable(
        "bin/mvn",
        """
        #!/usr/bin/env bash
        echo "[INFO] chatter"
        echo "[ERROR] COMPILATION ERROR :"
        echo "[ERROR] $PWD/weft-core/src/main/java/A.java:[3,1] ';' expected"
        echo "[ERROR] $PWD/weft-core/src/main/java/A.java:[3,1] ';' expected"
        echo "[ERROR] -> [Help 1]"
        exit 1
        """);

    var result = weft("run", "Hello").run();

    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stderr())
        .isEqualTo(
            """
            weft: building; the first time downloads libraries, too
            [ERROR] weft-core/src/main/java/A.java:[3,1] ';' expected
            weft: Weft does not build; the full log is in %s
            """
                .formatted(clone.resolve("target/launch/build.log")));
  }

  @Test
  void withoutATerminalABuildTellsOfEachModuleAndOfDownloads() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");
    executable(
        "bin/mvn",
        """
        #!/usr/bin/env bash
        for i in {1..250}; do echo "[INFO] Downloaded from central: https://x.invalid/$i (1 kB)"; done
        echo "[INFO] --- resources:3.5.0:resources (default-resources) @ weft-core ---"
        echo "[INFO] --- compiler:3.16.0:compile (default-compile) @ weft-core ---"
        echo "[INFO] --- compiler:3.16.0:compile (default-compile) @ weft-http ---"
        echo "[INFO] --- jar:3.5.0:jar (default-cli) @ weft-core ---"
        exit 130
        """);

    assertThat(weft("run", "Hello").run().stderr())
        .isEqualTo(
            """
            weft: building; the first time downloads libraries, too
            weft: 100 files downloaded
            weft: 200 files downloaded
            weft: building weft-core
            weft: building weft-http
            """);
  }

  @Test
  void ctrlCDuringABuildNeedsNoWords() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");
    executable("bin/mvn", "#!/usr/bin/env bash\nexit 130\n");

    assertThat(weft("run", "Hello").run())
        .isEqualTo(
            new Command.Result(
                130, "", "weft: building; the first time downloads libraries, too\n"));
    assertThat(weft("test").run()).isEqualTo(new Command.Result(130, "", ""));
  }

  @Test
  void aMissingFileIsReportedBeforeAnythingIsBuilt() throws Exception {
    assertThat(weft("run", "--threads", "2", "nope.java").run())
        .isEqualTo(failure(2, "no such file: nope.java"));
    assertThat(weft("run", "nope.jar").run()).isEqualTo(failure(2, "no such file: nope.jar"));

    executable("home/my weft/weft-core/src/test/java/a/MutexTest.java", "");
    assertThat(weft("test", "MutexTest", "NopeTest").run())
        .isEqualTo(failure(2, "no test class matches NopeTest"));
    assertThat(weft("test", "Mutex*,Nope*").run())
        .isEqualTo(failure(2, "no test class matches Nope*"));
    assertThat(weft("test", "a.MutexTest#locks", "M*,!Nope*", "%regex[Nope]").run().stderr())
        .startsWith("weft: JDK 25 not found"); // the next thing to look for
  }

  @Test
  void anInstallationThatCannotBeWrittenIsOneLine() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");
    Files.writeString(clone.resolve("target"), "a file, which stops root too");

    assertThat(weft("run", "Hello").run())
        .isEqualTo(
            failure(
                1,
                "cannot build: %s/target/launch cannot be written; use a clone of your own"
                    .formatted(clone)));
    assertThat(weft("test").run())
        .isEqualTo(
            failure(
                1,
                "cannot build: %s/target cannot be written; use a clone of your own"
                    .formatted(clone)));
  }

  @Test
  void waitingForAnotherBuildIsSaid() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");
    executable("bin/mvn", "#!/usr/bin/env bash\nexit 130\n");
    Path owner = clone.resolve("target/launch/lock.owner");
    Files.createDirectories(owner.getParent());
    Files.createSymbolicLink(owner, Path.of("" + ProcessHandle.current().pid()));
    Files.delete(machine.resolve("bin/flock"));
    Files.delete(machine.resolve("bin/sleep")); // a waiting ./weft calls it again and again
    executable("bin/sleep", "#!/usr/bin/env bash\nrm '%s'\n".formatted(owner));

    assertThat(weft("run", "Hello").run().stderr())
        .startsWith("weft: waiting for another build of Weft to end\nweft: building;");
  }

  @Test
  void whyMavenDidNotBeginIsShownAndNothingElse() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");
    executable(
        "bin/mvn",
        """
        #!/usr/bin/env bash
        echo "Unable to parse command line options: Unrecognized option: --bogus"
        echo
        echo "usage: mvn [options]"
        exit 1
        """);

    assertThat(weft("test", "--", "--bogus").run())
        .isEqualTo(
            new Command.Result(
                1,
                "",
                """
                Unable to parse command line options: Unrecognized option: --bogus
                weft: the build failed; the full log is in %s
                """
                    .formatted(clone.resolve("target/test.log"))));
  }

  @Test
  void someTestsAreToldApartAndSayNothingOfTheWhole() throws Exception {
    jdk("jvm/jdk-25", "25.0.3");
    executable("home/my weft/weft-core/src/test/java/TcpTest.java", "");
    executable(
        "bin/mvn",
        """
        #!/usr/bin/env bash
        echo "[INFO] --- maven-surefire-plugin:3.6.1:test (default-test) @ weft-core ---"
        echo "[INFO] Tests run: 21, Failures: 0, Time elapsed: 3.8 s -- in dev.weft.net.TcpTest"
        echo "[INFO] --- surefire:3.6.1:test (nio) @ weft-core ---"
        echo "[INFO] Tests run: 21, Failures: 0, Time elapsed: 3.8 s -- in dev.weft.net.TcpTest"
        """);

    var some = weft("test", "TcpTest").run();

    assertThat(some.stderr())
        .isEqualTo(
            """
            weft: testing weft-core
            weft: dev.weft.net.TcpTest, 21 tests
            weft: testing weft-core (nio)
            weft: dev.weft.net.TcpTest, 21 tests
            """);
    assertThat(some.stdout()).endsWith("FeatureTable --some\n");
    assertThat(weft("test").run().stdout()).endsWith("FeatureTable\n");
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void twoAtOnceInANewCloneBuildOnce() throws Exception {
    Clones.copy(
        clone,
        "weft-core/src/main",
        "weft-http/src/main",
        "weft-sim/src/main",
        "weft-console/src/main",
        "weft-cli/src/main");
    Path extra = clone.resolve("weft-cli/src/main/resources/extra.txt");
    Files.createDirectories(extra.getParent());
    Files.writeString(extra, "a file to delete");
    Path link = Files.createSymbolicLink(machine.resolve("weft"), clone.resolve("weft"));

    String jdk = jdkThatMakesNoArchives().toString();

    var runHello = Script.at(clone, "run", "examples/Hello.java").in(clone).with("JAVA_HOME", jdk);
    Process first = runHello.start();
    var second =
        Script.at(link.getParent(), "run", "my weft/examples/Ring.java").with("JAVA_HOME", jdk);
    var secondResult = second.in(clone.getParent()).run();

    assertThat(new String(first.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo(Files.readString(clone.resolve("examples/Hello.out")));
    assertThat(secondResult.stdout())
        .isEqualTo(Files.readString(clone.resolve("examples/Ring.out")));
    assertThat(secondResult.exitStatus()).isZero();

    // nothing has changed: no build, so no word about one
    assertThat(runHello.run().stderr()).isEmpty();

    Files.delete(extra);
    executable("bin/mvn", "#!/usr/bin/env bash\nexit 130\n"); // that a build begins is enough
    String path = machine.resolve("bin") + ":" + System.getenv("PATH");
    assertThat(runHello.with("PATH", path).run())
        .isEqualTo(
            new Command.Result(
                130, "", "weft: building; the first time downloads libraries, too\n"));
  }

  /** Makes a JDK like this one, except that it makes no archives: the clone is deleted before. */
  private Path jdkThatMakesNoArchives() throws Exception {
    Path real = Path.of(System.getProperty("java.home"));
    Path jdk = machine.resolve("jdk");
    executable(
        "jdk/bin/java",
        """
        #!/usr/bin/env bash
        case "$*" in *-XX:AOTCacheOutput=*) exit 1 ;; esac
        exec '%s/bin/java' "$@"
        """
            .formatted(real));
    for (String file : List.of("bin/jar", "bin/javac", "release")) {
      Files.createSymbolicLink(jdk.resolve(file), real.resolve(file));
    }
    return jdk;
  }

  /** The script on the other machine. */
  private Command weft(String... arguments) {
    return Script.at(clone, arguments)
        .with("PATH", machine.resolve("bin").toString())
        .with("HOME", machine.resolve("home").toString())
        .without("JAVA_HOME");
  }

  /** A JDK whose java prints how it was called. */
  private void jdk(String folder, String version) throws Exception {
    executable(folder + "/bin/javac", "#!/usr/bin/env bash\n");
    executable(folder + "/bin/java", "#!/usr/bin/env bash\necho \"$0 $*\"\n");
    Files.writeString(
        machine.resolve(folder).resolve("release"),
        "JAVA_RUNTIME_VERSION=\"%s+9\"\nJAVA_VERSION=\"%s\"\n".formatted(version, version));
  }

  /** Makes the clone look as after a build. */
  private void built() throws Exception {
    Files.createDirectories(clone.resolve("target/launch/weft-cli"));
    Files.writeString(clone.resolve("target/launch/weft-cli.built"), "");
  }

  private void executable(String file, String text) throws Exception {
    Path path = machine.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
    assertThat(path.toFile().setExecutable(true)).isTrue();
  }

  private static Command.Result failure(int exitStatus, String message) {
    return new Command.Result(exitStatus, "", "weft: " + message + "\n");
  }
}
