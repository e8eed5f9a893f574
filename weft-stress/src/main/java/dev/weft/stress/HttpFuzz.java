package dev.weft.stress;

import dev.weft.http.FuzzTargets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs Jazzer, a fuzzer that looks for inputs which reach code that no input has reached before, on
 * the parsers of the web server. In a JVM of its own: Jazzer rewrites classes.
 */
final class HttpFuzz {
  private static final Pattern RUNS = Pattern.compile("stat::number_of_executed_units: (\\d+)");

  /** Inputs to begin with. */
  private static final List<String> INPUTS =
      List.of(
          "hGET /a?b=c%20d HTTP/1.1\r\nHost: a:80\r\nConnection: close, x\r\n\r\n",
          "h\r\nPOST http://a/ HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
          "hPUT * HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
          "c5\r\nhello\r\nA;x=y;z=\"a\\\"b\"\r\n0123456789\r\n0\r\n\r\n",
          "c1 ; x\r\na\r\n0;y\r\nT: v\r\nU:\r\n\r\nGET",
          // a text, a ping between two fragments, a compressed text, a longer one, a close
          "f\u0081\u0082\u0001\u0002\u0003\u0004ij",
          "f\u0002\u0081\0\0\0\0a\u0089\u0080\0\0\0\0\u0080\u0081\0\0\0\0b",
          "f\u00C1\u0087\0\0\0\0\u00F2H\u00CD\u00C9\u00C9\u0007\0",
          "f\u0081\u00FE\0\u0080\0\0\0\0" + "x".repeat(128),
          "f\u0088\u0082\0\0\0\0\u0003\u00E8",
          "epermessage-deflate; client_max_window_bits; server_max_window_bits=15",
          "ex ; y=\"a\\b\" ,, Permessage-Deflate;client_max_window_bits=\"1\\0\"");

  private HttpFuzz() {}

  /** Fuzzes for so many seconds; returns how many inputs were tried. */
  static long run(long seconds, long seed, Progress progress) throws Exception {
    return run(FuzzTargets.class, INPUTS, seconds, seed, progress);
  }

  /** Fuzzes a class that has the method of Jazzer's targets; returns how many inputs were tried. */
  static long run(Class<?> target, List<String> inputs, long seconds, long seed, Progress progress)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("weft-fuzz-");
    Path corpus = Files.createDirectory(folder.resolve("corpus"));
    for (int i = 0; i < inputs.size(); i++) {
      Files.write(corpus.resolve("input" + i), inputs.get(i).getBytes(StandardCharsets.ISO_8859_1));
    }
    Path said = folder.resolve("jazzer.txt");
    Process jvm =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+EnableDynamicAgentLoading",
                "-XX:+UseSerialGC",
                "-Xmx512m",
                "-Xshare:off", // or the JVM says that it is, because of the agent
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow", // or it says that Jazzer uses it
                "-cp",
                System.getProperty("java.class.path"),
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=" + target.getName(),
                "--instrumentation_includes=" + target.getName() + "**:dev.weft.http.**",
                "--custom_hook_includes=dev.weft.http.**",
                "--reproducer_path=" + folder,
                "-artifact_prefix=" + folder + "/",
                "-max_total_time=" + seconds,
                "-seed=" + (1 + Math.floorMod(seed, Integer.MAX_VALUE)),
                "-timeout=10",
                "-print_final_stats=1",
                corpus.toString())
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      for (long second = 0; !jvm.waitFor(1, TimeUnit.SECONDS); second++) {
        progress.at(Math.min(second, seconds));
      }
    } finally {
      jvm.destroyForcibly();
    }
    String all = Files.readString(said, StandardCharsets.ISO_8859_1);
    Matcher runs = RUNS.matcher(all);
    if (jvm.exitValue() != 0 || !runs.find()) {
      throw new AssertionError("the input is in " + folder + "; Jazzer says\n" + all);
    }
    delete(folder);
    return Long.parseLong(runs.group(1));
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(file);
      }
    }
  }
}
