package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The packages of the library, as {@code docs/architecture.md} shows them: exported packages hold
 * public types only, arrows between internal packages point one way, and the paths that the page
 * follows exist. {@code -Dweft.docs.write=true} writes the picture anew.
 */
class ArchitectureTest {
  private static final Path ROOT = Path.of(System.getProperty("weft.root"));
  private static final Path PAGE = ROOT.resolve("docs/architecture.md");
  private static final Path CLASSES = ROOT.resolve("weft-core/target/classes");
  private static final String FACE = "dev.weft";

  /** The exported packages, which are one API and may use each other. */
  private static final Set<String> FACES =
      Set.of(
          "dev.weft",
          "dev.weft.channel",
          "dev.weft.io",
          "dev.weft.net",
          "dev.weft.sync",
          "dev.weft.time");

  /** The internal packages from top to bottom: each may use those after it. */
  private static final List<String> ORDER =
      List.of(
          "start",
          "hook",
          "attach",
          "watch",
          "beans",
          "policy",
          "pool",
          "net",
          "channel",
          "sync",
          "wait",
          "blocking",
          "sched",
          "io",
          "timer",
          "poller",
          "lock",
          "switching",
          "events",
          "jdk",
          "");

  /** A name of a class of Weft's in a constant: of the class itself, or in a descriptor. */
  private static final Pattern NAME = Pattern.compile("dev/weft/[\\w/$]+");

  /** A hop in a path: {@code | 3 | `Worker.addReady` | … |}. */
  private static final Pattern HOP = Pattern.compile("^\\| \\d+ \\| `(\\w+)\\.(\\w+)`.*");

  private static List<ClassModel> classes() throws IOException {
    List<ClassModel> models = new ArrayList<>();
    try (Stream<Path> files = Files.walk(CLASSES.resolve("dev/weft"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        if (!file.endsWith("package-info.class")) {
          models.add(ClassFile.of().parse(file));
        }
      }
    }
    assertThat(models).hasSizeGreaterThan(100);
    return models;
  }

  private static String packageOf(String internalName) {
    return internalName.substring(0, internalName.lastIndexOf('/')).replace('/', '.');
  }

  /** Which package uses which, of Weft's; the exported packages as one. */
  private static Map<String, Set<String>> arrows() throws IOException {
    Map<String, Set<String>> arrows = new TreeMap<>();
    for (ClassModel model : classes()) {
      String from = node(packageOf(model.thisClass().asInternalName()));
      Set<String> targets = arrows.computeIfAbsent(from, name -> new TreeSet<>());
      for (PoolEntry entry : model.constantPool()) {
        String text =
            switch (entry) {
              case ClassEntry type -> type.asInternalName();
              case Utf8Entry utf8 when utf8.stringValue().matches("[(<]?.*L?dev/weft/.*;.*") ->
                  utf8.stringValue();
              default -> "";
            };
        Matcher names = NAME.matcher(text);
        while (names.find()) {
          targets.add(node(packageOf(names.group())));
        }
      }
      targets.remove(from);
    }
    return arrows;
  }

  private static String node(String packageName) {
    return FACES.contains(packageName) ? FACE : packageName;
  }

  private static int level(String packageName) {
    String below = packageName.substring("dev.weft.internal".length());
    int level = ORDER.indexOf(below.isEmpty() ? "" : below.substring(1));
    assertThat(level).as("%s is a package of the layout", packageName).isNotNegative();
    return level;
  }

  @Test
  void exportedPackagesHoldPublicTypesOnly() throws IOException {
    List<String> hidden =
        classes().stream()
            .filter(model -> FACES.contains(packageOf(model.thisClass().asInternalName())))
            .filter(model -> !model.thisClass().asInternalName().contains("$"))
            .filter(model -> (model.flags().flagsMask() & ClassFile.ACC_PUBLIC) == 0)
            .map(model -> model.thisClass().asInternalName())
            .toList();
    assertThat(hidden).isEmpty();
  }

  @Test
  void arrowsPointOneWay() throws IOException {
    List<String> wrong = new ArrayList<>();
    arrows()
        .forEach(
            (from, targets) -> {
              for (String target : targets) {
                if (!from.equals(FACE) && !target.equals(FACE) && level(from) >= level(target)) {
                  wrong.add(from + " uses " + target);
                }
              }
            });
    assertThat(wrong).as("arrows against the order").isEmpty();
  }

  @Test
  void thePictureIsTheCode() throws IOException {
    StringBuilder picture = new StringBuilder("```mermaid\nflowchart TD\n");
    arrows()
        .forEach(
            (from, targets) -> {
              for (String target : targets) {
                String line = target.equals(FACE) ? " -.-> " : " --> ";
                picture.append("  ").append(id(from)).append(line).append(id(target)).append('\n');
              }
            });
    picture.append("```\n");
    assertPart("arrows", picture.toString());
  }

  private static String id(String packageName) {
    return packageName.equals(FACE)
        ? "api[\"dev.weft, .channel, .io, .net, .sync, .time\"]"
        : packageName.equals("dev.weft.internal")
            ? "base[internal]"
            : packageName.substring("dev.weft.internal.".length());
  }

  @Test
  void thePathsExistAndAreShort() throws IOException {
    String page = Files.readString(PAGE);
    assertPath(page, "### A fiber, from `go` to `join`", 10);
    assertPath(page, "### A hooked `Socket.read`", 6);
  }

  private static void assertPath(String page, String heading, int mostFiles) throws IOException {
    int from = page.indexOf(heading);
    assertThat(from).as(heading).isNotNegative();
    int to = page.indexOf("\n#", from + 1);
    Set<String> files = new HashSet<>();
    Map<String, Set<String>> methods =
        classes().stream()
            .collect(
                Collectors.toMap(
                    model -> simpleName(model),
                    model ->
                        model.methods().stream()
                            .map(method -> method.methodName().stringValue())
                            .collect(Collectors.toSet()),
                    (one, other) -> {
                      one.addAll(other);
                      return one;
                    }));
    for (String line : page.substring(from, to < 0 ? page.length() : to).lines().toList()) {
      Matcher hop = HOP.matcher(line);
      if (hop.matches()) {
        assertThat(methods).as(line).containsKey(hop.group(1));
        assertThat(methods.get(hop.group(1))).as(line).contains(hop.group(2));
        files.add(hop.group(1));
      }
    }
    assertThat(files).as(heading).hasSizeBetween(4, mostFiles);
  }

  private static String simpleName(ClassModel model) {
    String name = model.thisClass().asInternalName();
    return name.substring(name.lastIndexOf('/') + 1);
  }

  /** A long file says why at its top: of the code, and of what is sent to a browser. */
  @Test
  void longFilesHaveAReason() throws IOException {
    List<String> long500 = new ArrayList<>();
    int looked = 0;
    for (Path file : mainFiles("\\.(java|js|css|html)$")) {
      List<String> lines = Files.readAllLines(file);
      looked++;
      if (lines.size() > 500
          && lines.stream().limit(80).noneMatch(l -> l.contains("long because"))) {
        long500.add(ROOT.relativize(file) + ": " + lines.size());
      }
    }
    assertThat(looked).isGreaterThan(300);
    assertThat(long500).isEmpty();
  }

  /** The files below src/main of all modules whose names end as the pattern says. */
  private static List<Path> mainFiles(String ending) throws IOException {
    Pattern name = Pattern.compile(ending);
    List<Path> found = new ArrayList<>();
    for (String module : modules()) {
      Path sources = ROOT.resolve(module).resolve("src/main");
      if (Files.isDirectory(sources)) {
        try (Stream<Path> files = Files.walk(sources)) {
          files
              .filter(Files::isRegularFile)
              .filter(file -> name.matcher(file.toString()).find())
              .forEach(found::add);
        }
      }
    }
    return found;
  }

  private static List<String> modules() {
    String[] names = ROOT.toFile().list((dir, name) -> name.startsWith("weft-"));
    return Arrays.stream(names).sorted().toList();
  }

  /** Other modules are compiled with this one's internals: the page says with which. */
  @Test
  void thePageListsWhatOtherModulesUse() throws IOException {
    Pattern imported =
        Pattern.compile("^import (?:static )?dev\\.weft\\.internal\\.([a-z.]*)([A-Z]\\w*)");
    Map<String, Map<String, Set<String>>> uses = new TreeMap<>();
    for (Path file : mainFiles("\\.java$")) {
      String module = ROOT.relativize(file).getName(0).toString();
      if (!module.equals("weft-core")) {
        for (String line : Files.readAllLines(file)) {
          Matcher use = imported.matcher(line);
          if (use.find()) {
            String at = use.group(1).isEmpty() ? "internal" : "internal." + use.group(1);
            uses.computeIfAbsent(module, m -> new TreeMap<>())
                .computeIfAbsent(at.replaceFirst("\\.$", ""), p -> new TreeSet<>())
                .add(use.group(2));
          }
        }
      }
    }
    StringBuilder table = new StringBuilder("| module | of package | classes |\n|---|---|---|\n");
    uses.forEach(
        (module, packages) ->
            packages.forEach(
                (name, classes) ->
                    table.append(
                        "| `%s` | `%s` | `%s` |\n"
                            .formatted(module, name, String.join("`, `", classes)))));
    assertPart("uses", table.toString());
  }

  /** Compares the part of the page between two marks, or writes it. */
  private static void assertPart(String mark, String expected) throws IOException {
    String page = Files.readString(PAGE);
    String begin = "<!-- " + mark + " -->\n";
    int from = page.indexOf(begin) + begin.length();
    int to = page.indexOf("<!-- end of " + mark + " -->\n");
    assertThat(to).as("the page has a place for the %s", mark).isGreaterThan(from - 1);
    String written = page.substring(0, from) + expected + page.substring(to);
    if (Boolean.getBoolean("weft.docs.write")) {
      Files.writeString(PAGE, written);
    }
    assertThat(Files.readString(PAGE))
        .as("the %s in %s; ./weft test ArchitectureTest -- -Dweft.docs.write=true", mark, PAGE)
        .isEqualTo(written);
  }
}
