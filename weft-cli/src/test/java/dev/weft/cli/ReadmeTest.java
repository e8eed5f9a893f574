package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The README says what is true today. */
class ReadmeTest {
  private static final int MOST_WORDS = 700;

  private static String read(String file) throws IOException {
    return Files.readString(Script.ROOT.resolve(file));
  }

  /** Returns the text of a page under a heading, up to the next heading. */
  private static String section(String page, String heading) throws IOException {
    Matcher section =
        Pattern.compile("(?ms)^## " + Pattern.quote(heading) + "\\n(.*?)(?=^## |\\z)")
            .matcher(read(page));
    assertThat(section.find()).as("%s has a section %s", page, heading).isTrue();
    return section.group(1);
  }

  @Test
  @Feature("P4")
  void theReadmeIsShort() throws IOException {
    String before = read("README.md").split("(?m)^## Numbers$", 2)[0];
    assertThat(before.split("\\s+")).hasSizeLessThanOrEqualTo(MOST_WORDS);
  }

  @Test
  @Feature("P4")
  void theReadmeNamesTheVersionOfThisBuild() throws IOException {
    Matcher version = Pattern.compile("(?m)^  <version>(.*)</version>$").matcher(read("pom.xml"));
    assertThat(version.find()).isTrue();
    assertThat(section("README.md", "In your project"))
        .contains("<version>" + version.group(1) + "</version>")
        .contains("dev.weft:weft-core:" + version.group(1) + "'");
  }

  /** A number that was measured again has to be written again. */
  @Test
  @Feature("P4")
  void itsNumbersAreThoseOfTheRuns() throws IOException {
    List<String> rows =
        section("README.md", "Numbers").lines().filter(row -> row.startsWith("| [")).toList();
    assertThat(rows).hasSize(5);
    for (String row : rows) {
      String[] cells = row.split(" *\\| *", -1); // the first is empty
      Matcher link = Pattern.compile("docs/numbers\\.md#([\\w-]+)").matcher(cells[1]);
      assertThat(link.find()).as(row).isTrue();
      assertThat(section("docs/numbers.md", link.group(1)))
          .as(row)
          .contains("| " + cells[2].split(" ", 2)[0] + " |")
          .contains("| " + cells[4] + " |")
          .contains(cells[5]);
    }
  }

  @Test
  @Feature("P5")
  void theTableOfSupportNamesTheTestedBuildsAndWhatCiRuns() throws IOException {
    String support = section("README.md", "Support");
    Matcher ofCi = Pattern.compile("tested in CI \\| (.+?)\\. \\[").matcher(support);
    assertThat(ofCi.find()).isTrue();
    assertThat(read("weft-core/src/main/resources/dev/weft/internal/jdk/tested-builds.txt").lines())
        .as("builds with %s among them", ofCi.group(1))
        .anyMatch(line -> line.startsWith(ofCi.group(1) + ": "));

    Matcher commands = Pattern.compile("bin/servers \\w+|\\./weft \\w+").matcher(read(".ci/run"));
    assertThat(commands.results().map(MatchResult::group))
        .isNotEmpty()
        .allMatch(command -> support.contains("`" + command + "`"));

    Matcher epoll =
        Pattern.compile("os\\.arch\"\\)\\.matches\\(\"([\\w|]+)\"")
            .matcher(read("weft-core/src/main/java/dev/weft/internal/poller/Poller.java"));
    assertThat(epoll.find()).isTrue();
    assertThat(support).contains("Linux on " + epoll.group(1).replace("|", ", "));
  }
}
