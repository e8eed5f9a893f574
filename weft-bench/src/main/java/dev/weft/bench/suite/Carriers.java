package dev.weft.bench.suite;

/** JVM flags that say how many threads the JDK's own scheduler runs virtual threads on. */
final class Carriers {
  /** One thread. */
  static final String[] ONE = flags(1);

  /** Two threads. */
  static final String[] TWO = flags(2);

  private Carriers() {}

  private static String[] flags(int threads) {
    return new String[] {
      "-Djdk.virtualThreadScheduler.parallelism=" + threads,
      "-Djdk.virtualThreadScheduler.maxPoolSize=" + threads
    };
  }
}
