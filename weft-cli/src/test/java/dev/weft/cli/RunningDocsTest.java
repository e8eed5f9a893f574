package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code docs/running.md} says about {@code java} without {@code ./weft}, tried. */
@Feature("H1")
class RunningDocsTest extends ProgramsTest {
  private static final String PROGRAM =
      """
      package app;
      public class Main {
        public static void main(String[] args) {
          String start = dev.weft.Fiber.current().map(f -> f.name() + " ").orElse("");
          dev.weft.Weft.run(() -> System.out.println(start + "weft" + args.length));
        }
      }
      """;

  /** The jars of Weft, relative to the folder. */
  private List<String> jars;

  @BeforeEach
  void layOut() throws Exception {
    programs.write("app/Main.java", PROGRAM);
    programs.javac(
        "-d",
        folder.toString(),
        "-cp",
        System.getProperty("java.class.path"),
        folder.resolve("app/Main.java").toString());
    Files.copy(Script.ROOT.resolve("weft.args"), folder.resolve("weft.args"));
    Files.createDirectory(folder.resolve("weft"));
    try (Stream<Path> built = Files.list(Script.ROOT.resolve("target/launch/weft-cli"))) {
      for (Path jar : built.filter(file -> file.toString().endsWith(".jar")).toList()) {
        Files.copy(jar, folder.resolve("weft").resolve(jar.getFileName()));
      }
    }
    try (Stream<Path> copied = Files.list(folder.resolve("weft"))) {
      jars = copied.map(jar -> "weft/" + jar.getFileName()).toList();
    }
  }

  @Test
  void theArgumentFile() throws Exception {
    assertThat(programs.java("@weft.args", "-cp", classPath(), "app.Main", "x").run())
        .isEqualTo(printed("weft1\n"));
    assertWorksWithoutFlags("weft0\n", "ALL-UNNAMED", "-cp", classPath(), "app.Main");
    assertWorksWithoutFlags(
        "main weft0\n", "ALL-UNNAMED", "-cp", "weft/*", "dev.weft.cli.Main", "app/Main.java");
  }

  @Test
  @Timeout(120) // an image takes some seconds
  void theLinesOfThePage() throws Exception {
    programs.jar("page/app.jar", mainAttributes("app.Main"));
    jarTool("-uf", "page/app.jar", "-C", ".", "app/Main.class");
    programs.write("page/src/app/module-info.java", "module app { requires dev.weft; }");
    programs.write("page/src/app/app/Main.java", PROGRAM);
    List<String> printed = new ArrayList<>();

    Pattern command = Pattern.compile("(?m)^(mkdir|javac?|sed|jlink|image/bin/java) .*$");
    for (String line : command.matcher(page()).results().map(MatchResult::group).toList()) {
      Command.Result result =
          Command.of("bash", "-c", line.replace("args…", "x"))
              .in(folder.resolve("page"))
              .with("WEFT", Script.ROOT.toString())
              .with("PATH", System.getProperty("java.home") + "/bin:" + System.getenv("PATH"))
              .without("CLASSPATH")
              .without("JDK_JAVA_OPTIONS")
              .without("JAVA_TOOL_OPTIONS")
              .run();
      assertThat(result.stderr()).as(line).isEmpty();
      printed.add(result.stdout());
    }

    assertThat(printed)
        .containsExactly( // "" are no programs
            "", "weft0\n", "main weft1\n", "", "", "weft0\n", "", "weft0\n");
  }

  @Test
  void anUnmodifiedProgramInDocker() throws Exception {
    programs.jar("app.jar", mainAttributes("app.Main"));
    jarTool("-uf", "app.jar", "-C", ".", "app/Main.class");
    Matcher command =
        Pattern.compile("(?m)^CMD \\[\"java\", (.*dev\\.weft\\.cli\\.Main.*)]$").matcher(page());
    assertThat(command.find()).isTrue();
    String[] words = command.group(1).replace("\"", "").split(", ", -1);

    assertThat(programs.java(words).run()).isEqualTo(printed("main weft0\n"));
    assertWorksWithoutFlags(
        "main weft0\n", "ALL-UNNAMED", "-cp", "weft/*", "dev.weft.cli.Main", "app.jar");
  }

  @Test
  void theModulePath() throws Exception {
    programs.write("src/my/module-info.java", "module my { requires dev.weft; }");
    programs.write("src/my/app/Main.java", PROGRAM);
    programs.javac(
        "-d",
        folder.resolve("mods").toString(),
        "--module-source-path",
        folder.resolve("src").toString(),
        "-p",
        System.getProperty("java.class.path"),
        "-m",
        "my");
    assertThat(page()).contains("sed s/ALL-UNNAMED/dev.weft/ weft.args >weft-module.args");
    programs.write(
        "weft-module.args",
        Files.readString(folder.resolve("weft.args")).replace("ALL-UNNAMED", "dev.weft"));
    String path =
        Stream.concat(jars.stream().filter(jar -> !jar.contains("cli")), Stream.of("mods"))
            .collect(Collectors.joining(File.pathSeparator));

    assertThat(programs.java("@weft-module.args", "-p", path, "-m", "my/app.Main").run())
        .isEqualTo(printed("weft0\n"));
    assertWorksWithoutFlags("weft0\n", "dev.weft", "-p", path, "-m", "my/app.Main");
  }

  @Test
  void anExecutableJarNeedsNoFlags() throws Exception {
    Attributes attributes = manifestOfPage();
    assertThat(attributes.getValue("Add-Exports")).isEqualTo(packages("--add-exports="));
    assertThat(attributes.getValue("Add-Opens")).isEqualTo(packages("--add-opens="));
    assertThat(attributes.getValue("Enable-Native-Access")).isEqualTo("ALL-UNNAMED");
    attributes.put(Attributes.Name.CLASS_PATH, String.join(" ", jars));
    programs.jar("app.jar", attributes);
    jarTool("-uf", "app.jar", "-C", ".", "app/Main.class");

    assertThat(programs.java("-jar", "app.jar").run()).isEqualTo(printed("weft0\n"));
  }

  /** Without flags the log names them; with {@code -Dweft.open=flags} the failure does. */
  private void assertWorksWithoutFlags(String printed, String target, String... command)
      throws Exception {
    Command.Result without = programs.java(command).run();
    assertThat(without.stdout()).as(without.stderr()).isEqualTo(printed);
    assertThat(without.stderr()).contains(flags(target));
    Command.Result forbidden =
        programs
            .java(
                Stream.concat(Stream.of("-Dweft.open=flags"), Stream.of(command))
                    .toArray(String[]::new))
            .run();
    assertThat(forbidden.exitStatus()).isEqualTo(1);
    assertThat(forbidden.stderr()).contains(flags(target));
  }

  private static String page() throws Exception {
    return Files.readString(Script.ROOT.resolve("docs/running.md"));
  }

  /** The block of the page that has the lines of a manifest. */
  private static Attributes manifestOfPage() throws Exception {
    Matcher block = Pattern.compile("```\\n(Main-Class: [^`]*)```").matcher(page());
    assertThat(block.find()).isTrue();
    Attributes attributes = new Attributes();
    block
        .group(1)
        .lines()
        .map(line -> line.split(": ", 2))
        .forEach(parts -> attributes.putValue(parts[0], parts[1]));
    return attributes;
  }

  private static String packages(String flag) throws Exception {
    return Files.readAllLines(Script.ROOT.resolve("weft.args")).stream()
        .filter(line -> line.startsWith(flag))
        .map(line -> line.substring(flag.length()).replace("=ALL-UNNAMED", ""))
        .collect(Collectors.joining(" "));
  }

  /** What Weft says is missing. */
  private static List<String> flags(String target) throws Exception {
    return Files.readAllLines(Script.ROOT.resolve("weft.args")).stream()
        .filter(line -> line.endsWith("=ALL-UNNAMED"))
        .map(line -> line.replace("ALL-UNNAMED", target))
        .toList();
  }

  private String classPath() {
    return Stream.concat(jars.stream(), Stream.of("."))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static Attributes mainAttributes(String mainClass) {
    Attributes attributes = new Attributes();
    attributes.put(Attributes.Name.MAIN_CLASS, mainClass);
    return attributes;
  }

  private void jarTool(String... arguments) throws Exception {
    String[] words = new String[arguments.length + 1];
    words[0] = Path.of(System.getProperty("java.home"), "bin", "jar").toString();
    System.arraycopy(arguments, 0, words, 1, arguments.length);
    assertThat(Command.of(words).in(folder).run().exitStatus()).isZero();
  }

  private static Command.Result printed(String stdout) {
    return new Command.Result(0, stdout, "");
  }
}
