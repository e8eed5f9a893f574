package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.internal.JvmThreads;
import dev.weft.internal.Uninterrupted;
import dev.weft.internal.jdk.RequiredFlags;
import dev.weft.internal.switching.ChildrenOfMain;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

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
  /** How often awaitAllButGuests looks for the end of the last timers and I/O events. */
  private static final long LOOK_AGAIN_NANOS = 5_000_000;

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
    awaitAllButGuests(scheduler);
    ChildrenOfMain.overlooked().forEach(thread -> Uninterrupted.await(thread::join));
  }

  /**
   * Waits until only guests are left: they are the program's virtual threads, and the end of a
   * program does not wait for virtual threads. The workers go on serving them.
   */
  private static void awaitAllButGuests(SchedulerCore scheduler) {
    LiveCount live = scheduler.live;
    while (true) {
      long ended = live.ended(); // read first: a fiber that the sums below miss counts as live
      List<FiberCore<?>> all = live.begun() == ended ? List.of() : scheduler.fibers().toList();
      List<FiberCore<?>> own = all.stream().filter(fiber -> !fiber.isGuest()).toList();
      if (own.isEmpty() && live.begun() - ended <= all.size() && scheduler.awaitsNothing()) {
        scheduler.unobserved.reportAll();
        return;
      }
      boolean allDone = own.stream().allMatch(FiberCore::isDone); // their threads have not ended
      own.forEach(FiberCore::awaitUnobserved);
      if (allDone) {
        LockSupport.parkNanos(scheduler, LOOK_AGAIN_NANOS);
      }
    }
  }
}
