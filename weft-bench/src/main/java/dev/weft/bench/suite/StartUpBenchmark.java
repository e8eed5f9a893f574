package dev.weft.bench.suite;

import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Measurement;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;

/** How long a program that only says hello takes from its start to its end, as a process. */
public final class StartUpBenchmark {
  private static final Metric TIME = new Metric("whole process", "ms", Metric.Better.LESS);
  private static final Metric BEYOND =
      new Metric("more than java -jar right before", "ms", Metric.Better.LESS);

  private static final String WEFT = "./weft run";
  private static final int LIMIT_SECONDS = 60;

  private StartUpBenchmark() {}

  static Comparison comparison() {
    return Comparison.named("start-up", "What ./weft run adds to the start of an unmodified jar.")
        .metrics(TIME, BEYOND)
        .contestant(WEFT, new Starts(List.of("run")))
        .contestant("./weft run --no-hook", new Starts(List.of("run", "--no-hook")))
        .contestant("./weft run --main-thread", new Starts(List.of("run", "--main-thread")))
        .contestant("java -jar", new Starts(List.of()))
        .bar(Bar.within(BEYOND, 150, WEFT))
        .build();
  }

  /** What is started. */
  static final class Hello {
    private Hello() {}

    static void main() {
      System.out.println("hello");
    }
  }

  /**
   * Starts {@code java -jar} and then {@code ./weft} with these words, again and again.
   *
   * @param words without any there is only {@code java -jar}
   */
  private record Starts(List<String> words) implements Measurement {
    @Override
    public Outcome measure(Trial trial) throws InterruptedException {
      try {
        Path jar = Files.createTempFile("weft-hello-", ".jar");
        try {
          writeJar(jar);
          return measure(trial, jar);
        } finally {
          Files.delete(jar);
        }
      } catch (IOException e) {
        throw new UncheckedIOException("cannot start a process", e);
      }
    }

    private Outcome measure(Trial trial, Path jar) throws IOException, InterruptedException {
      List<String> java =
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-jar",
              jar.toString());
      List<String> weft = new ArrayList<>(words);
      weft.addFirst(trial.measured().root().resolve("weft").toString());
      weft.addLast(jar.toString());
      List<Double> times = new ArrayList<>();
      List<Double> beyond = new ArrayList<>();
      // the first is not counted: the files are not in memory yet, and ./weft may have to build
      for (int i = 0; i <= (trial.pace().quick() ? 5 : 15); i++) {
        double ofJava = millis(java, trial);
        double time = words.isEmpty() ? ofJava : millis(weft, trial);
        if (i > 0) {
          times.add(time);
          beyond.add(time - ofJava);
        }
      }
      return new Outcome.Readings(
          words.isEmpty()
              ? Map.of(TIME.name(), times)
              : Map.of(TIME.name(), times, BEYOND.name(), beyond));
    }

    private static double millis(List<String> command, Trial trial)
        throws IOException, InterruptedException {
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      builder.environment().remove("JDK_JAVA_OPTIONS");
      builder.environment().remove("JAVA_TOOL_OPTIONS");
      long start = System.nanoTime();
      Process process = builder.start();
      try {
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        double millis = (System.nanoTime() - start) / 1e6;
        trial.log().println(String.join(" ", command) + ": " + millis + " ms, " + said.strip());
        if (!said.strip().endsWith("hello")) {
          throw new IOException(command + " said " + said);
        }
        return millis;
      } finally {
        process.destroyForcibly();
      }
    }

    private static void writeJar(Path jar) throws IOException {
      Manifest manifest = new Manifest();
      manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
      manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Hello.class.getName());
      String file = Hello.class.getName().replace('.', '/') + ".class";
      try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest);
          InputStream in = StartUpBenchmark.class.getClassLoader().getResourceAsStream(file)) {
        out.putNextEntry(new ZipEntry(file));
        Objects.requireNonNull(in).transferTo(out);
        out.closeEntry();
      }
    }
  }
}
