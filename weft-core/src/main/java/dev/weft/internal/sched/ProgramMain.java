package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.FiberOptions;
import dev.weft.internal.Uninterrupted;
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

  /** Runs a body that does not throw. */
  public static void run(int threads, Body main) {
    SchedulerCore scheduler = SchedulerCore.of(SchedulerConfig.ofProgram(threads));
    FiberCore<Void> fiber =
        scheduler.begin(
            FiberOptions.named("main"),
            (Body)
                () -> {
                  ChildrenOfMain.begin();
                  main.run();
                });
    scheduler.programMain = fiber;
    scheduler.start();
    Uninterrupted.await(fiber::join);
    for (int i = 0; i < 100 && !scheduler.live.isZero(); i++) {
      Thread.yield(); // the worker is about to leave main's last slice, as a rule the last fiber's
    }
    scheduler.awaitAllButGuests();
    ChildrenOfMain.overlooked().forEach(thread -> Uninterrupted.await(thread::join));
  }
}
