package dev.weft.bench.run;

import dev.weft.Hook;
import java.util.stream.Stream;

/** The JVM flag that leaves the hook out: blocking calls of fibers wait where the JDK waits. */
public final class HookFlag {
  private static final String PROPERTY = "weft.hook";
  private static final String OFF = "off";

  private HookFlag() {}

  /** Returns the flag and these others. */
  public static String[] offAnd(String... flags) {
    return Stream.concat(Stream.of("-D" + PROPERTY + "=" + OFF), Stream.of(flags))
        .toArray(String[]::new);
  }

  /** Makes sure that the hook is as the flag says, once a scheduler has been started. */
  public static void check() {
    boolean wanted = !System.getProperty(PROPERTY, "").equals(OFF);
    if (Hook.isInstalled() != wanted) {
      throw new IllegalStateException(
          "the hook is " + (wanted ? "not " : "") + "in place: not what is to be measured");
    }
  }
}
