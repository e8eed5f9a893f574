package dev.weft.bench.run;

import java.util.stream.Stream;

/** The JVM flag that leaves the hook out: blocking calls of fibers wait where the JDK waits. */
public final class HookOff {
  private static final String FLAG = "-Dweft.hook=off";

  private HookOff() {}

  /** Returns it and these flags. */
  public static String[] and(String... flags) {
    return Stream.concat(Stream.of(FLAG), Stream.of(flags)).toArray(String[]::new);
  }
}
