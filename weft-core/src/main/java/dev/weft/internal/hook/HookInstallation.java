package dev.weft.internal.hook;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.JvmThreads;
import dev.weft.internal.Log;
import dev.weft.internal.jdk.JdkInternals;
import dev.weft.internal.jdk.JdkInternals.Part;
import dev.weft.internal.jdk.UnsupportedJdk;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.switching.CarrierThread;
import java.lang.System.Logger.Level;

/**
 * Installs the hook in the JDK, part by part, before the first fiber runs. A part that does not fit
 * this JDK is left out, with one warning that names it.
 */
public final class HookInstallation {
  private static volatile boolean timers;
  private static volatile boolean sockets;
  private static volatile boolean names;

  private HookInstallation() {}

  /** Installs all parts; called once. */
  public static void install() {
    if (JvmThreads.ALL) {
      installThreads();
    }
    if (!HookFamilies.WANTED) {
      return;
    }
    names = true; // BlockingNames, a service provider that the JDK itself finds
    timers = fits(Part.TIMERS, "timers", () -> TimerHook.install(HookedTimer::schedule));
    sockets = Poller.isEpoll() && fits(Part.SOCKETS, "sockets", HookInstallation::installSockets);
    if (sockets) {
      fits(Part.DISPATCHER, "edge-triggered sockets", HookInstallation::installDispatcher);
    }
    fits(Part.CARRIER, "queues that do not spin", CarrierThread::check);
  }

  private static void installThreads() {
    try {
      JdkInternals.check(Part.THREADS);
      ThreadHook.install();
    } catch (UnsupportedJdk e) {
      Log.logger()
          .log(
              Level.WARNING,
              "virtual threads that platform threads start run on the JDK's scheduler, not on Weft: "
                  + e.getMessage());
    }
  }

  private static void installSockets() throws UnsupportedJdk {
    PollerHook.install(HookedSockets.front(Poller.READ), HookedSockets.front(Poller.WRITE));
  }

  private static void installDispatcher() throws UnsupportedJdk {
    DispatcherHook.install(HookedSockets.calls());
  }

  private interface Installer {
    void install() throws UnsupportedJdk;
  }

  private static boolean fits(Part part, String name, Installer installer) {
    try {
      JdkInternals.check(part);
      installer.install();
      return true;
    } catch (UnsupportedJdk e) {
      Log.logger()
          .log(
              Level.WARNING,
              "the hook leaves out %s, which then work as without it, only slower: JDK %s is not as expected: %s"
                  .formatted(name, Runtime.version(), e.getMessage()));
      return false;
    }
  }

  /** Returns whether timed waits of the JDK use Weft's timers. */
  public static boolean hasTimers() {
    JdkPollers.await();
    return timers;
  }

  /** Returns whether blocking calls of sockets use Weft's pollers. */
  public static boolean hasSockets() {
    JdkPollers.await();
    return sockets;
  }

  /** Returns whether look-ups of host names run on helper threads. */
  public static boolean hasNames() {
    JdkPollers.await();
    return names;
  }
}
