package dev.weft.internal;

import dev.weft.time.Timers;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lets schedulers create {@link Timers}, which users cannot. */
public final class TimersAccess {
  private static @Nullable Function<TimerHost, Timers> factory;

  private TimersAccess() {}

  /** Called by {@link Timers} when it is initialized. */
  public static void setFactory(Function<TimerHost, Timers> newFactory) {
    factory = newFactory;
  }

  /** Creates the timers of a scheduler. */
  public static Timers newTimers(TimerHost host) {
    try {
      MethodHandles.lookup().ensureInitialized(Timers.class);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    return Objects.requireNonNull(factory).apply(host);
  }
}
