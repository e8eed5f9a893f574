package dev.weft.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Scopes, channels, random worlds and sockets in JVMs that differ in garbage collector, assertions,
 * threads, hook and switching. A dozen rows stand for the 96 combinations: every two settings of
 * different columns meet in one row at least.
 */
@Tag("stress")
class MatrixTest {
  private static final List<String> COLLECTORS = List.of("G1", "Z", "Parallel", "Serial");
  private static final List<Integer> THREADS = List.of(1, 2, 4);
  private static final List<String> ASSERTIONS = List.of("-ea", "-da");
  private static final List<String> HOOK = List.of("timers,sockets,names", "off");
  private static final List<String> SWITCH = List.of("weft", "jdk");

  record Row(String collector, int threads, String assertions, String hook, String switching) {
    List<Object> settings() {
      return List.of(collector, threads, assertions, "hook " + hook, "switch " + switching);
    }
  }

  static Stream<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (int c = 0; c < COLLECTORS.size(); c++) {
      for (int t = 0; t < THREADS.size(); t++) {
        rows.add(
            new Row(
                COLLECTORS.get(c),
                THREADS.get(t),
                ASSERTIONS.get((c + t) % 2),
                HOOK.get((c / 2 + t) % 2),
                SWITCH.get((c + c / 2 + t / 2) % 2)));
      }
    }
    return rows.stream();
  }

  @Test
  void everyTwoSettingsMeet() {
    Set<Set<Object>> met = new HashSet<>();
    Set<Set<Object>> wanted = new HashSet<>();
    List<List<?>> columns =
        List.of(
            COLLECTORS,
            THREADS,
            ASSERTIONS,
            HOOK.stream().map(on -> "hook " + on).toList(),
            SWITCH.stream().map(how -> "switch " + how).toList());
    for (int i = 0; i < columns.size(); i++) {
      for (int j = 0; j < i; j++) {
        for (Object one : columns.get(i)) {
          columns.get(j).forEach(other -> wanted.add(Set.of(one, other)));
        }
        int first = i;
        int second = j;
        rows().map(Row::settings).forEach(row -> met.add(Set.of(row.get(first), row.get(second))));
      }
    }
    assertThat(met).isEqualTo(wanted);
  }

  @ParameterizedTest
  @MethodSource("rows")
  @Timeout(120)
  @Feature({"S20", "X1", "K1", "N1", "H9"})
  void nothingIsLostInThisJvm(Row row) throws Exception {
    Path flags = Path.of(System.getProperty("weft.root"), "weft.args");
    Command.Result result =
        Command.java(
                "@" + flags,
                "-XX:+Use" + row.collector + "GC",
                row.assertions,
                "-Xmx512m",
                "-Dweft.stress.threads=" + row.threads,
                "-Dweft.hook=" + row.hook,
                "-Dweft.switch=" + row.switching,
                Stress.class.getName(),
                "scopes=200",
                "channels=20000",
                "worlds=10",
                "sockets=400",
                "hook=300")
            .run();
    assertThat(result.exitStatus()).as(result.stdout() + result.stderr()).isZero();
    assertThat(result.stdout())
        .contains(
            Stream.of("scopes", "channels", "worlds", "sockets", "hook")
                .map(run -> run + ": nothing found")
                .toList());
    assertThat(result.stderr()).doesNotContain("fault of Weft");
  }
}
