package dev.weft.internal.jdk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of JDK internals says what the code looks up, exists in this JDK, and is the page. */
@Feature("H9")
class JdkInternalsTest {
  private static final Path ROOT = Path.of(System.getProperty("weft.root"));
  private static final Path PAGE = ROOT.resolve("docs/jdk-internals.md");
  private static final Path CODE = ROOT.resolve("weft-core/src/main/java/dev/weft/internal");

  /** A look-up of a member by its name. */
  private static final Pattern LOOK_UP =
      Pattern.compile(
          "(?:findVirtual|findStatic|findVarHandle|findStaticVarHandle|findGetter|PrivateField\\.of)"
              + "\\(\\s*([^;()]*?)(?:,\\s*)?\"(\\w+)\"|state\\((?:lookup|virtual), \"([A-Z_]+)\"");

  @Test
  void thisJdkHasAllOfIt() {
    assertThat(JdkInternals.table()).allMatch(JdkInternals::exists);
  }

  @Test
  void everyLookUpOfTheCodeStandsInTheTable() throws IOException {
    Set<String> known =
        JdkInternals.table().stream().map(JdkInternals.Row::member).collect(Collectors.toSet());
    known.add("moveInto"); // of the class that DispatcherHook itself defines in the JDK
    Set<String> unknown = new TreeSet<>();
    int found = 0;
    for (String folder : new String[] {"switching", "hook", "jdk"}) {
      try (Stream<Path> files = Files.walk(CODE.resolve(folder))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          String text = Files.readString(file);
          Matcher lookUp = LOOK_UP.matcher(text);
          while (lookUp.find()) {
            String type = lookUp.group(1) == null ? "" : lookUp.group(1);
            String member = lookUp.group(2) != null ? lookUp.group(2) : lookUp.group(3);
            boolean own = type.startsWith(file.getFileName().toString().replace(".java", ""));
            if (!own) {
              found++;
              if (!known.contains(member)) {
                unknown.add(file.getFileName() + ": " + member);
              }
            }
          }
        }
      }
    }
    assertThat(found).isGreaterThan(50);
    assertThat(unknown).isEmpty();
  }

  @Test
  void thePageIsTheTable() throws IOException {
    StringBuilder table = new StringBuilder();
    for (JdkInternals.Part part : JdkInternals.Part.values()) {
      table
          .append("\n## ")
          .append(part.name().charAt(0))
          .append(part.name().substring(1).toLowerCase(java.util.Locale.ROOT))
          .append("\n\nWithout it: ")
          .append(part.without())
          .append(".\n\n| class | member | use |\n|---|---|---|\n");
      for (JdkInternals.Row row : JdkInternals.table()) {
        if (row.part() == part) {
          table.append(
              "| `%s` | %s | %s |\n"
                  .formatted(
                      row.type(),
                      row.member().isEmpty() ? "" : "`" + row.member() + "`",
                      row.why()));
        }
      }
    }
    String page = Files.readString(PAGE);
    String begin = "<!-- table -->\n";
    int from = page.indexOf(begin) + begin.length();
    assertThat(from).isGreaterThan(begin.length());
    String written = page.substring(0, from) + table;
    if (Boolean.getBoolean("weft.docs.write")) {
      Files.writeString(PAGE, written);
    }
    assertThat(Files.readString(PAGE))
        .as("%s; ./weft test JdkInternalsTest -- -Dweft.docs.write=true", PAGE)
        .isEqualTo(written);
  }
}
