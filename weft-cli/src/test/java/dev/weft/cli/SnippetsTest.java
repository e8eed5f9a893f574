package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The Java in the documentation: fragments compile, programs print what the page says. */
@Feature("P4")
class SnippetsTest {
  /** Pages with sketches of classes that need other libraries; a build compiles the real ones. */
  private static final Set<String> SKETCHES = Set.of("docs/benchmarks.md");

  private static final String IMPORTS =
      """
      import com.sun.net.httpserver.*;
      import dev.weft.*;
      import dev.weft.channel.*;
      import dev.weft.http.*;
      import dev.weft.io.*;
      import dev.weft.net.*;
      import dev.weft.sync.*;
      import dev.weft.time.*;
      import java.sql.*;
      """;

  private static final Pattern DECLARATION =
      Pattern.compile("^(static|final class|class|record|interface|sealed|void|\\w+ \\w+\\() .*");

  @TempDir private Path folder;

  /** A program in a page, and the block that shows what it prints. */
  record Shown(DocPage.Block program, DocPage.Block output) {
    @Override
    public String toString() {
      return program.toString();
    }
  }

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  static List<Shown> programs() throws IOException {
    List<Shown> programs = new ArrayList<>();
    for (DocPage page : DocPage.all()) {
      page.blocks().stream()
          .filter(DocPage.Block::isProgram)
          .forEach(program -> programs.add(new Shown(program, page.after(program))));
    }
    return programs;
  }

  static List<Shown> programsOfTheReadme() throws IOException {
    return programs().stream().filter(p -> p.program().page().endsWith("README.md")).toList();
  }

  @ParameterizedTest
  @MethodSource("programs")
  void programsPrintWhatThePageSays(Shown shown) throws Exception {
    String free = freePort();
    String program = forTest(shown.program().text(), free);
    String output = shown.output().text().replace("8080", free);
    if (shown.output().language().equals("console")) {
      Script.compile(Files.writeString(folder.resolve(fileOf(output)), program));
      try (ConsoleSession session = new ConsoleSession(folder)) {
        session.play(output);
      }
    } else {
      assertThat(shown.output().language()).as("the output of %s", shown).isEmpty();
      Script.compile(Files.writeString(folder.resolve("Try.java"), program));
      assertThat(Script.weft("run", "Try.java").in(folder).run())
          .isEqualTo(new Command.Result(0, output, ""));
    }
  }

  @ParameterizedTest
  @MethodSource("programsOfTheReadme")
  void programsOfTheReadmeNeedNoFlags(Shown shown) throws Exception {
    Programs programs = new Programs(folder);
    programs.write("Try.java", forTest(shown.program().text(), freePort()));
    Path jars = Script.ROOT.resolve("target/launch/weft-cli");

    assertThat(programs.java("-cp", jars + "/*", "Try.java").run().stdout())
        .isEqualTo(shown.output().text());
  }

  @Test
  void fragmentsCompile() throws Exception {
    Map<String, DocPage.Block> fragments = new HashMap<>();
    List<Path> files = new ArrayList<>();
    for (DocPage page : DocPage.all()) {
      if (SKETCHES.contains(Script.ROOT.relativize(page.file()).toString())) {
        continue;
      }
      for (DocPage.Block block : page.blocks()) {
        if (block.isJava() && !block.isProgram() && !block.isPart() && !block.isFile()) {
          String name = "Fragment" + fragments.size() + ".java";
          fragments.put(name, block);
          files.add(Files.writeString(folder.resolve(name), programOf(block)));
        }
      }
    }
    assertThat(files).isNotEmpty();

    List<String> errors = new ArrayList<>();
    for (var error : compile(files)) {
      String name = Path.of(error.getSource().getName()).getFileName().toString();
      errors.add(fragments.get(name) + ": " + error.getMessage(null));
    }
    assertThat(errors).isEmpty();
  }

  /** DistTest runs them. */
  @Test
  void filesOfProjectsCompile() throws Exception {
    int projects = 0;
    for (DocPage page : DocPage.all()) {
      List<Path> files = new ArrayList<>();
      for (DocPage.Block block : page.blocks()) {
        if (block.isFile()) {
          Path file = folder.resolve(page.file().getFileName()).resolve(block.name());
          Files.createDirectories(file.getParent());
          files.add(Files.writeString(file, block.text()));
        }
      }
      if (!files.isEmpty()) {
        projects++;
        assertThat(compile(files)).as("%s", page.file()).isEmpty();
      }
    }
    assertThat(projects).isPositive();
  }

  @Test
  void partsOfSourceFilesAreAsTheyAreThere() throws Exception {
    List<String> different = new ArrayList<>();
    for (DocPage page : DocPage.all()) {
      for (DocPage.Block block : page.blocks()) {
        if (block.isPart()
            && !withoutLayout(sourceOf(block)).contains(withoutLayout(block.text()))) {
          different.add(block + " is no part of " + block.name());
        }
      }
    }
    assertThat(different).isEmpty();
  }

  private static String sourceOf(DocPage.Block block) throws IOException {
    String file = block.name() + ".java";
    try (Stream<Path> modules = Files.list(Script.ROOT)) {
      for (Path sources : modules.map(m -> m.resolve("src")).filter(Files::isDirectory).toList()) {
        try (Stream<Path> files = Files.walk(sources)) {
          Optional<Path> source = files.filter(path -> path.endsWith(file)).findFirst();
          if (source.isPresent()) {
            return Files.readString(source.get());
          }
        }
      }
    }
    throw new AssertionError(block + " names " + file + ": no such file");
  }

  private static String withoutLayout(String text) {
    return text.replaceAll("\\s+", " ").strip();
  }

  /** Makes a compact source file of a fragment, which is statements or declarations. */
  private static String programOf(DocPage.Block fragment) {
    String text = fragment.text().replace("{ … }", "{ }");
    boolean declares = text.lines().allMatch(line -> line.matches("[ }].*|") || declares(line));
    String body = declares ? text : "void fragment() throws Exception {\n" + text + "}\n";
    return IMPORTS + fragment.given() + "\n" + body + "\nvoid main() {}\n";
  }

  private static boolean declares(String line) {
    return DECLARATION.matcher(line).matches();
  }

  private List<Diagnostic<? extends JavaFileObject>> compile(List<Path> files) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    List<String> options =
        List.of("-d", folder.toString(), "-cp", System.getProperty("java.class.path"));
    try (var manager = compiler.getStandardFileManager(found, null, null)) {
      var sources = manager.getJavaFileObjectsFromPaths(files);
      compiler.getTask(null, manager, found, options, null, sources).call();
    }
    return found.getDiagnostics().stream()
        .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
        .toList();
  }

  /** Returns the file that a session runs. */
  private static String fileOf(String session) {
    return session.lines().findFirst().orElseThrow().split(" ", -1)[3];
  }

  /** Returns a program on another port, and with time limits that a busy machine keeps. */
  static String forTest(String program, String port) {
    return program
        .replace("8080", port)
        .replace("limit = Duration.ofMillis(300)", "limit = Duration.ofSeconds(3)")
        .replaceAll(
            "([tT]imeout\\(|open\\(\\w+, )Duration.ofSeconds\\(1\\)", "$1Duration.ofMinutes(1)");
  }

  static String freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return "" + socket.getLocalPort();
    }
  }
}
