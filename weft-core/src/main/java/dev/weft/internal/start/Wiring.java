package dev.weft.internal.start;

import dev.weft.FiberDump;
import dev.weft.GroupedDump;
import dev.weft.SchedulerStats;
import dev.weft.internal.HookFamilies;
import dev.weft.internal.JvmThreads;
import dev.weft.internal.Log;
import dev.weft.internal.attach.Attach;
import dev.weft.internal.hook.HookInstallation;
import dev.weft.internal.hook.JdkPollers;
import dev.weft.internal.jdk.ProcessEnd;
import dev.weft.internal.jdk.UnsupportedJdk;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.sched.Surroundings;
import dev.weft.internal.switching.Mounting;
import dev.weft.internal.watch.DeadlockReport;
import dev.weft.internal.watch.Dumps;
import dev.weft.internal.watch.Stats;
import dev.weft.internal.watch.Watchdog;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connects the layers: implements the services that schedulers need of the packages above them.
 * Called once, when the first scheduler is built.
 */
public final class Wiring extends Surroundings {
  private Wiring() {}

  /** Connects the layers and starts a thread that prepares the JDK. */
  public static void connect() {
    set(new Wiring());
    JdkPollers.begin(Wiring::prepareJdk);
    ProcessEnd.prepare(Watchdog::wakeAllForTheEnd);
    Watchdog.atEachLook(Attach::look);
  }

  /** Checks the switching of threads and installs the hook in the JDK. */
  private static void prepareJdk() {
    try {
      Mounting.check();
    } catch (UnsupportedJdk e) {
      Log.logger()
          .log(
              Level.WARNING,
              "fibers are switched by the JDK itself, only slower: JDK %s is not as expected: %s"
                  .formatted(Runtime.version(), e.getMessage()));
    }
    HookInstallation.install();
  }

  @Override
  public void awaitPreparation() {
    JdkPollers.await();
  }

  @Override
  public void building() {
    HookFamilies.check();
    JvmThreads.check();
  }

  @Override
  public void started(SchedulerCore scheduler) {
    Watchdog.watch(scheduler);
    ConsoleStarter.startIfAsked();
  }

  @Override
  public void stopped(SchedulerCore scheduler) {
    Watchdog.forget(scheduler);
  }

  @Override
  public @Nullable String standstill(SchedulerCore scheduler) {
    return DeadlockReport.ofStandstill(scheduler);
  }

  @Override
  public SchedulerStats stats(SchedulerCore scheduler) {
    return Stats.of(scheduler);
  }

  @Override
  public FiberDump dump(SchedulerCore scheduler) {
    return Dumps.of(scheduler);
  }

  @Override
  public GroupedDump groupedDump(SchedulerCore scheduler) {
    return Dumps.grouped(scheduler);
  }

  @Override
  public List<FiberDump.Entry> leaks(SchedulerCore scheduler) {
    return Dumps.leaksOf(scheduler);
  }
}
