package dev.weft.bench.run;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** The main class of the JVM that {@link ProbeProcess} starts. */
final class ProbeMain {
  /** Starts each line that carries a number: {@code @reading metric=value}. */
  static final String READING = "@reading ";

  /** Starts the line that says why there can be no number. */
  static final String IMPOSSIBLE = "@impossible ";

  /** The line that ends an answer. */
  static final String DONE = "@done";

  /** The line on its input that asks for a window. */
  static final String WINDOW = "window";

  private ProbeMain() {}

  /** Takes the probe's class name, the parameter's value, and whether to be quick. */
  public static void main(String[] args) throws Exception {
    Object probe = Class.forName(args[0]).getDeclaredConstructor().newInstance();
    String parameter = args[1];
    boolean quick = Boolean.parseBoolean(args[2]);
    if (probe instanceof WindowProbe windowProbe) {
      serve(windowProbe, parameter, quick);
    } else {
      Lifeline.hold(_ -> {});
      answer(() -> ((Probe) probe).measure(parameter, quick));
      System.exit(0); // what the probe left running does not matter any more
    }
  }

  private static void serve(WindowProbe probe, String parameter, boolean quick)
      throws InterruptedException {
    AtomicReference<WindowProbe.Windows> windows = new AtomicReference<>();
    Lifeline.hold(_ -> answer(() -> windows.get().next()));
    answer(
        () -> {
          windows.set(probe.prepare(parameter, quick));
          return Map.of(); // only ready
        });
    Thread.currentThread().join(); // the lifeline ends it
  }

  @FunctionalInterface
  private interface Work {
    Map<String, Double> run() throws Exception;
  }

  private static void answer(Work work) {
    try {
      work.run().forEach((metric, value) -> System.out.println(READING + metric + "=" + value));
      System.out.println(DONE);
    } catch (Probe.Impossible e) {
      System.out.println(IMPOSSIBLE + e.getMessage());
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
  }
}
