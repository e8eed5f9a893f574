package dev.weft.bench.run;

import java.util.Map;

/** The main class of the JVM that a {@link ForkedProbe} starts. */
final class ProbeMain {
  /** Starts each line that carries a number: {@code @reading metric=value}. */
  static final String READING = "@reading ";

  /** Starts the line that says why there can be no number. */
  static final String IMPOSSIBLE = "@impossible ";

  private ProbeMain() {}

  /** Takes the probe's class name, the parameter's value, and whether to be quick. */
  public static void main(String[] args) throws Exception {
    Lifeline.hold(_ -> {});
    Probe probe =
        Class.forName(args[0]).asSubclass(Probe.class).getDeclaredConstructor().newInstance();
    Map<String, Double> numbers = Map.of();
    try {
      numbers = probe.measure(args[1], Boolean.parseBoolean(args[2]));
    } catch (Probe.Impossible e) {
      System.out.println(IMPOSSIBLE + e.getMessage());
    }
    numbers.forEach((metric, value) -> System.out.println(READING + metric + "=" + value));
    // what the probe left running does not matter any more
    System.exit(0);
  }
}
