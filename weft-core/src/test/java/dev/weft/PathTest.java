package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The two paths of {@code docs/architecture.md} name every file of Weft's that runs: as a hop, or
 * as a leaf below the hops. {@link PathProbe} runs them.
 */
@EnabledOnOs(OS.LINUX)
class PathTest {
  private static final Path ROOT = Path.of(System.getProperty("weft.root"));

  /** {@code | 3 | `Worker.addReady` | … |}. */
  private static final Pattern HOP = Pattern.compile("\\| \\d+ \\| `(\\w+)\\.\\w+`.*");

  /** {@code | `LiveCount` | … |}. */
  private static final Pattern LEAF = Pattern.compile("\\| `(\\w+)` \\|.*");

  private static String output;

  @BeforeAll
  static void runBoth(@TempDir Path folder) throws Exception {
    PathProbe.instrument(ROOT.resolve("weft-core/target/classes"), folder);
    ForkedJvm.Result result =
        ForkedJvm.java(
            ForkedJvm.weftArgs(),
            "-Dweft.poller=epoll",
            "-cp",
            folder
                + File.pathSeparator
                + ForkedJvm.classPathOf(
                    PathProbe.class,
                    MessagePassingQueue.class,
                    MpscUnboundedVarHandleArrayQueue.class),
            PathProbe.class.getName());
    assertThat(result.exitStatus()).as(result.output()).isZero();
    output = result.output();
  }

  /** The files that ran, without the folder: inner classes stand in the file of the outer. */
  private static Set<String> ran(String operation) {
    Set<String> files =
        output
            .lines()
            .filter(line -> line.startsWith(operation + " "))
            .map(line -> line.replaceFirst(".*/(\\w+).*", "$1"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(files).as(output).hasSizeGreaterThan(5);
    return files;
  }

  @Test
  void thePathOfAFiberNamesEachFileThatRuns() throws Exception {
    assertNamed("### A fiber, from `go` to `join`", ran(PathProbe.GO), 10);
  }

  @Test
  void thePathOfAReadNamesEachFileThatRunsBesidesThoseOfAFiber() throws Exception {
    Set<String> files = ran(PathProbe.READ);
    files.removeAll(ran(PathProbe.GO));
    assertNamed("### A hooked `Socket.read`", files, 6);
  }

  private static void assertNamed(String heading, Set<String> ran, int mostHops) throws Exception {
    String page = Files.readString(ROOT.resolve("docs/architecture.md"));
    int from = page.indexOf(heading);
    assertThat(from).as(heading).isNotNegative();
    int to = page.indexOf("\n#", from + 1);
    String section = page.substring(from, to < 0 ? page.length() : to);
    Set<String> hops = named(section, HOP);
    Set<String> leaves = named(section, LEAF);
    leaves.removeAll(hops);
    assertThat(hops).hasSizeLessThanOrEqualTo(mostHops);
    assertThat(ran).as(output).containsAll(hops);
    Set<String> both = new TreeSet<>(hops);
    both.addAll(leaves);
    assertThat(both).as(output).isEqualTo(ran);
    assertThat(section)
        .contains("%d files carry it, %d more are leaves".formatted(hops.size(), leaves.size()));
  }

  private static Set<String> named(String section, Pattern row) {
    Set<String> names = new TreeSet<>();
    for (String line : section.lines().toList()) {
      Matcher found = row.matcher(line);
      if (found.matches()) {
        names.add(found.group(1));
      }
    }
    return names;
  }
}
