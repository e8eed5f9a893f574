package dev.weft;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.hook.HookInstallation;
import dev.weft.internal.sched.FiberCore;

/**
 * The hook makes blocking calls of the JDK use the poller and the timers of the fiber's worker, as
 * Weft's own calls do. It is installed when the first scheduler starts. With {@code
 * -Dweft.hook=off}, or with only some of {@code timers,sockets,names}, the JDK's own threads serve
 * the rest: the results are the same, only slower.
 *
 * {@snippet class="dev.weft.HookSnippetsTest" region="disable"}
 */
public final class Hook {
  /** A part of the hook that can be switched on and off by itself. */
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
   * Undoes one {@link #disable}. A {@link Coroutine} that calls disable has to call enable itself;
   * if it ends before, its fiber has to call enable once more.
   *
   * @throws IllegalStateException if the hook is not disabled in this fiber; in a coroutine, if it
   *     was disabled outside the coroutine
   */
  public static void enable() {
    FiberCore<?> self = FiberCore.currentOrNull();
    if (self != null) {
      self.enableHook();
    }
  }

  /**
   * Pins this fiber: its blocking calls hold its worker, as if there were no hook and no fibers,
   * until {@link #enable} has been called as often. Outside fibers it does nothing.
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
   * Returns whether the hook is installed: timers, sockets or both. False before the first
   * scheduler starts.
   */
  public static boolean isInstalled() {
    return isInstalled(Family.TIMERS) || isInstalled(Family.SOCKETS);
  }

  /** Returns whether this family is installed. */
  public static boolean isInstalled(Family family) {
    return switch (family) {
      case TIMERS -> HookInstallation.hasTimers();
      case SOCKETS -> HookInstallation.hasSockets();
      case NAMES -> HookInstallation.hasNames();
    };
  }

  /**
   * Switches a family on or off, for all fibers, from their next blocking call on. A family that is
   * not installed stays off.
   */
  public static void set(Family family, boolean on) {
    switch (family) {
      case TIMERS -> HookFamilies.timers = on;
      case SOCKETS -> HookFamilies.sockets = on;
      case NAMES -> HookFamilies.names = on;
    }
  }
}
