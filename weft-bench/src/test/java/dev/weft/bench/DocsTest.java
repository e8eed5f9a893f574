package dev.weft.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.bench.model.Comparison;
import dev.weft.bench.suite.Suite;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documentation: its links lead somewhere, and what it names is there. */
class DocsTest {
  private static final Path ROOT = Path.of(System.getProperty("weft.root"));

  private static final Pattern BLOCK = Pattern.compile("(?ms)^```.*?^```$");
  private static final Pattern LINK = Pattern.compile("]\\(([^)#\\s]*)(?:#([^)\\s]*))?\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

  // a test class, a method of it, or a method of the class named last
  private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*Test)?(?:#(\\w+))?`");

  @Test
  @Feature("P4")
  void everyLinkLeadsSomewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      Matcher link = LINK.matcher(textOf(page));
      while (link.find()) {
        String to = link.group(1);
        if (to.contains("://")) {
          continue;
        }
        Path target = to.isEmpty() ? page : page.resolveSibling(to).normalize();
        if (!Files.exists(target)
            || (link.group(2) != null && !anchorsIn(target).contains(link.group(2)))) {
          broken.add(ROOT.relativize(page) + ": " + link.group());
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  @Test
  void everyTestThatALawNamesIsThere() throws IOException {
    Map<String, Path> tests = testClasses();
    List<String> missing = new ArrayList<>();
    String type = "";
    Matcher test = TEST.matcher(textOf(ROOT.resolve("docs/laws.md")));
    while (test.find()) {
      type = Optional.ofNullable(test.group(1)).orElse(type);
      String method = test.group(2);
      if (!tests.containsKey(type)
          || (method != null
              && !Files.readString(tests.get(type)).contains(" void " + method + "("))) {
        missing.add(type + "#" + method);
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void everyBenchmarkIsExplained() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/benchmarks.md"));
    assertThat(Suite.all().stream().map(Comparison::name))
        .filteredOn(name -> !page.contains("`" + name + "`"))
        .isEmpty();
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      return Stream.concat(
              docs.filter(file -> file.toString().endsWith(".md")),
              Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")
                  .map(ROOT::resolve))
          .toList();
    }
  }

  private static Map<String, Path> testClasses() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> ROOT.relativize(file).toString().matches("[^/]+/src/test/.*Test\\.java"))
          .collect(
              Collectors.toMap(
                  file -> file.getFileName().toString().replace(".java", ""), file -> file));
    }
  }

  private static String textOf(Path page) throws IOException {
    return BLOCK.matcher(Files.readString(page)).replaceAll("");
  }

  /** The names that GitHub gives to headings. */
  private static List<String> anchorsIn(Path page) throws IOException {
    return HEADING
        .matcher(textOf(page))
        .results()
        .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
        .map(text -> text.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .toList();
  }
}
