package dev.weft;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.jdk.CarrierThread;
import dev.weft.internal.jdk.DispatcherHook;
import dev.weft.internal.jdk.JdkPollers;
import dev.weft.internal.jdk.Misfit;
import dev.weft.internal.jdk.PollerHook;
import dev.weft.internal.jdk.RawContinuation;
import dev.weft.internal.jdk.TimerHook;
import dev.weft.internal.poller.Poller;
import java.util.EnumSet;
import java.util.Set;

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

  // what has found its place in this JDK
  private static volatile Set<Family> installed = Set.of();

  private Hook() {}

  /**
   * Undoes one {@link #disable}. What a {@link Coroutine} disables it has to enable itself; if it
   * ends before, one call of the fiber's makes up for it.
   *
   * @throws IllegalStateException if the hook is not disabled in this fiber, or in a coroutine, if
   *     it was disabled outside
   */
  public static void enable() {
    Fiber<?> self = Fiber.currentOrNull();
    if (self != null) {
      if (self.hookDisabled == 0) {
        throw new IllegalStateException(
            "cannot enable the hook in " + self + ": it is not disabled there");
      }
      if (!RawContinuation.unpinIfPinned() && RawContinuation.current() != null) {
        throw new IllegalStateException(
            "cannot enable the hook in a coroutine of " + self + ": it was disabled outside it");
      }
      self.hookDisabled--;
    }
  }

  /**
   * Makes what blocks in this fiber block its thread, as if there were no hook and no fibers, until
   * as many {@link #enable} have been called. Outside fibers it does nothing.
   */
  public static void disable() {
    Fiber<?> self = Fiber.currentOrNull();
    if (self != null) {
      RawContinuation.pin();
      self.hookDisabled++;
    }
  }

  /** Returns whether this is a fiber and has not {@linkplain #disable disabled} the hook. */
  public static boolean isEnabled() {
    Fiber<?> self = Fiber.currentOrNull();
    return self != null && self.hookDisabled == 0;
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
    JdkPollers.await();
    return installed.contains(family);
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

  /** Puts everything in its place; called once, before fibers run. */
  static void install() {
    if (!HookFamilies.WANTED) {
      return;
    }
    EnumSet<Family> found = EnumSet.of(Family.NAMES); // by a provider that the JDK itself looks for
    if (fits("timers", () -> TimerHook.install(HookedTimer::schedule))) {
      found.add(Family.TIMERS);
    }
    if (Poller.isEpoll() && fits("sockets", Hook::installSockets)) {
      found.add(Family.SOCKETS);
      fits("sockets that the kernel is told of once", Hook::installDispatcher);
    }
    fits("queues that do not spin", CarrierThread::check);
    installed = found;
  }

  private static void installSockets() throws Misfit {
    PollerHook.install(HookedSockets.front(Poller.READ), HookedSockets.front(Poller.WRITE));
  }

  private static void installDispatcher() throws Misfit {
    DispatcherHook.install(HookedSockets.calls());
  }

  private interface Part {
    void install() throws Misfit;
  }

  private static boolean fits(String name, Part part) {
    try {
      part.install();
      return true;
    } catch (Misfit e) {
      Log.warn(
          "the hook leaves out %s, which then work as without it, only slower: JDK %s is not as expected: %s"
              .formatted(name, Runtime.version(), e.getMessage()));
      return false;
    }
  }
}
