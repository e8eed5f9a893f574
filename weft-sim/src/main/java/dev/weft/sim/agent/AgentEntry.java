package dev.weft.sim.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/** Where the JVM hands over its {@link Instrumentation}. The system class loader loads it. */
public final class AgentEntry {
  /** The JVM's instrumentation, once the agent has been loaded. */
  public static volatile @Nullable Instrumentation instrumentation;

  private AgentEntry() {}

  /** Called by the JVM when the agent is loaded into a running JVM. */
  public static void agentmain(@Nullable String arguments, Instrumentation given) {
    instrumentation = given;
  }

  /** Called by the JVM before main, with {@code -javaagent}. */
  public static void premain(@Nullable String arguments, Instrumentation given) {
    instrumentation = given;
  }
}
