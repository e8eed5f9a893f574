package dev.weft;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.hook.HookInstallation;
import dev.weft.internal.sched.FiberCore;

/**
 * What makes the blocking calls of the JDK wait as Weft's own do: by the poller and the timers of
 * the fiber's worker. It is in place as soon as a scheduler starts. With {@code -Dweft.hook=off},
 * or only some of {@code timers,sockets,names}, the rest is left to the JDK's own threads, which is
 * right too, only slower.
 *
 * {@snippet class="dev.weft.HookSnippetsTest" region="disable"}
 */
public final class Hook {
  /** What can be hooked, or not. */
  public enum Family {
    /** {@code Thread.sleep}, timed parks, timed waits for locks, queues and monitors. */
    TIMERS,
    /** Sockets and channels of {@code java.net} and {@code java.nio} in blocking mode. */
    SOCKETS,
    /**
     * Name look-up by {@code InetAddress}, which moves to a helper thread. If the program has an
     * {@code InetAddressResolverProvider} of its own, the JDK uses the one it finds first.
     */
    NAMES
  }

  private Hook() {}

  /**
   * Undoes one {@link #disable}. What a {@link Coroutine} disables it has to enable itself; if it
   * ends before, one call of the fiber's makes up for it.
   *
   * @throws IllegalStateException if the hook is not disabled in this fiber, or in a coroutine, if
   *     it was disabled outside
   */
  public static void enable() {
    FiberCore<?> self = FiberCore.currentOrNull();
    if (self != null) {
      self.enableHook();
    }
  }

  /**
   * Makes what blocks in this fiber block its thread, as if there were no hook and no fibers, until
   * as many {@link #enable} have been called. Outside fibers it does nothing.
   */
  public static void disable() {
    FiberCore<?> self = FiberCore.currentOrNull();
    if (self != null) {
      self.disableHook();
    }
  }

  /** Returns whether this is a fiber and has not {@linkplain #disable disabled} the hook. */
  public static boolean isEnabled() {
    FiberCore<?> self = FiberCore.currentOrNull();
    return self != null && self.isHookEnabled();
  }

  /**
   * Returns whether the hook is in place: timers, sockets or both. False before the first scheduler
   * starts.
   */
  public static boolean isInstalled() {
    return isInstalled(Family.TIMERS) || isInstalled(Family.SOCKETS);
  }

  /** Returns whether this family is in place. */
  public static boolean isInstalled(Family family) {
    return switch (family) {
      case TIMERS -> HookInstallation.hasTimers();
      case SOCKETS -> HookInstallation.hasSockets();
      case NAMES -> HookInstallation.hasNames();
    };
  }

  /**
   * Switches a family on or off, for all fibers, from their next blocking call on. One that is not
   * in place stays off.
   */
  public static void set(Family family, boolean on) {
    switch (family) {
      case TIMERS -> HookFamilies.timers = on;
      case SOCKETS -> HookFamilies.sockets = on;
      case NAMES -> HookFamilies.names = on;
    }
  }
}
