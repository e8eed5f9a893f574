package dev.weft.bench.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.bench.Workspace;
import dev.weft.testkit.Feature;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The load in a small form: what it proves holds, and what it measures is judged and kept. */
class ImLoadTest {
  @TempDir Path root;

  /** The server of this build, on the class path of this test. */
  private static ImNode.Program server() {
    Path flags = Path.of(System.getProperty("weft.root"), "weft.args");
    String classPath = System.getProperty("java.class.path");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            classPath,
            "@" + flags,
            "dev.weft.im.ImMain");
    return new ImNode.Program(
        command, Stream.of(classPath.split(File.pathSeparator, -1)).map(Path::of).toList());
  }

  @Test
  @Feature("A4")
  void nothingIsLostUnderAttacks() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream toOut = new PrintStream(out, true, StandardCharsets.UTF_8);
    PrintStream toErr = new PrintStream(err, true, StandardCharsets.UTF_8);
    int status =
        ImLoad.run(
            new Workspace(root),
            server(),
            toOut,
            toErr,
            "--clients=200",
            "--rooms=10",
            "--deliveries=2000",
            "--seconds=1");
    String report = out.toString(StandardCharsets.UTF_8);
    assertThat(status).as(report + err.toString(StandardCharsets.UTF_8)).isZero();
    assertThat(report)
        .contains(
            "one node: 200 clients, 10 rooms, 2,000 deliveries a second",
            "live heap after a collection: ",
            "99 % in ms, 150 wrong logins",
            "99 % in ms, 800 slow lines",
            "99 % in ms, 800 slow requests",
            "resident MB, 50 history bombs",
            "each member heard each message once, in one order")
        .containsPattern("deliveries/s, quiet again +[0-9,.]+ +≥ 1,900.0 +(met|MISSED)")
        .containsPattern("[1-9][0-9]* messages acknowledged")
        .doesNotContain("FAULT");
    String json = Files.readString(root.resolve("target/bench/im-load.json"));
    assertThat(json).contains("\"name\": \"im-load\"", "\"faults\": []", "\"atMost\": 12288.0");
    assertThat(root.resolve("target/bench/im-load.svg")).content().contains("history bombs");
    assertThat(ImLoad.run(new Workspace(root), server(), toOut, toErr, "--page")).isZero();
    assertThat(root.resolve("docs/numbers/im-load.json")).content().isEqualTo(json);
    assertThat(root.resolve("docs/img/im-load.svg")).exists();
  }
}
