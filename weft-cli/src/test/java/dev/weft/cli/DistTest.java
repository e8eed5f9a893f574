package dev.weft.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./weft dist} in a clone, and what can be done with its packages elsewhere. */
@Timeout(value = 10, unit = TimeUnit.MINUTES) // Maven may have to download
class DistTest {
  private static final String VERSION = "1.2.3";
  private static final String COMMIT_TIME = "2026-02-03T04:05:06Z";
  private static final Map<String, String> CHECKSUMS =
      Map.of("md5", "MD5", "sha1", "SHA-1", "sha256", "SHA-256", "sha512", "SHA-512");

  @TempDir private static Path machine;

  private static Path clone;
  private static Command.Result dist;

  /** The libraries that are published. */
  private static final List<String> MODULES =
      List.of("weft-core", "weft-http", "weft-sim", "weft-console", "weft-micrometer");

  /** The launcher, unzipped into a folder with a space in its name. */
  private static Path unzipped;

  @BeforeAll
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    clone = Files.createDirectory(machine.resolve("clone"));
    Clones.copy(
        clone,
        "weft-core/src",
        "weft-http/src",
        "weft-console/src",
        "weft-micrometer/src",
        "weft-sim/src",
        "weft-cli/src",
        "weft-testkit/src");
    Clones.copyFiles(clone, "template", "LICENSE", "CHANGELOG.md", ".gitignore");
    git("init", "-q");
    git("add", "-A");
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all");

    dist = Script.at(clone, "dist", "--check", "--version", VERSION).run();
    assertThat(dist.exitStatus()).as(dist.stderr()).isZero();

    Path folder = Files.createDirectory(machine.resolve("un zipped"));
    unzipped = folder.resolve("weft-" + VERSION);
    String zip = clone.resolve("target/dist/weft-" + VERSION + ".zip").toString();
    assertThat(Command.of("unzip", "-q", zip).in(folder).run().exitStatus()).isZero();
  }

  private static String git(String... arguments) throws Exception {
    var words = Stream.concat(Stream.of("git"), Stream.of(arguments)).toArray(String[]::new);
    Command git = Command.of(words).in(clone);
    var result =
        git.with("GIT_COMMITTER_DATE", COMMIT_TIME).with("GIT_AUTHOR_DATE", COMMIT_TIME).run();
    assertThat(result.exitStatus()).as(result.stderr()).isZero();
    return result.stdout().strip();
  }

  @Test
  @Feature("P2")
  void twoBuildsGiveTheSameBytes() throws Exception {
    assertThat(dist.stdout())
        .isEqualTo(
            "weft %s, commit %s: target/dist/repository and target/dist/weft-%s.zip, twice the same bytes\n"
                .formatted(VERSION, git("rev-parse", "--short=12", "HEAD"), VERSION));
  }

  @Test
  @Feature("P2")
  void theRepositoryHasTheModulesOfTheBom() throws Exception {
    for (String module : MODULES) {
      assertThat(publishedFiles(module))
          .containsExactly(
              module + "-1.2.3-cyclonedx.json",
              module + "-1.2.3-javadoc.jar",
              module + "-1.2.3-sources.jar",
              module + "-1.2.3.jar",
              module + "-1.2.3.pom");
      assertThat(pom("weft-bom")).contains("<artifactId>" + module + "</artifactId>");
    }
    assertThat(publishedFiles("weft-bom")).containsExactly("weft-bom-1.2.3.pom");
    assertThat(list(repository()))
        .containsExactly(
            "weft-bom", "weft-console", "weft-core", "weft-http", "weft-micrometer", "weft-sim");
  }

  @Test
  @Feature("P2")
  void eachFileHasItsChecksums() throws Exception {
    int files = 0;
    for (Path file : filesIn(clone.resolve("target/dist"))) {
      if (CHECKSUMS.keySet().stream().anyMatch(file.toString()::endsWith)) {
        continue;
      }
      files++;
      for (Map.Entry<String, String> checksum : CHECKSUMS.entrySet()) {
        byte[] digest =
            MessageDigest.getInstance(checksum.getValue()).digest(Files.readAllBytes(file));
        assertThat(file.resolveSibling(file.getFileName() + "." + checksum.getKey()))
            .hasContent(HexFormat.of().formatHex(digest));
      }
    }
    assertThat(files)
        .isEqualTo(1 + MODULES.size() * 5 + 2); // the BOM, the modules, the zip and its SBOM
  }

  @Test
  @Feature("P2")
  void pomsSayWhatAUserNeedsAndNothingOfTheBuild() throws Exception {
    for (String module :
        List.of(
            "weft-bom", "weft-core", "weft-http", "weft-sim", "weft-console", "weft-micrometer")) {
      assertThat(pom(module))
          .contains("<version>1.2.3</version>", "<name>", "<description>", "<license>")
          .contains("  <url>https://weft.invalid</url>", "<connection>", "<developer>")
          .doesNotContain("<parent>", "<build>", "<profiles>", "<properties>", "testkit", "${");
    }
    assertThat(pom("weft-core")).contains("jctools-core-jdk11", "jspecify");
    assertThat(pom("weft-http")).contains("<artifactId>weft-core</artifactId>");
    assertThat(pom("weft-bom")).doesNotContain("junit");
  }

  @Test
  @Feature("P2")
  void jarsNameTheirVersionAndCommitAndHaveTheTimeOfTheCommit() throws Exception {
    try (JarFile jar = new JarFile(file("weft-core", ".jar").toFile())) {
      Attributes manifest = jar.getManifest().getMainAttributes();
      assertThat(manifest.getValue("Implementation-Version")).isEqualTo(VERSION);
      assertThat(manifest.getValue("Implementation-Commit"))
          .isEqualTo(git("rev-parse", "--short=12", "HEAD"));
      assertThat(jar.getEntry("META-INF/maven")).isNull();
      ZipEntry type = jar.getEntry("dev/weft/Weft.class");
      assertThat(type.getTimeLocal()).hasToString(COMMIT_TIME.replace("Z", ""));
    }
    try (JarFile sources = new JarFile(file("weft-core", "-sources.jar").toFile())) {
      assertThat(sources.getEntry("dev/weft/Weft.java")).isNotNull();
    }
  }

  @Test
  @Feature("P2")
  void javadocHasThePublicTypesOnly() throws Exception {
    try (JarFile javadoc = new JarFile(file("weft-core", "-javadoc.jar").toFile())) {
      List<String> pages = javadoc.stream().map(ZipEntry::getName).toList();
      assertThat(pages)
          .contains("dev.weft/dev/weft/Weft.html", "dev.weft/dev/weft/channel/Channel.html")
          .noneMatch(page -> page.contains("internal"))
          .doesNotContain("dev.weft/dev/weft/Worker.html");
      ZipEntry page = javadoc.getEntry("dev.weft/dev/weft/channel/Channel.html");
      String html = new String(javadoc.getInputStream(page).readAllBytes(), UTF_8);
      assertThat(html.contains("class=\"snippet\"")).isTrue(); // javadoc takes it from a test
    }
    assertThat(Files.readString(clone.resolve("target/dist.log")))
        .doesNotContain("Javadoc Warnings");
  }

  /** The commands of docs/README.md. */
  @Test
  @Feature("P2")
  void javadocOfTheModulesIsUnpackedSideBySide() throws Exception {
    Matcher commands =
        Pattern.compile("(?s)```\n\\./weft dist\n(.*?)```")
            .matcher(Files.readString(Script.ROOT.resolve("docs/README.md")));
    assertThat(commands.find()).isTrue();
    Command.Result unpacked = Command.of("bash", "-ec", commands.group(1)).in(clone).run();
    assertThat(unpacked).isEqualTo(new Command.Result(0, "", ""));

    Path javadoc = clone.resolve("target/javadoc");
    Pattern link = Pattern.compile("href=\"((?:\\.\\./)+(weft-\\w+)/[^\"#]*)");
    Map<String, Set<String>> linkedBy = new TreeMap<>();
    for (String module : MODULES) {
      Set<String> linked = new TreeSet<>();
      for (Path page : filesIn(javadoc.resolve(module))) {
        if (page.toString().endsWith(".html")) {
          Matcher links = link.matcher(Files.readString(page));
          while (links.find()) {
            assertThat(page.resolveSibling(links.group(1)).normalize()).as("%s", page).exists();
            linked.add(links.group(2));
          }
        }
      }
      linkedBy.put(module, linked);
    }
    assertThat(linkedBy) // weft-sim and weft-console name no type of another module
        .containsEntry("weft-http", Set.of("weft-core"))
        .containsEntry("weft-micrometer", Set.of("weft-core"));
  }

  /** The command of docs/packages.md, with a key that is thrown away. */
  @Test
  @Feature("P2")
  void eachFileCanBeSigned() throws Exception {
    assumeTrue(Command.of("bash", "-c", "command -v gpg").run().exitStatus() == 0, "no gpg");
    Matcher line =
        Pattern.compile("`(find .* -exec gpg .*)`")
            .matcher(Files.readString(Script.ROOT.resolve("docs/packages.md")));
    assertThat(line.find()).isTrue();
    Path folder = machine.resolve("signed");
    bash(clone, "cp -R target/dist '%s' && mkdir -m 700 '%s/keys'".formatted(folder, machine));
    List<Path> files = new ArrayList<>(filesIn(folder));
    files.removeIf(file -> CHECKSUMS.keySet().stream().anyMatch(file.toString()::endsWith));

    bash(folder, "gpg --batch --passphrase '' --quick-generate-key a@b.invalid ed25519 sign never");
    try {
      bash(folder, line.group(1));
      for (Path file : files) {
        bash(folder, "gpg --verify '%s.asc' '%s'".formatted(file, file));
      }
    } finally {
      bash(folder, "gpgconf --kill gpg-agent"); // which gpg has started for this key
    }
    assertThat(filesIn(folder).stream().filter(file -> file.toString().endsWith(".asc")))
        .hasSameSizeAs(files);
  }

  private static void bash(Path folder, String command) throws Exception {
    Command bash = Command.of("bash", "-ec", command).in(folder);
    Command.Result result = bash.with("GNUPGHOME", machine.resolve("keys").toString()).run();
    assertThat(result.exitStatus()).as(result.stderr()).isZero();
  }

  @Test
  @Feature("P2")
  void billsOfMaterialsNameTheLibraries() throws Exception {
    assertThat(file("weft-core", "-cyclonedx.json"))
        .content()
        .contains("\"bomFormat\" : \"CycloneDX\"", "pkg:maven/org.jctools/jctools-core-jdk11@")
        .doesNotContain("junit");
    assertThat(clone.resolve("target/dist/weft-1.2.3-cyclonedx.json"))
        .content()
        .contains("pkg:maven/dev.weft/weft-http@1.2.3");
  }

  @Test
  @Feature("P2")
  void theUnzippedLauncherRunsProgramsWithoutMaven() throws Exception {
    Path folder = Files.createTempDirectory(machine, "programs");
    Programs programs = new Programs(folder);
    programs.write(
        "Program.java",
        """
        class Program {
          static void main() { System.out.println(Thread.currentThread().isVirtual()); }
        }
        """);
    Attributes attributes = new Attributes();
    attributes.put(Attributes.Name.MAIN_CLASS, "Program");
    programs.javac("-d", folder.toString(), folder.resolve("Program.java").toString());
    programs.jar("app.jar", attributes, folder.resolve("Program.class"));
    programs.write("bin/mvn", "#!/bin/sh\necho Maven was called >&2\n");
    assertThat(folder.resolve("bin/mvn").toFile().setExecutable(true)).isTrue();

    assertThat(runUnzipped(folder, "Program.java"))
        .isEqualTo(
            new Command.Result(
                0, "true\n", "weft: preparing the first start; later ones are faster\n"));
    for (String program : List.of("Program.java", "app.jar")) {
      assertThat(runUnzipped(folder, program)).isEqualTo(new Command.Result(0, "true\n", ""));
    }
    assertThat(Script.at(unzipped, "--version").run().stdout())
        .startsWith("weft 1.2.3\ncommit " + git("rev-parse", "--short=12", "HEAD") + "\nJDK 25");
  }

  private static Command.Result runUnzipped(Path folder, String program) throws Exception {
    return Script.at(unzipped, "run", program)
        .in(folder)
        .with("XDG_CACHE_HOME", folder.resolve("cache").toString())
        .with("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"))
        .run();
  }

  @Test
  @Feature("P3")
  void aNewProjectBuildsRunsAndTestsAtOnce() throws Exception {
    Path project = machine.resolve("my project");
    Command.Result made = Script.at(unzipped, "new", "my project").in(machine).run();
    assertThat(made)
        .isEqualTo(
            new Command.Result(
                0,
                """
                weft: my project is a project with Weft 1.2.3. Now:
                  cd my\\ project
                  ./mvnw test   # runs the test
                  ./mvnw        # compiles and runs the program
                """,
                ""));

    // each command in a project that nothing has been done to
    Command.Result run = mvnw(project).run();
    assertThat(run.exitStatus()).as(run.stdout()).isZero();
    assertThat(run.stdout())
        .contains("\nhot soup is served\nhot fish is served\nhot cake is served\n");

    Command.of("rm", "-r", "target").in(project).run();
    Command.Result tests = mvnw(project, "test").run();
    assertThat(tests.exitStatus()).as(tests.stdout()).isZero();
    assertThat(tests.stdout()).contains("Tests run: 1, Failures: 0").doesNotContain("WARN");

    assertThat(mvnw(project, "-q", "exec:java").run().stdout())
        .isEqualTo("hot soup is served\nhot fish is served\nhot cake is served\n");

    // it runs what is written, not what was compiled last
    Path main = project.resolve("src/main/java/app/Main.java");
    Files.writeString(main, Files.readString(main).replace("is served", "is ready"));
    assertThat(mvnw(project, "-q").run().stdout())
        .isEqualTo("hot soup is ready\nhot fish is ready\nhot cake is ready\n");
  }

  @Test
  @Feature("P3")
  void aCloneGivesItsProjectsAVersionForEachBuild() throws Exception {
    Command.Result first = Script.at(clone, "new", "first").in(machine).run();
    Command.Result second = Script.at(clone, "new", "second").in(machine).run();

    assertThat(first.exitStatus()).as(first.stderr()).isZero();
    assertThat(second.stderr()).isEmpty(); // nothing has changed: no build
    Path lib = machine.resolve("first/lib/dev/weft/weft-core");
    String version = list(lib).iterator().next();
    assertThat(version).matches("\\d+\\.\\d+\\.\\d+-dev\\.\\d{14}");
    String jar = "weft-core-" + version + ".jar";
    assertThat(list(lib.resolve(version))).contains(jar, jar + ".sha1");
    assertThat(machine.resolve("second/lib/dev/weft/weft-core").resolve(version).resolve(jar))
        .exists();
  }

  /** The last step of the tutorial: its dependency and its files in a new project. */
  @Test
  @Feature({"P3", "P4"})
  void theServiceOfTheTutorialIsAProject() throws Exception {
    Path project = machine.resolve("prices");
    assertThat(Script.at(unzipped, "new", "prices").in(machine).run().exitStatus()).isZero();
    String port = SnippetsTest.freePort();
    DocPage tutorial = DocPage.read(Script.ROOT.resolve("docs/tutorial.md"));
    for (DocPage.Block block : tutorial.blocks()) {
      if (block.isFile()) {
        String text = SnippetsTest.forTest(block.text(), port);
        Files.writeString(project.resolve(block.name()), text);
      } else if (block.language().equals("xml")) {
        Path pom = project.resolve("pom.xml");
        String with = "\n  <dependencies>\n" + block.text();
        Files.writeString(pom, Files.readString(pom).replace("\n  <dependencies>\n", with));
      }
    }

    Command.Result tests = mvnw(project, "test").run();
    assertThat(tests.exitStatus()).as(tests.stdout()).isZero();
    assertThat(tests.stdout()).contains("Tests run: 2, Failures: 0, Errors: 0");

    Process server = mvnw(project, "-q").start();
    try (BufferedReader printed = server.inputReader()) {
      assertThat(printed.readLine()).isEqualTo("listening on port " + port);
      assertThat(ConsoleSession.get("localhost:" + port + "/price?soup"))
          .isEqualTo("soup costs 5 at far, by 2 of 3 suppliers\n");
      server.toHandle().destroy(); // Process.destroy would close its output
      assertThat(printed.lines()).containsExactly("asked for: {soup=1}");
    } finally {
      server.destroyForcibly();
    }
  }

  /** Names a call of a project's wrapper; what it downloads is not kept. */
  private static Command mvnw(Path project, String... arguments) {
    List<String> words = new ArrayList<>(List.of(arguments));
    words.addFirst("./mvnw");
    return Command.of(words.toArray(new String[0]))
        .in(project)
        .with("JAVA_HOME", System.getProperty("java.home"))
        .with("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC") // as ./weft starts Maven
        .with(
            "MAVEN_ARGS",
            "-Dmaven.repo.local=%s -Dmaven.repo.local.tail=%s"
                .formatted(machine.resolve("repository"), System.getProperty("localRepository")));
  }

  @Test
  void theVersionsInTheTemplateAreThoseOfWeft() throws Exception {
    String weft = Files.readString(Script.ROOT.resolve("pom.xml"));
    String template = Files.readString(Script.ROOT.resolve("template/pom.xml"));
    for (String plugin : List.of("maven-compiler-plugin", "maven-surefire-plugin")) {
      assertThat(versionOf(template, plugin)).isEqualTo(versionOf(weft, plugin));
    }
    assertThat(weft).contains("<junit.version>" + versionOf(template, "junit-jupiter") + "<");
  }

  private static String versionOf(String pom, String artifact) {
    String rest = pom.substring(pom.indexOf("<artifactId>" + artifact + "</artifactId>"));
    return rest.substring(
        rest.indexOf("<version>") + "<version>".length(), rest.indexOf("</version>"));
  }

  private static Path repository() {
    return clone.resolve("target/dist/repository/dev/weft");
  }

  private static Path file(String module, String ending) {
    return repository().resolve(module).resolve(VERSION).resolve(module + "-" + VERSION + ending);
  }

  private static String pom(String module) throws IOException {
    return Files.readString(file(module, ".pom"));
  }

  private static Set<String> publishedFiles(String module) throws IOException {
    Set<String> names = list(repository().resolve(module).resolve(VERSION));
    names.removeIf(name -> CHECKSUMS.keySet().stream().anyMatch(name::endsWith));
    return names;
  }

  private static Set<String> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static List<Path> filesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }
}
