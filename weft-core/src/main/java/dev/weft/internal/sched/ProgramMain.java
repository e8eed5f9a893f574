package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.internal.JvmThreads;
import dev.weft.internal.Uninterrupted;
import dev.weft.internal.jdk.RequiredFlags;
import dev.weft.internal.switching.ChildrenOfMain;

/**
 * Runs the main() of a whole program as a fiber, for {@code ./weft run}: decision 0071.
 *
 * <pre>
 *   main thread   ──┬─ waits ─────────────────────────┬─ ends; the JVM waits for non-daemon threads
 *   daemon workers  └─ main ─┬─ … ── returns           │
 *                            ├─ fibers (Weft.go) ──────┘ waited for
 *                            └─ guests (virtual threads) …      served until the process ends
 * </pre>
 *
 * <p>The calling thread is not a worker: guests must be served after it has ended too, because a
 * plain thread of the program may wait for one.
 */
public final class ProgramMain {
  private ProgramMain() {}

  /**
   * Checks that Weft can run on this JVM.
   *
   * @throws ExceptionInInitializerError if it cannot; the message says why
   */
  public static void checkJvm() {
    RequiredFlags.check();
  }

  /**
   * Has the virtual threads of a program run on so many threads of Weft, if they are to. Its main
   * stays on the calling thread, which may start virtual threads when this has returned.
   */
  public static void hostVirtualThreads(int threads) {
    if (JvmThreads.ALL) {
      JvmHost.chooseThreads(threads);
      Scheduler.builder(); // prepares the JDK
      Surroundings.get().awaitPreparation();
    }
  }

  /** Runs a body that does not throw. */
  public static void run(int threads, Body main) {
    SchedulerCore scheduler = SchedulerCore.of(SchedulerConfig.ofProgram(threads));
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    FiberCore<Void> fiber =
        scheduler.begin(
            FiberOptions.named("main"),
            (Body)
                () -> {
                  ChildrenOfMain.begin(group);
                  main.run();
                });
    scheduler.programMain = fiber;
    JvmHost.choose(scheduler);
    scheduler.start();
    Uninterrupted.await(fiber::join);
    for (int i = 0; i < 100 && !scheduler.live.isZero(); i++) {
      Thread.yield(); // the worker is about to leave main's last slice, as a rule the last fiber's
    }
    scheduler.awaitAllButGuests();
    ChildrenOfMain.overlooked().forEach(thread -> Uninterrupted.await(thread::join));
  }
}
