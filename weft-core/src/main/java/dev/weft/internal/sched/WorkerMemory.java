package dev.weft.internal.sched;

import dev.weft.internal.poller.CallMemory;
import org.jspecify.annotations.Nullable;

/**
 * The memory for system calls of the worker that runs the current fiber, and the sections in which
 * the fiber uses it.
 *
 * <p>Invariant: nothing of a worker is carried across code that may park, because the fiber may go
 * on at another worker. With assertions on, a park inside a section fails; see {@link
 * WorkerCounts#checkNoPark}.
 */
public final class WorkerMemory {
  /** The call memory of threads that are not workers. */
  private static final ThreadLocal<CallMemory> OF_OTHER_THREAD =
      ThreadLocal.withInitial(CallMemory::ofOther);

  private WorkerMemory() {}

  /**
   * Returns memory for system calls: the worker's, so that no socket needs its own. It is the
   * current thread's until that thread waits or yields.
   */
  public static CallMemory here() {
    Worker worker = workerHere();
    return worker == null ? OF_OTHER_THREAD.get() : worker.callMemory();
  }

  /**
   * Begins a section in which the memory is used, so that the caller must not wait or yield; to be
   * ended by {@link #endNoPark}. For assertions: returns false if the caller has changed workers
   * since it asked for the memory.
   */
  public static boolean beginNoPark(CallMemory memory) {
    return memory == here() && beginNoPark();
  }

  /** Begins a section in which the current fiber must not wait or yield. For assertions. */
  public static boolean beginNoPark() {
    return WorkerCounts.beginNoPark(workerHere());
  }

  /** Ends the section that beginNoPark has begun. For assertions. */
  public static boolean endNoPark() {
    return WorkerCounts.endNoPark(workerHere());
  }

  private static @Nullable Worker workerHere() {
    FiberCore<?> self = FiberCore.currentOrNull();
    return self == null ? null : self.workerHere();
  }
}
