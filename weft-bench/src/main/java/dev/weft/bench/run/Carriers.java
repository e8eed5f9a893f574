package dev.weft.bench.run;

/** JVM flags that say how many threads the JDK's own scheduler runs virtual threads on. */
public final class Carriers {
  private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";
  private static final String MOST = "jdk.virtualThreadScheduler.maxPoolSize";

  private Carriers() {}

  /** Returns the flags for exactly so many. */
  public static String[] of(int threads) {
    return new String[] {"-D" + PARALLELISM + "=" + threads, "-D" + MOST + "=" + threads};
  }

  /** Returns how many this JVM has. */
  public static int here() {
    return Integer.getInteger(PARALLELISM, Runtime.getRuntime().availableProcessors());
  }
}
