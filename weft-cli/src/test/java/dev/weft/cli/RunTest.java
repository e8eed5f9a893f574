package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.weft.testkit.Command;
import java.io.BufferedReader;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ./weft run} does with programs, good and bad. */
class RunTest {
  @TempDir private Path folder;

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  @Test
  void argumentsStandardInputAndExitStatusAreTheProgramsOwn() throws Exception {
    write(
        "Shout.java",
        """
        void main(String[] args) {
          IO.println(String.join("|", args) + ": " + IO.readln());
          System.exit(7);
        }
        """);

    var result = run("Shout.java", "-cp", "a b", "@x").reading("hey\n").run();

    assertThat(result).isEqualTo(new Command.Result(7, "-cp|a b|@x: hey\n", ""));
  }

  @Test
  void theFirstClassRunsWhateverItsNameAndPackage() throws Exception {
    write(
        "Odd.java",
        """
        package some.where;
        public class First {
          static void main() { System.out.println(new Second().name()); }
        }
        class Second {
          String name() { return getClass().getName(); }
          public static void main(String[] args) { System.out.println("not me"); }
        }
        """);

    assertThat(run("Odd.java").run()).isEqualTo(printed("some.where.Second\n"));
  }

  @Test
  void theProgramIsOnTheApplicationsClassPath() throws Exception {
    write(
        "Where.java",
        """
        void main() {
          IO.println(getClass().getClassLoader() == ClassLoader.getSystemClassLoader());
          IO.println(Thread.currentThread().getName());
        }
        """);

    assertThat(run("Where.java").run()).isEqualTo(printed("true\nmain\n"));
  }

  @Test
  void changedTextIsCompiledAnew() throws Exception {
    write("Same.java", "void main() { IO.println(1); }");
    assertThat(run("Same.java").run()).isEqualTo(printed("1\n"));
    assertThat(run("Same.java").run()).isEqualTo(printed("1\n"));

    write("Same.java", "void main() { IO.println(2); }");
    assertThat(run("Same.java").run()).isEqualTo(printed("2\n"));
  }

  @Test
  void anExceptionLooksAsItDoesUnderJava() throws Exception {
    write(
        "Fails.java",
        """
        class Fails {
          public static void main(String[] args) {
            try {
              inner();
            } catch (Exception e) {
              throw new IllegalStateException("outer", e);
            }
          }
          static void inner() throws Exception { throw new Exception("inner"); }
        }
        """);

    assertThat(run("Fails.java").run())
        .isEqualTo(
            new Command.Result(
                1,
                "",
                """
                Exception in thread "main" java.lang.IllegalStateException: outer
                \tat Fails.main(Fails.java:6)
                Caused by: java.lang.Exception: inner
                \tat Fails.inner(Fails.java:9)
                \tat Fails.main(Fails.java:4)
                """));
  }

  @Test
  void aSignalReachesTheProgram() throws Exception {
    write(
        "Waits.java",
        """
        void main() throws Exception {
          Runtime.getRuntime().addShutdownHook(new Thread(() -> IO.println("bye")));
          IO.println("ready");
          Thread.sleep(60_000);
        }
        """);
    Process process = run("Waits.java").start();
    try (BufferedReader output = process.inputReader()) {
      assertThat(output.readLine()).isEqualTo("ready");
      process.toHandle().destroy(); // Process.destroy would close the pipe too
      assertThat(output.readLine()).isEqualTo("bye");
      assertThat(process.waitFor()).isEqualTo(128 + 15);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aJarRunsItsMainClassWithTheJarsItNames() throws Exception {
    Path library =
        compile("Library", "public class Library { public int answer() { return 42; } }");
    Path app =
        compile(
            "App",
            "public class App { public static void main(String[] a) {"
                + " System.out.println(new Library().answer() + a[0]); } }");
    jar("library.jar", new Attributes(), library.resolve("Library.class"));
    Attributes attributes = new Attributes();
    attributes.put(Attributes.Name.MAIN_CLASS, "App");
    attributes.put(Attributes.Name.CLASS_PATH, "library.jar");
    jar("app.jar", attributes, app.resolve("App.class"));

    assertThat(run("app.jar", "!").run()).isEqualTo(printed("42!\n"));
  }

  @Test
  void aClassIsFoundOnTheClassPathGiven() throws Exception {
    compile("Named", "public class Named { void main() { System.out.println(\"named\"); } }");
    jar("lib/named.jar", new Attributes(), folder.resolve("Named.class"));
    Files.delete(folder.resolve("Named.class"));

    assertThat(run("-cp", "nowhere:lib/named.jar", "Named").run()).isEqualTo(printed("named\n"));
    assertThat(run("--class-path=lib/*", "Named").run()).isEqualTo(printed("named\n"));
    assertThat(run("Named").with("CLASSPATH", "lib/named.jar").run()).isEqualTo(printed("named\n"));
    assertThat(run("-cp", "lib", "Named").run())
        .isEqualTo(mistake(2, "class Named not found on the class path lib"));
  }

  @Test
  void aSourceFileMayUseLibraries() throws Exception {
    compile("Library", "public class Library { public int answer() { return 42; } }");
    write("Uses.java", "void main() { IO.println(new Library().answer()); }");

    assertThat(run("-cp", ".", "Uses.java").run()).isEqualTo(printed("42\n"));
  }

  @Test
  void compileErrorsAreTheCompilersAndOneLine() throws Exception {
    write("Bad.java", "void main() {\n  int x = \"no\";\n}\n");

    var result = run("Bad.java").run();

    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stdout()).isEmpty();
    assertThat(result.stderr())
        .startsWith("Bad.java:2: error: incompatible types: String cannot be converted to int\n")
        .endsWith("1 error\nweft: Bad.java does not compile\n");
  }

  @Test
  void wrongUsageIsOneLineAndStatus2() throws Exception {
    String usage = "usage: ./weft run [-cp PATH] Program.java|app.jar|Main [args...]";
    Files.createDirectory(folder.resolve("Folder.java"));
    write("broken.jar", "this is no jar");
    write("notes.txt", "neither is this");
    jar("library.jar", new Attributes());

    assertThat(run().run()).isEqualTo(mistake(2, "nothing to run; " + usage));
    assertThat(run("--fast", "X.java").run())
        .isEqualTo(mistake(2, "unknown option --fast; " + usage));
    assertThat(run("-cp").run()).isEqualTo(mistake(2, "option -cp needs a class path; " + usage));
    assertThat(run("Missing.java").run()).isEqualTo(mistake(2, "no such file: Missing.java"));
    assertThat(run("Folder.java").run())
        .isEqualTo(mistake(2, "cannot run Folder.java: it is a folder"));
    assertThat(run("notes.txt").run())
        .isEqualTo(
            mistake(
                2,
                "cannot run notes.txt: it is neither a .java file, nor a .jar, nor a class name"));
    assertThat(run("broken.jar").run())
        .isEqualTo(mistake(2, "broken.jar is not a jar: zip END header not found"));
    assertThat(run("library.jar").run())
        .isEqualTo(
            mistake(
                2,
                "library.jar has no Main-Class in its manifest;"
                    + " name the class: ./weft run -cp library.jar Main"));
    assertThat(run("Nowhere").run())
        .isEqualTo(mistake(2, "class Nowhere not found on the class path ."));
  }

  @Test
  void aProgramWithoutMainIsTold() throws Exception {
    write("Idle.java", "class Idle { private static void main() {} }");
    write("Empty.java", "// nothing\n");

    assertThat(run("Idle.java").run())
        .isEqualTo(
            mistake(
                2,
                "class Idle has no main method:"
                    + " give it 'void main()' or 'static void main(String[] args)'"));
    assertThat(run("Empty.java").run()).isEqualTo(mistake(1, "Empty.java declares no class"));
  }

  @Test
  void anUnreadableFileIsTold() throws Exception {
    write("Secret.java", "void main() {}");
    assertThat(folder.resolve("Secret.java").toFile().setReadable(false)).isTrue();
    assumeFalse(Files.isReadable(folder.resolve("Secret.java")), "this user may read everything");

    assertThat(run("Secret.java").run())
        .isEqualTo(mistake(2, "cannot read Secret.java: permission denied"));
  }

  private Command run(String... arguments) {
    String[] words = new String[arguments.length + 1];
    words[0] = "run";
    System.arraycopy(arguments, 0, words, 1, arguments.length);
    return Script.weft(words).in(folder);
  }

  private static Command.Result printed(String stdout) {
    return new Command.Result(0, stdout, "");
  }

  private static Command.Result mistake(int exitStatus, String message) {
    return new Command.Result(exitStatus, "", "weft: " + message + "\n");
  }

  private void write(String file, String text) throws Exception {
    Files.writeString(folder.resolve(file), text);
  }

  /** Compiles a class into the folder, and returns the folder. */
  private Path compile(String name, String text) throws Exception {
    write(name + ".java", text);
    List<String> options = List.of("-d", folder.toString(), "-cp", folder.toString(), "-proc:none");
    var compiler = ToolProvider.getSystemJavaCompiler();
    try (var files = compiler.getStandardFileManager(null, null, null)) {
      var source = files.getJavaFileObjects(folder.resolve(name + ".java"));
      assertThat(compiler.getTask(null, files, null, options, null, source).call()).isTrue();
    }
    Files.delete(folder.resolve(name + ".java"));
    return folder;
  }

  private void jar(String file, Attributes attributes, Path... classes) throws Exception {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putAll(attributes);
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    try (OutputStream out = Files.newOutputStream(path);
        JarOutputStream jar = new JarOutputStream(out, manifest)) {
      for (Path type : classes) {
        jar.putNextEntry(new ZipEntry(type.getFileName().toString()));
        Files.copy(type, jar);
        jar.closeEntry();
      }
    }
  }
}
