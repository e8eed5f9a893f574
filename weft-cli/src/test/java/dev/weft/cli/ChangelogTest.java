package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.lang.module.ModuleDescriptor.Version;
import java.nio.file.Files;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CHANGELOG.md has the form of Keep a Changelog 1.1.0, and knows the version of the pom. */
@Feature("P2")
class ChangelogTest {
  private static final List<String> KINDS =
      List.of("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security");
  private static final Pattern RELEASE =
      Pattern.compile("## \\[(\\d+\\.\\d+\\.\\d+)] - (\\d{4}-\\d{2}-\\d{2})");

  private static final String GOOD =
      """
      # Changelog

      What this file is.

      ## [Unreleased]

      ### Added
      - A thing
        in two lines.

      ### Fixed
      - A fault.

      ## [0.2.0] - 2026-05-01

      ### Removed
      - A thing.

      ## [0.1.0] - 2026-04-01

      ### Added
      - The first thing.
      """;

  @Test
  void theChangelogIsWellFormed() throws Exception {
    assertThat(faultsIn(Files.readString(Script.ROOT.resolve("CHANGELOG.md")))).isEmpty();
  }

  /** A release moves the entries under its version and leaves the pom at a later one. */
  @Test
  void theVersionOfThePomIsNotReleasedYet() throws Exception {
    Matcher version =
        Pattern.compile("(?m)^  <version>(.*)-SNAPSHOT</version>$")
            .matcher(Files.readString(Script.ROOT.resolve("pom.xml")));
    assertThat(version.find()).isTrue();
    Version next = Version.parse(version.group(1));
    RELEASE
        .matcher(Files.readString(Script.ROOT.resolve("CHANGELOG.md")))
        .results()
        .forEach(release -> assertThat(next).isGreaterThan(Version.parse(release.group(1))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # Changelog               | # Changes           | 1: the title is # Changelog
          ## [Unreleased]           | ## Unreleased       | 5: no heading of a version
          ## [Unreleased]           | ## [0.3.0] - 2026-06-01 | 5: [Unreleased] comes first
          ### Fixed                 | ### Mended          | 11: no kind of change
          ### Fixed                 | ### Added           | 11: the kinds are not in order
          - A fault.                | A fault.            | 12: no entry
          [0.2.0] - 2026-05-01      | [0.2.0]             | 14: no heading of a version
          [0.2.0] - 2026-05-01      | [0.1.0] - 2026-05-01 | 19: versions are not newest first
          [0.2.0] - 2026-05-01      | [0.2.0] - 2026-03-01 | 19: dates are not newest first
          [0.2.0] - 2026-05-01      | [0.2.0] - 2026-15-01 | 14: no date
          - The first thing.        | ''                  | 21: no entry under Added
          """)
  void faultsAreFound(String right, String wrong, String fault) {
    assertThat(faultsIn(GOOD)).isEmpty();
    assertThat(faultsIn(GOOD.replaceFirst(Pattern.quote(right), wrong))).contains(fault);
  }

  /** Returns what is wrong, each with the number of its line. */
  private static List<String> faultsIn(String changelog) {
    Reader reader = new Reader();
    changelog.lines().forEach(reader::read);
    reader.endOfKind();
    return reader.faults;
  }

  /** Reads line by line. */
  private static final class Reader {
    final List<String> faults = new ArrayList<>();
    private int line;
    private int kindLine;
    private int entries;
    private String kind = "";
    private String version = "";
    private String date = "9999-12-31";
    private final Set<String> versions = new HashSet<>();

    void read(String text) {
      line++;
      if (line == 1) {
        check(text.equals("# Changelog"), "the title is # Changelog");
      } else if (text.startsWith("## ")) {
        endOfKind();
        readVersion(text);
      } else if (text.startsWith("#")) {
        endOfKind();
        readKind(text);
      } else if (!kind.isEmpty() && !text.isBlank()) {
        boolean isEntry = text.matches("- \\S.*");
        entries += isEntry ? 1 : 0;
        check(isEntry || (entries > 0 && text.matches("  +\\S.*")), "no entry");
      } else {
        check(version.isEmpty() || text.isBlank(), "no entry");
      }
    }

    private void readVersion(String text) {
      kind = "";
      Matcher release = RELEASE.matcher(text);
      if (text.equals("## [Unreleased]")) {
        check(version.isEmpty(), "[Unreleased] comes first");
        version = "Unreleased";
      } else if (release.matches()) {
        check(!version.isEmpty(), "[Unreleased] comes first");
        boolean isOlder = versions.add(release.group(1)) && isOlder(release.group(1));
        check(isOlder, "versions are not newest first");
        version = release.group(1);
        check(isDate(release.group(2)), "no date");
        check(release.group(2).compareTo(date) <= 0, "dates are not newest first");
        date = release.group(2);
      } else {
        check(false, "no heading of a version");
      }
    }

    private boolean isOlder(String next) {
      return version.isEmpty()
          || version.equals("Unreleased")
          || Version.parse(next).compareTo(Version.parse(version)) < 0;
    }

    private static boolean isDate(String text) {
      try {
        return LocalDate.parse(text).toString().equals(text);
      } catch (DateTimeException e) {
        return false;
      }
    }

    private void readKind(String text) {
      String next = text.replaceFirst("^### ", "");
      check(KINDS.contains(next) && text.startsWith("### "), "no kind of change");
      check(
          kind.isEmpty() || !KINDS.contains(next) || KINDS.indexOf(next) > KINDS.indexOf(kind),
          "the kinds are not in order");
      kind = next;
      kindLine = line;
    }

    void endOfKind() {
      if (!kind.isEmpty() && entries == 0) {
        faults.add(kindLine + ": no entry under " + kind);
      }
      entries = 0;
    }

    private void check(boolean holds, String fault) {
      if (!holds) {
        faults.add(line + ": " + fault);
      }
    }
  }
}
