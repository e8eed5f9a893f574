package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.channel.Channel;
import dev.weft.net.TcpListener;
import dev.weft.sync.Mutex;
import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.File;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Plain {@code java}: Weft opens what it needs by itself, in JVMs of their own. */
@Feature("P1")
class NoFlagsTest {
  /** What the log says. */
  private static final String SAID = "Weft has opened packages of java.base to itself";

  /** What the JVM says to native access that no flag allows. */
  private static final String JVM_WARNING = "WARNING: A restricted method in java.lang.foreign";

  private static final String WEFT =
      ForkedJvm.classPathOf(
          Weft.class,
          NoFlagsTest.class,
          MessagePassingQueue.class,
          MpscUnboundedVarHandleArrayQueue.class);

  /** A first use of Weft; every one has to find the packages open. */
  @SuppressWarnings("ImmutableEnumChecker")
  enum FirstUse {
    RUN(() -> Weft.run(() -> {})),
    GO(() -> Weft.go(() -> {}).join()),
    COROUTINE(() -> Coroutine.of(() -> Coroutine.yield()).resume()),
    GENERATOR(() -> Generator.of(out -> out.emit(1)).next()),
    SCHEDULER(() -> Scheduler.builder().build().start().stop()),
    POOL(() -> FiberPool.builder().build().close()),
    CHANNEL(() -> Channel.buffered(1).send(1)),
    MUTEX(() -> new Mutex().lock()),
    SLEEP(() -> Fiber.sleep(Duration.ofMillis(1))),
    TIMEOUT(() -> Weft.withTimeout(Duration.ofMillis(100), () -> {})),
    SCOPE(
        () -> {
          try (Scope scope = Scope.open()) {
            scope.go(() -> 1);
            scope.join();
          }
        }),
    LISTENER(() -> TcpListener.bind(new InetSocketAddress("localhost", 0)).close()),
    HOOK(() -> Hook.isInstalled()),
    CURRENT(() -> Fiber.current());

    final Body body;

    FirstUse(Body body) {
      this.body = body;
    }
  }

  /** Uses Weft first in the named ways, all at once if there are several. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      List<Thread> threads = new ArrayList<>();
      CyclicBarrier together = new CyclicBarrier(args.length);
      for (int i = 0; i < args.length; i++) {
        FirstUse use = FirstUse.valueOf(args[i]);
        Runnable body =
            () -> {
              try {
                together.await();
                use.body.run();
                System.out.println("used " + use);
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            };
        Thread.Builder kind = i % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
        if (args.length == 1) {
          body.run();
        } else {
          threads.add(kind.start(body));
        }
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  /** Uses Weft first in a virtual thread, which an interrupt awaits. */
  static final class InVirtualThread {
    public static void main(String[] args) throws Exception {
      Thread.ofVirtual()
          .start(
              () -> {
                Thread.currentThread().interrupt();
                Coroutine.of(() -> System.out.println("it runs")).resume();
                System.out.println("interrupted " + Thread.interrupted());
              })
          .join();
    }
  }

  /** Nests coroutines, in code that is not compiled. */
  static final class Nested {
    public static void main(String[] args) {
      nest(500);
      System.out.println("it runs");
    }

    private static void nest(int depth) {
      if (depth > 0) {
        Coroutine.of(() -> nest(depth - 1)).resume();
      }
    }
  }

  /** Tells to which modules {@code java.lang} is open. */
  static final class Reach {
    public static void main(String[] args) throws Exception {
      Coroutine.of(() -> {}).resume();
      Module base = Object.class.getModule();
      try (URLClassLoader other = new URLClassLoader(new URL[0])) {
        System.out.println("own " + base.isOpen("java.lang", Reach.class.getModule()));
        System.out.println("other " + base.isOpen("java.lang", other.getUnnamedModule()));
      }
    }
  }

  /** Loads Weft twice, by two class loaders, as a container with two applications does. */
  static final class Twice {
    public static void main(String[] args) throws Exception {
      List<URL> path = new ArrayList<>();
      for (String entry : args[0].split(File.pathSeparator, -1)) {
        path.add(Path.of(entry).toUri().toURL());
      }
      for (int i = 0; i < 2; i++) {
        try (URLClassLoader loader =
            new URLClassLoader(path.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
          Object live = loader.loadClass("dev.weft.Coroutine").getMethod("live").invoke(null);
          System.out.println("live " + live);
        }
      }
    }
  }

  /** Runs a main class as Gradle's worker runs tests. */
  static final class TestWorker {
    public static void main(String[] args) throws Exception {
      try (URLClassLoader own = new URLClassLoader(new URL[0], null)) { // Gradle's classes
        Thread worker = new Thread(() -> runMainOf(args[0]), "Test worker");
        worker.setContextClassLoader(own);
        worker.start();
        worker.join();
      }
    }

    private static void runMainOf(String name) {
      try {
        Class<?> tests = ClassLoader.getSystemClassLoader().loadClass(name);
        var main = tests.getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        main.invoke(null, (Object) new String[0]);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** A small program. */
  static final class Greeting {
    public static void main(String[] args) {
      Coroutine.of(() -> System.out.println("it runs")).resume();
    }
  }

  private static ForkedJvm.Result run(List<String> options, Class<?> main, String... args)
      throws Exception {
    return ForkedJvm.java(
        Stream.of(options.stream(), Stream.of("-cp", WEFT, main.getName()), Arrays.stream(args))
            .flatMap(words -> words)
            .toArray(String[]::new));
  }

  private static void assertOpened(ForkedJvm.Result result) {
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output())
        .containsOnlyOnce(SAID)
        .containsOnlyOnce(JVM_WARNING)
        .contains("it runs\n")
        .doesNotContain("Exception");
  }

  private static void assertRefused(ForkedJvm.Result result, String why) {
    assertThat(result.exitStatus()).as(result.output()).isEqualTo(1);
    assertThat(result.output())
        .startsWith("Exception in thread \"main\" java.lang.ExceptionInInitializerError: Weft, on")
        .contains("\n  --add-opens=java.base/java.lang=")
        .contains("\nWeft could not open these packages without flags: " + why)
        .doesNotContain(SAID, JVM_WARNING, "it runs");
  }

  @Test
  void everyPartOfWeftWorksOnTheClassPath() throws Exception {
    ForkedJvm.Result result = run(List.of(), MissingModulesTest.Program.class);
    MissingModulesTest.assertAllWorked(result);
    assertThat(result.output()).containsOnlyOnce(SAID).containsOnlyOnce(JVM_WARNING);
  }

  @Test
  void theLoggedFlagsDoItInstead() throws Exception {
    ForkedJvm.Result without = run(List.of(), Greeting.class);
    assertOpened(without);
    List<String> flags =
        without
            .output()
            .lines()
            .filter(line -> line.contains(SAID))
            .flatMap(line -> Arrays.stream(line.split("[ ;]+", -1)))
            .filter(word -> word.startsWith("--"))
            .toList();
    assertThat(flags).hasSize(5);
    assertThat(run(flags, Greeting.class)).isEqualTo(new ForkedJvm.Result(0, "it runs\n"));
  }

  @Test
  void withTheFlagsNothingOfThisIsLoaded() throws Exception {
    ForkedJvm.Result result =
        run(List.of(ForkedJvm.weftArgs(), "-Xlog:class+load"), Greeting.class);
    assertThat(result.output())
        .contains("it runs")
        .contains("dev.weft.internal.jdk.RequiredFlags ")
        .doesNotContain("dev.weft.internal.jdk.NativeOpening", "dev.weft.internal.jdk.BootClasses");
  }

  @Test
  void onlyWeftsOwnModuleGetsAccess() throws Exception {
    assertThat(run(List.of(), Reach.class).output()).contains("own true\nother false\n");
  }

  /**
   * The JVM of Gradle's test task, without Gradle, which is not on the machines of CI: the options
   * are in a file, some packages are open already, and a thread with another context class loader
   * runs the tests.
   */
  @Test
  void aJvmLikeGradlesTestWorkerNeedsNoFlags(@TempDir Path folder) throws Exception {
    Path options = Files.writeString(folder.resolve("options.txt"), "-cp \"" + WEFT + "\"\n");
    ForkedJvm.Result result =
        ForkedJvm.java(
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
            "--add-opens=java.base/java.net=ALL-UNNAMED",
            "--add-opens=java.base/java.util=ALL-UNNAMED",
            "@" + options,
            "-ea",
            TestWorker.class.getName(),
            Greeting.class.getName());
    assertOpened(result);
  }

  @ParameterizedTest
  @EnumSource
  void everyFirstUseOpens(FirstUse use) throws Exception {
    ForkedJvm.Result result = run(List.of(), Program.class, use.name());
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output()).contains("used " + use).doesNotContain("Exception", "Error");
  }

  @Test
  void threadsThatBeginAtOnceOpenOnce() throws Exception {
    for (int i = 0; i < 3; i++) {
      ForkedJvm.Result result =
          run(
              List.of("-Xcheck:jni"),
              Program.class,
              Arrays.stream(FirstUse.values()).map(Enum::name).toArray(String[]::new));
      assertThat(result.exitStatus()).as(result.output()).isZero();
      assertThat(result.output())
          .containsOnlyOnce(SAID)
          .contains(Arrays.stream(FirstUse.values()).map(use -> "used " + use).toList())
          .doesNotContain("Exception", "in native method", "FATAL");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-Xcheck:jni",
        "-XX:+UseSerialGC",
        "-XX:+UseParallelGC",
        "-XX:+UseG1GC",
        "-XX:+UseZGC",
        "-XX:+UseShenandoahGC",
        "-Xint",
        "-XX:TieredStopAtLevel=1",
        "-Xshare:off",
        "-XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal",
        "-XX:-UseCompressedOops",
        "--limit-modules=java.base",
      })
  void anyJvmOptionGoesWithIt(String options) throws Exception {
    ForkedJvm.Result result = run(List.of(options.split(" ", -1)), Greeting.class);
    assertOpened(result);
    assertThat(result.output()).doesNotContain("in native method", "FATAL"); // of -Xcheck:jni
  }

  @Test
  void theDefaultStackHoldsFiveHundredNestedCoroutines() throws Exception {
    assertOpened(run(List.of("-Xint"), Nested.class));
  }

  @Test
  void aVirtualThreadMayBeFirst() throws Exception {
    ForkedJvm.Result result =
        run(
            List.of("-Xcheck:jni", "-Djdk.virtualThreadScheduler.parallelism=1"),
            InVirtualThread.class);
    assertOpened(result);
    assertThat(result.output()).contains("interrupted true");
  }

  @Test
  void twoCopiesOfWeftOpenEachForItself() throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            "-cp", ForkedJvm.classPathOf(NoFlagsTest.class), Twice.class.getName(), WEFT);
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output().split(SAID, -1)).hasSize(3);
    assertThat(result.output().split("live 0\n", -1)).hasSize(3);
  }

  @Test
  void nativeAccessByFlagSparesTheWarning() throws Exception {
    ForkedJvm.Result result =
        run(
            List.of("--illegal-native-access=deny", "--enable-native-access=ALL-UNNAMED"),
            Greeting.class);
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output()).contains("it runs", SAID).doesNotContain("WARNING");
  }

  @Test
  void deniedNativeAccessIsRespected() throws Exception {
    assertRefused(
        run(List.of("--illegal-native-access=deny"), Greeting.class),
        "java.lang.IllegalCallerException: Illegal native access from an unnamed module");
  }

  @Test
  void thePropertyForbidsIt() throws Exception {
    assertRefused(
        run(List.of("-Dweft.open=flags"), Greeting.class), "-Dweft.open=flags forbids it\n");
    assertRefused(
        run(List.of("-Dweft.open=flag"), Greeting.class),
        "weft.open must be native or flags, not flag\n");
  }

  @Test
  void anExecutableJarNeedsNoManifestEntries(@TempDir Path folder) throws Exception {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, Greeting.class.getName());
    attributes.put(
        Attributes.Name.CLASS_PATH,
        Arrays.stream(WEFT.split(File.pathSeparator, -1))
            .map(entry -> Path.of(entry).toUri())
            .map(URI::toString)
            .reduce((one, two) -> one + " " + two)
            .orElseThrow());
    Path jar = folder.resolve("app.jar");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();

    assertOpened(ForkedJvm.java("-jar", jar.toString()));
  }

  @Test
  void aSourceFileRuns(@TempDir Path folder) throws Exception {
    Path source = folder.resolve("Program.java");
    Files.writeString(
        source,
        """
        void main() {
          dev.weft.Weft.run(() -> IO.println("it runs"));
        }
        """);
    assertOpened(ForkedJvm.java("-cp", WEFT, source.toString()));
  }

  @Test
  void onTheModulePathOnlyTheModuleGetsAccess(@TempDir Path folder) throws Exception {
    String modulePath = WeftModule.path();
    Path app =
        WeftModule.compileProgram(
            folder,
            """
            dev.weft.Weft.run(
                () -> dev.weft.Coroutine.of(() -> System.out.println("it runs")).resume());
            Module base = Object.class.getModule();
            System.out.println(
                "open to the program: " + base.isOpen("java.lang", Main.class.getModule())
                    + ", to the class path: "
                    + base.isOpen(
                        "java.lang", ClassLoader.getSystemClassLoader().getUnnamedModule()));
            """);
    String[] run = {"-p", modulePath + File.pathSeparator + app, "-m", "app/app.Main"};

    ForkedJvm.Result result = ForkedJvm.java(run);
    assertOpened(result);
    assertThat(result.output())
        .contains("open to the program: false, to the class path: false")
        .contains("--add-opens=java.base/java.lang=dev.weft ");

    ForkedJvm.Result denied =
        ForkedJvm.java(
            Stream.concat(Stream.of("--illegal-native-access=deny"), Arrays.stream(run))
                .toArray(String[]::new));
    assertRefused(
        denied, "java.lang.IllegalCallerException: Illegal native access from module dev.weft");
  }

  @Test
  @Timeout(120)
  void aLinkedImageRuns(@TempDir Path folder) throws Exception {
    Path image = folder.resolve("image");
    int status =
        ToolProvider.findFirst("jlink")
            .orElseThrow()
            .run(
                System.out, System.err, "--add-modules", "java.base", "--output", image.toString());
    assertThat(status).isZero();

    assertOpened(ForkedJvm.javaOf(image, "-cp", WEFT, Greeting.class.getName()));
  }

  /** Weft is a module of the image, and so is the program. */
  @Test
  @Timeout(120)
  void anImageWithWeftInsideRuns(@TempDir Path folder) throws Exception {
    Path app =
        WeftModule.compileProgram(
            folder,
            """
            dev.weft.Weft.run(
                () -> {
                  dev.weft.Weft.go(() -> Thread.sleep(1)).join();
                  System.out.println("it runs");
                  System.out.println(
                      "from " + dev.weft.Weft.class.getResource("Weft.class").getProtocol());
                });
            """);
    Path image = folder.resolve("image");
    int status =
        ToolProvider.findFirst("jlink")
            .orElseThrow()
            .run(
                System.out,
                System.err,
                "-p",
                WeftModule.path() + File.pathSeparator + app,
                "--add-modules",
                "app",
                "--output",
                image.toString());
    assertThat(status).isZero();

    ForkedJvm.Result result = ForkedJvm.javaOf(image, "-m", "app/app.Main");
    assertOpened(result);
    assertThat(result.output()).contains("from jrt\n");
  }

  @Test
  @Timeout(120)
  void surefireNeedsNoArgLine(@TempDir Path folder) throws Exception {
    String parent = Files.readString(Path.of(System.getProperty("weft.root"), "pom.xml"));
    Matcher plugin =
        Pattern.compile("maven-surefire-plugin</artifactId>\\s*<version>([^<]*)<").matcher(parent);
    Matcher junit = Pattern.compile("<junit.version>([^<]*)<").matcher(parent);
    assertThat(plugin.find() && junit.find()).isTrue();
    List<String> path = List.of(WEFT.split(File.pathSeparator, -1));
    Files.writeString(
        folder.resolve("pom.xml"),
        """
        <project>
          <modelVersion>4.0.0</modelVersion>
          <groupId>user</groupId>
          <artifactId>project</artifactId>
          <version>1</version>
          <dependencies>
            <dependency>
              <groupId>org.junit.jupiter</groupId>
              <artifactId>junit-jupiter</artifactId>
              <version>%s</version>
            </dependency>
          </dependencies>
          <build>
            <plugins>
              <plugin>
                <artifactId>maven-surefire-plugin</artifactId>
                <version>%s</version>
                <configuration>
                  <testClassesDirectory>%s</testClassesDirectory>
                  <additionalClasspathElements><path>%s</path></additionalClasspathElements>
                  <test>UserProjectCase</test>
                </configuration>
              </plugin>
            </plugins>
          </build>
        </project>
        """
            .formatted(
                junit.group(1),
                plugin.group(1),
                ForkedJvm.classPathOf(UserProjectCase.class),
                String.join("</path><path>", path)));

    Command.Result result =
        Command.of(
                "mvn",
                "-o", // all that it needs is there: this test runs by it
                "-Dmaven.repo.local=" + System.getProperty("localRepository"),
                "surefire:test")
            .in(folder)
            .with("JAVA_HOME", System.getProperty("java.home"))
            .without("MAVEN_ARGS")
            .without("MAVEN_OPTS")
            .run();
    assertThat(result.exitStatus()).as(result.stdout()).isZero();
    assertThat(result.stdout()).contains("Tests run: 1, Failures: 0, Errors: 0, Skipped: 0");
    assertThat(result.stderr()).containsOnlyOnce(SAID);
  }
}
