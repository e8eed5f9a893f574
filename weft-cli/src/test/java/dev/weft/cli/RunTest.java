package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.jar.Attributes;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code ./weft run} does with programs, good and bad. */
class RunTest extends ProgramsTest {
  private static final String FAILS =
      """
      void main() {
        dev.weft.Weft.run(
            () -> { dev.weft.Weft.go(() -> { throw new IllegalStateException("x"); }); });
      }
      """;

  @Test
  void argumentsStandardInputAndExitStatusAreTheProgramsOwn() throws Exception {
    programs.write(
        "Shout.java",
        """
        void main(String[] args) {
          IO.println(String.join("|", args) + ": " + IO.readln());
          System.exit(7);
        }
        """);

    var result = programs.run("Shout.java", "-cp", "a b", "@x").reading("hey\n").run();

    assertThat(result).isEqualTo(new Command.Result(7, "-cp|a b|@x: hey\n", ""));
  }

  @Test
  void previewFeaturesAreForTheCompilerToo() throws Exception {
    programs.write(
        "Preview.java",
        """
        void main() throws Exception {
          try (var scope = StructuredTaskScope.open()) {
            var soup = scope.fork(() -> "soup");
            scope.join();
            IO.println(soup.get());
          }
        }
        """);

    var without = programs.run("Preview.java").run();
    assertThat(without.exitStatus()).isEqualTo(1);
    assertThat(without.stderr())
        .contains("(use --enable-preview to enable preview APIs)")
        .endsWith("weft: Preview.java does not compile\n");
    var with = programs.run("Preview.java").with("JDK_JAVA_OPTIONS", "--enable-preview");
    assertThat(with.run().stdout()).isEqualTo("soup\n");
  }

  @Test
  void theFirstClassRunsWhateverItsNameAndPackage() throws Exception {
    programs.write(
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

    assertThat(programs.run("Odd.java").run()).isEqualTo(printed("some.where.Second\n"));
  }

  @Test
  void ifTheFirstClassHasNoMainTheOneNamedLikeTheFileRuns() throws Exception {
    String rest =
        """
        record Point(int x) {}
        class Rec { static void main() { System.out.println(new Point(1)); } }
        class Base { static void main() { System.out.println("inherited"); } }
        """;
    programs.write("Rec.java", "package a.b;\n" + rest);
    assertThat(programs.run("Rec.java").run()).isEqualTo(printed("Point[x=1]\n"));

    programs.write("Rec.java", "class Heir extends Base {}\n" + rest);
    assertThat(programs.run("Rec.java").run()).isEqualTo(printed("inherited\n"));
  }

  @Test
  void theProgramIsOnTheApplicationsClassPath() throws Exception {
    programs.write(
        "Where.java",
        """
        void main() {
          IO.println(getClass().getClassLoader() == ClassLoader.getSystemClassLoader());
          IO.println(Thread.currentThread().getName());
        }
        """);

    assertThat(programs.run("Where.java").run()).isEqualTo(printed("true\nmain\n"));
  }

  @Test
  void changedTextIsCompiledAnew() throws Exception {
    programs.write("Same.java", "void main() { IO.println(1); }");
    assertThat(programs.run("Same.java").run()).isEqualTo(printed("1\n"));
    assertThat(programs.run("Same.java").run()).isEqualTo(printed("1\n"));

    programs.write("Same.java", "void main() { IO.println(2); }");
    assertThat(programs.run("Same.java").run()).isEqualTo(printed("2\n"));
  }

  @Test
  void anExceptionLooksAsItDoesUnderJava() throws Exception {
    programs.write(
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

    assertThat(programs.run("Fails.java").run())
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
    programs.write(
        "Waits.java",
        """
        void main() throws Exception {
          Runtime.getRuntime().addShutdownHook(new Thread(() -> IO.println("bye")));
          IO.println("ready");
          Thread.sleep(60_000);
        }
        """);
    Process process = programs.run("Waits.java").start();
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
        programs.compile("Library", "public class Library { public int answer() { return 42; } }");
    Path app =
        programs.compile(
            "App",
            "public class App { public static void main(String[] a) {"
                + " System.out.println(new Library().answer() + a[0]); } }");
    programs.jar("library.jar", new Attributes(), library.resolve("Library.class"));
    Attributes attributes = new Attributes();
    attributes.put(Attributes.Name.MAIN_CLASS, "App");
    attributes.put(Attributes.Name.CLASS_PATH, "library.jar");
    programs.jar("app.jar", attributes, app.resolve("App.class"));

    assertThat(programs.run("app.jar", "!").run()).isEqualTo(printed("42!\n"));
  }

  @Test
  void aClassIsFoundOnTheClassPathGiven() throws Exception {
    programs.compile(
        "Named", "public class Named { void main() { System.out.println(\"named\"); } }");
    programs.jar("lib/named.jar", new Attributes(), folder.resolve("Named.class"));
    Files.delete(folder.resolve("Named.class"));

    assertThat(programs.run("-cp", "nowhere:lib/named.jar", "Named").run())
        .isEqualTo(printed("named\n"));
    assertThat(programs.run("--class-path=lib/*", "Named").run()).isEqualTo(printed("named\n"));
    assertThat(programs.run("Named").with("CLASSPATH", "lib/named.jar").run())
        .isEqualTo(printed("named\n"));
    assertThat(programs.run("-cp", "lib", "Named").run())
        .isEqualTo(mistake(2, "class Named not found on the class path lib"));
  }

  @Test
  @Feature("H1")
  void aJarsManifestIsObeyed() throws Exception {
    programs.compile(
        "Opened",
        """
        public class Opened {
          static String agent = "no agent";
          public static void agentmain(String options, java.lang.instrument.Instrumentation tools) {
            agent = "agent " + tools.getClass().getModule().getName();
          }
          public static void main(String[] args) throws Exception {
            var field = java.util.ArrayList.class.getDeclaredField("size");
            field.setAccessible(true);
            System.out.println(field.get(new java.util.ArrayList<>(java.util.List.of(1, 2))));
            System.out.println(
                Object.class.getModule().isExported("sun.net", Opened.class.getModule()));
            System.out.println(agent);
          }
        }
        """);
    Attributes attributes = new Attributes();
    attributes.put(Attributes.Name.MAIN_CLASS, "Opened");
    attributes.putValue("Add-Opens", "java.base/java.util no.such.module/x");
    attributes.putValue("Add-Exports", "java.base/sun.net java.base/sun.security.util");
    attributes.putValue("Enable-Native-Access", "ALL-UNNAMED");
    attributes.putValue("Launcher-Agent-Class", "Opened");
    programs.jar("opened.jar", attributes, folder.resolve("Opened.class"));

    Command.Result plain = programs.java("-jar", "opened.jar").run();
    assertThat(plain).isEqualTo(printed("2\ntrue\nagent java.instrument\n"));
    assertThat(programs.run("opened.jar").run()).isEqualTo(plain);
  }

  @Test
  @Feature("H1")
  void aModuleRunsItsMain() throws Exception {
    programs.write(
        "src/app/module-info.java", "module app { requires dev.weft; requires java.logging; }");
    programs.write(
        "src/app/hidden/Main.java",
        """
        package hidden;
        class Main {
          static void main(String[] args) {
            System.out.println(Main.class.getModule() + " " + String.join("|", args));
            System.out.println(dev.weft.Fiber.current().map(f -> f.name()));
            System.out.println(dev.weft.Fiber.class.getModule());
            System.out.println(Thread.currentThread().getName());
            throw new IllegalStateException("end");
          }
        }
        """);
    programs.javac(
        "-d",
        folder.resolve("mods").toString(),
        "--module-source-path",
        folder.resolve("src").toString(),
        "-p",
        System.getProperty("java.class.path"),
        "-m",
        "app");

    var expected =
        new Command.Result(
            1,
            "module app a|b\nOptional[main]\nmodule dev.weft\nmain\n",
            """
            Exception in thread "main" java.lang.IllegalStateException: end
            \tat app/hidden.Main.main(Main.java:8)
            """);
    assertThat(programs.run("-p", "mods", "-m", "app/hidden.Main", "a", "b").run())
        .isEqualTo(expected);
    assertThat(programs.run("--module-path=mods", "--module=app/hidden.Main", "a", "b").run())
        .isEqualTo(expected);
    assertThat(programs.run("-p", "mods", "-m", "app").run())
        .isEqualTo(mistake(2, "module app names no main class; name it: -m app/MAIN"));
    assertThat(programs.run("-p", "mods", "-m", "app/hidden.Other").run())
        .isEqualTo(mistake(2, "class hidden.Other not found in module app"));
    assertThat(programs.run("-p", "mods", "-m", "missing/a.Main").run())
        .isEqualTo(mistake(2, "module missing not found on the module path mods"));
  }

  @Test
  void aSourceFileMayUseLibraries() throws Exception {
    programs.compile("Library", "public class Library { public int answer() { return 42; } }");
    programs.write("Uses.java", "void main() { IO.println(new Library().answer()); }");

    assertThat(programs.run("-cp", ".", "Uses.java").run()).isEqualTo(printed("42\n"));
  }

  @Test
  void compileErrorsAreTheCompilersAndOneLine() throws Exception {
    programs.write("Bad.java", "void main() {\n  int x = \"no\";\n}\n");

    var result = programs.run("Bad.java").run();

    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stdout()).isEmpty();
    assertThat(result.stderr())
        .startsWith("Bad.java:2: error: incompatible types: String cannot be converted to int\n")
        .endsWith("1 error\nweft: Bad.java does not compile\n");
  }

  @Test
  void wrongUsageIsOneLineAndStatus2() throws Exception {
    String usage =
        "usage: ./weft run [--no-hook] [--threads N] [--main-thread] [--console[=PORT]]"
            + " [-cp PATH] Program.java|app.jar|Main|-p PATH -m MODULE[/MAIN] [args...]";
    Files.createDirectory(folder.resolve("Folder.java"));
    programs.write("broken.jar", "this is no jar");
    programs.write("notes.txt", "neither is this");
    programs.jar("library.jar", new Attributes());

    assertThat(programs.run().run()).isEqualTo(mistake(2, "nothing to run; " + usage));
    assertThat(programs.run("--fast", "Main").run())
        .isEqualTo(
            mistake(2, "unknown option --fast (JVM options go into JDK_JAVA_OPTIONS); " + usage));
    assertThat(programs.run("-cp").run())
        .isEqualTo(mistake(2, "option -cp needs a class path; " + usage));
    assertThat(programs.run("Missing.java").run())
        .isEqualTo(mistake(2, "no such file: Missing.java"));
    assertThat(programs.run("Folder.java").run())
        .isEqualTo(mistake(2, "cannot run Folder.java: it is a folder"));
    assertThat(programs.run("Folder.java/..").run())
        .isEqualTo(mistake(2, "cannot run Folder.java/..: it is a folder"));
    assertThat(programs.run("notes.txt").run())
        .isEqualTo(
            mistake(
                2,
                "cannot run notes.txt: it is neither a .java file, nor a .jar, nor a class name"));
    assertThat(programs.run("broken.jar").run())
        .isEqualTo(mistake(2, "broken.jar is not a jar: zip END header not found"));
    assertThat(programs.run("library.jar").run())
        .isEqualTo(
            mistake(
                2,
                "library.jar has no Main-Class in its manifest;"
                    + " name the class: ./weft run -cp library.jar Main"));
    assertThat(programs.run("Nowhere").run())
        .isEqualTo(mistake(2, "class Nowhere not found on the class path ."));
  }

  @Test
  void aProgramWithoutMainIsTold() throws Exception {
    programs.write("Idle.java", "class Idle { private static void main() {} }");
    programs.write("Empty.java", "// nothing\n");

    assertThat(programs.run("Idle.java").run())
        .isEqualTo(
            mistake(
                2,
                "class Idle has no main method:"
                    + " give it 'void main()' or 'static void main(String[] args)'"));
    assertThat(programs.run("Empty.java").run())
        .isEqualTo(mistake(1, "Empty.java declares no class"));
  }

  @Test
  void anUnreadableFileIsTold() throws Exception {
    programs.write("Secret.java", "void main() {}");
    assertThat(folder.resolve("Secret.java").toFile().setReadable(false)).isTrue();
    assumeFalse(Files.isReadable(folder.resolve("Secret.java")), "this user may read everything");

    assertThat(programs.run("Secret.java").run())
        .isEqualTo(mistake(2, "cannot read Secret.java: permission denied"));
  }

  @Test
  void aFileNameThatTheLocaleCannotSpellIsTold() throws Exception {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "elsewhere all names can be read");
    String script =
        "f=$(printf '\\303\\204.java') && touch \"$f\" && \"$0\" run \"$f\"; s=$?; rm \"$f\"; exit $s";
    Command command =
        Command.of("bash", "-c", script, Script.ROOT.resolve("weft").toString())
            .in(folder)
            .without("JDK_JAVA_OPTIONS")
            .without("JAVA_TOOL_OPTIONS")
            .with("JAVA_HOME", System.getProperty("java.home"));

    Command.Result result = command.with("LC_ALL", "C").run();

    assertThat(result.exitStatus()).isEqualTo(2);
    assertThat(result.stderr())
        .startsWith("weft: cannot read the file name ")
        .endsWith("set LC_ALL=C.UTF-8\n")
        .hasLineCount(1);
  }

  @Test
  void aWrongPropertyOfWeftsIsOneLine() throws Exception {
    programs.write("Hello.java", "void main() { IO.println(1); }");
    String hook = "-Dweft.hook must be off or some of timers,sockets,names, not 'of'";

    assertThat(java("-Dweft.hook=of", "Hello.java").run()).isEqualTo(mistake(2, hook));
    assertThat(java("-Dweft.poller=kq", "Hello.java").run())
        .isEqualTo(mistake(2, "-Dweft.poller must be epoll or nio, not kq"));
  }

  @Test
  void withoutACompilerItSaysSo() throws Exception {
    programs.write("Hello.java", "void main() { IO.println(1); }");

    assertThat(java("--limit-modules=jdk.jfr", "Hello.java").run())
        .isEqualTo(
            mistake(
                1,
                "cannot compile Hello.java: this Java has no compiler (module jdk.compiler);"
                    + " use a JDK"));
  }

  @Test
  void compiledProgramsAreKeptInTheCacheOfTheUser() throws Exception {
    programs.write("Hello.java", "void main() { IO.println(1); }");
    Path cache = folder.resolve("cache");
    Command run = programs.run("Hello.java").with("XDG_CACHE_HOME", cache.toString());
    assertThat(run.run()).isEqualTo(printed("1\n"));
    Path kept = onlyFolderIn(cache.resolve("weft/programs"));
    assertThat(kept.resolve("Hello.class")).exists();

    // the second run takes the classes from there
    Files.writeString(kept.resolve("main-class.txt"), "Gone");
    assertThat(run.run()).isEqualTo(mistake(2, "class Gone not found on the class path " + kept));
  }

  /** Else the tests of examples and documents would compile each program twice. */
  @Test
  void aRunTakesTheClassesThatATestHasCompiled() throws Exception {
    programs.write("Hello.java", "void main() { IO.println(%dL); }".formatted(System.nanoTime()));
    Path file = folder.resolve("Hello.java");
    Program compiled = SourceFile.compile(file, List.of(), Script.classPathOfRuns());

    Path kept = compiled.classPath().getFirst();
    Files.writeString(kept.resolve("main-class.txt"), "Gone");
    assertThat(programs.run("Hello.java").run())
        .isEqualTo(mistake(2, "class Gone not found on the class path " + kept));
  }

  @Test
  void withoutXdgCacheHomeTheCacheIsInTheHome() throws Exception {
    programs.write("Hello.java", "void main() { IO.println(1); }");
    Command run = programs.run("Hello.java").with("HOME", folder.toString());

    assertThat(run.without("XDG_CACHE_HOME").run()).isEqualTo(printed("1\n"));
    assertThat(onlyFolderIn(folder.resolve(".cache/weft/programs"))).exists();
    assertThat(run.with("XDG_CACHE_HOME", "relative").run()).isEqualTo(printed("1\n"));
    assertThat(folder.resolve("relative")).doesNotExist();
  }

  @Test
  void programsThatWereNotUsedForAMonthAreDeleted() throws Exception {
    Path kept = Files.createDirectories(folder.resolve("cache/weft/programs"));
    Path old = Files.createDirectory(kept.resolve("old"));
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(31))));
    Path recent = Files.createDirectory(kept.resolve("recent"));
    Files.setLastModifiedTime(recent, FileTime.from(Instant.now().minus(Duration.ofDays(29))));
    programs.write("Hello.java", "void main() { IO.println(1); }");

    programs.run("Hello.java").with("XDG_CACHE_HOME", folder.resolve("cache").toString()).run();

    assertThat(old).doesNotExist();
    assertThat(recent).exists();
  }

  @Test
  void aCacheThatCannotBeWrittenIsNotNeeded() throws Exception {
    programs.write("Hello.java", "void main() { IO.println(1); }");
    programs.write("cache", "a file, which stops root too");

    assertThat(
            programs
                .run("Hello.java")
                .with("XDG_CACHE_HOME", folder.resolve("cache").toString())
                .run())
        .isEqualTo(printed("1\n"));
  }

  @Test
  void logLinesNameTheClassThatSpeaks() throws Exception {
    programs.write("Fails.java", FAILS);

    var result = programs.run("Fails.java").run();

    assertThat(result.stderr().lines().findFirst().orElseThrow())
        .endsWith("dev.weft.internal.sched.UnobservedFailures report");
  }

  /** With java.util.logging, and with the logger that java.base has for itself. */
  @ParameterizedTest
  @ValueSource(strings = {"--add-modules=java.logging", "--limit-modules=java.base"})
  void logLinesOfPlainJavaNameIt(String modules) throws Exception {
    Path classes = programs.compile("Fails", FAILS);
    String path = Script.ROOT.resolve("target/launch/weft-cli") + "/*:" + classes;

    var result = programs.java(modules, "-cp", path, "Fails").run();

    assertThat(
            result.stderr().lines().filter(line -> line.matches("\\w+ \\d+, .* dev\\.weft\\..*")))
        .as(result.stderr())
        .hasSize(2)
        .anyMatch(line -> line.endsWith(" dev.weft.internal.jdk.NativeOpening open"))
        .anyMatch(line -> line.endsWith(" dev.weft.internal.sched.UnobservedFailures report"));
  }

  private static Path onlyFolderIn(Path folder) throws Exception {
    try (Stream<Path> folders = Files.list(folder)) {
      List<Path> all = folders.toList();
      assertThat(all).hasSize(1);
      return all.getFirst();
    }
  }

  /** Names a call of plain {@code java} that does what {@code ./weft run} does. */
  private Command java(String option, String program) {
    return programs.java(
        "@" + Script.ROOT.resolve("weft.args"),
        option,
        "-cp",
        Script.ROOT.resolve("target/launch/weft-cli") + "/*",
        "dev.weft.cli.Main",
        program);
  }

  private static Command.Result printed(String stdout) {
    return new Command.Result(0, stdout, "");
  }

  private static Command.Result mistake(int exitStatus, String message) {
    return new Command.Result(exitStatus, "", "weft: " + message + "\n");
  }
}
