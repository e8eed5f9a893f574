package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code ./weft sim} does with programs, good and bad. */
@Feature("V8")
class SimTest extends ProgramsTest {
  private static final Path EXAMPLES = Script.ROOT.resolve("examples/sim");

  private static final String COUNTER =
      """
      class Counter {
        int value;
        void main(String[] args) throws Exception {
          Thread other = new Thread(() -> value++, "other");
          other.start();
          value++;
          other.join();
          System.out.println("counted " + value);
          if (value != 2) throw new AssertionError(args.length + " arguments, " + value);
        }
      }
      """;

  @Test
  void theExampleFailsAsItsOutputSays() throws Exception {
    Command.Result result = Script.weft("sim", "Payments.java").in(EXAMPLES).run();

    assertThat(result.stdout()).isEqualTo(Files.readString(EXAMPLES.resolve("Payments.out")));
    assertThat(result.stderr()).isEmpty();
    assertThat(result.exitStatus()).isEqualTo(1);
  }

  @Test
  void aFailureIsReplayedByTheCommandsOfItsReport() throws Exception {
    programs.write("Counter.java", COUNTER);

    Command.Result found = programs.sim("Counter.java", "--seeds=500", "--", "a b").run();

    assertThat(found.exitStatus()).as(found.stderr()).isEqualTo(1);
    assertThat(found.stdout())
        .startsWith("Counter fails with seed ")
        .contains(": 1 arguments, 1\n", "before it writes Counter.value", "Counter.java:6")
        .endsWith("  the shrunk run printed:\n    counted 1\n");
    for (String before : new String[] {"  replay: ./weft sim ", "  the shrunk run: ./weft sim "}) {
      String command =
          found.stdout().lines().filter(line -> line.startsWith(before)).findFirst().orElseThrow();
      Command.Result again =
          Command.of("bash", "-c", command.replaceFirst("^.*: \\./weft", weft()))
              .in(folder)
              .with("XDG_CACHE_HOME", Script.CACHE.toString())
              .with("JAVA_HOME", System.getProperty("java.home"))
              .run();
      assertThat(again.exitStatus()).as(again.stderr()).isEqualTo(1);
      assertThat(interleaving(again.stdout())).isEqualTo(interleaving(found.stdout())).isNotEmpty();
    }
  }

  private static String weft() {
    return "'" + Script.ROOT.resolve("weft") + "'";
  }

  /** Returns the numbered lines of a report. */
  private static String interleaving(String report) {
    return String.join("\n", report.lines().filter(line -> line.matches(" +\\d+ .*")).toList());
  }

  @Test
  void aCorrectProgramPassesAndPrintsNothingOfItsOwn() throws Exception {
    programs.write(
        "Counter.java",
        COUNTER
            .replace("value++;", "synchronized (this) { value++; }")
            .replace("() -> value++", "() -> { synchronized (this) { value++; } }"));

    Command.Result result = programs.sim("--seeds", "300", "Counter.java").run();

    assertThat(result.stdout())
        .matches("Counter passes with 300 seeds, [1-9]\\d* distinct schedules\n");
    assertThat(result.stderr()).isEmpty();
    assertThat(result.exitStatus()).isZero();
    assertThat(programs.sim("--seeds", "1", "--verbose", "Counter.java").run().stdout())
        .contains("--- seed 1\ncounted 2\n");
  }

  @Test
  void withoutPointsInTheProgramALostUpdateIsNotFound() throws Exception {
    programs.write("Counter.java", COUNTER);

    for (String[] blind : new String[][] {{"--points", "com.shop"}, {"--strategy", "blocking"}}) {
      assertThat(programs.sim("Counter.java", "--seeds", "200", blind[0], blind[1]).run().stdout())
          .isEqualTo("Counter passes with 200 seeds, 1 distinct schedule\n");
    }
    assertThat(programs.sim("Counter.java", "--strategy", "pct:2").run().exitStatus()).isEqualTo(1);
  }

  @Test
  void eachRunHasItsOwnStaticFields() throws Exception {
    programs.write(
        "Statics.java",
        """
        class Statics {
          static int runs;
          static final java.util.List<String> SEEN = new java.util.ArrayList<>();
          public static void main(String[] args) {
            SEEN.add("run");
            if (++runs > 1 || SEEN.size() > 1) throw new AssertionError("state of another run");
          }
        }
        """);

    assertThat(programs.sim("Statics.java", "--seeds", "20").run())
        .isEqualTo(
            new Command.Result(0, "Statics passes with 20 seeds, 1 distinct schedule\n", ""));
  }

  @Test
  void aRunEndsAsAProcessDoes() throws Exception {
    programs.write(
        "Late.java",
        """
        class Late {
          public static void main(String[] args) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
            Thread late = new Thread(() -> end(args), "late");
            late.start();
            Thread daemon = new Thread(() -> pause(30), "daemon");
            daemon.setDaemon(true);
            daemon.start();
          }
          static void end(String[] args) {
            pause(10);
            System.out.println("late at " + System.nanoTime() / 86_400_000_000_000L);
            if (args.length > 0) System.exit(Integer.parseInt(args[0]));
            throw new IllegalStateException("no exit");
          }
          static void pause(int days) {
            try {
              Thread.sleep(java.time.Duration.ofDays(days));
            } catch (InterruptedException e) {
              System.out.println("interrupted");
            }
          }
        }
        """);

    Command.Result thrown = programs.sim("Late.java").run();
    assertThat(thrown.stdout())
        .startsWith("Late fails with seed 0: java.lang.IllegalStateException: no exit\n")
        .endsWith("  the shrunk run printed:\n    late at 10\n");
    Command.Result exit = programs.sim("Late.java", "3").run();
    assertThat(exit.exitStatus()).isEqualTo(1);
    assertThat(exit.stdout())
        .startsWith("Late fails with seed 0: the program has called System.exit(3)\n")
        .containsPattern("late +calls System.exit +Late.java:13");
    Command.Result good = programs.sim("Late.java", "--seeds", "5", "0").run();
    assertThat(good.stdout()).matches("Late passes with 5 seeds, \\d distinct schedules\n");
    assertThat(good.exitStatus()).isZero();
  }

  @Test
  void aFailureIsWrittenAsAPageAndAsJson() throws Exception {
    programs.compile(
        "Fails", "public class Fails { static void main() { throw new Error(\"<&>\"); } }");
    Attributes attributes = new Attributes();
    attributes.put(Attributes.Name.MAIN_CLASS, "Fails");
    programs.jar("fails.jar", attributes, folder.resolve("Fails.class"));

    for (String[] program : new String[][] {{"fails.jar"}, {"-cp", ".", "Fails"}}) {
      String[] words = new String[program.length + 4];
      System.arraycopy(program, 0, words, 4, program.length);
      System.arraycopy(new String[] {"--html", "a.html", "--json", "a.json"}, 0, words, 0, 4);
      assertThat(programs.sim(words).run().exitStatus()).isEqualTo(1);
      assertThat(Files.readString(folder.resolve("a.html"))).contains("&lt;&amp;&gt;");
      assertThat(Files.readString(folder.resolve("a.json"))).contains("\"seed\": 0");
      Files.delete(folder.resolve("a.html"));
    }
  }

  @Test
  void aProgramThatCannotBeSimulatedGetsOneLine() throws Exception {
    programs.write(
        "Parallel.java",
        "void main() { java.util.stream.IntStream.range(0, 9).parallel().forEach(i -> {}); }");

    assertThat(programs.sim("Parallel.java").run())
        .isEqualTo(
            failure(
                1,
                "cannot simulate a ForkJoinPool, which parallel streams use too,"
                    + " used at Parallel.java:1"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --seeds,0,Main            | seeds must be a number from 1 to 1000000000, not 0
          --points,a;;b,Main        | points must be packages or classes, as com.shop,com.bank, not a,,b
          --strategy,best,Main      | strategy must be portfolio, walk, pct, pct:DEPTH, pos or blocking, not best
          --strategy,pct:0,Main     | the depth of pct must be 1 or more, not 0
          --replay,seed:x,Main      | cannot replay: 'seed:x' must look like seed:42
          --replay,8,Main           | cannot replay: '8' is no schedule: it must look like schedule:42/3>1,17>0
          Missing.java,--seeds,3    | no such file: Missing.java
          Missing                   | class Missing not found on the class path .
          """)
  void wrongUsageIsOneLineAndStatus2(String arguments, String message) throws Exception {
    String[] words = arguments.replace(";;", ";").split(",", -1);
    for (int i = 0; i < words.length; i++) {
      words[i] = words[i].replace(";", ",,");
    }
    assertThat(programs.sim(words).run()).isEqualTo(failure(2, message));
  }

  @Test
  void unknownOptionsAndNothingToSimulateAreUsage() throws Exception {
    assertThat(programs.sim("--fast", "Main").run().stderr())
        .startsWith("weft: unknown option --fast; usage: ./weft sim ")
        .hasLineCount(1);
    assertThat(programs.sim().run().stderr())
        .startsWith("weft: nothing to simulate; usage: ./weft sim ")
        .hasLineCount(1);
  }

  private static Command.Result failure(int status, String message) {
    return new Command.Result(status, "", "weft: " + message + "\n");
  }
}
