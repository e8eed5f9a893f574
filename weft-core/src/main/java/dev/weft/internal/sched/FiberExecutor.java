package dev.weft.internal.sched;

import dev.weft.internal.switching.VirtualThreads;
import java.util.concurrent.Executor;

/**
 * The fiber as its virtual thread sees it: the task that it runs and the executor of its slices.
 *
 * <p>A virtual thread that is started inside a fiber inherits the fiber's executor. So the first
 * slice of such a guest comes to its host's executor; that gives the guest an executor of its own,
 * which gets all further slices.
 */
final class FiberExecutor implements Executor, Runnable {
  private final FiberCore<?> fiber;

  FiberExecutor(FiberCore<?> fiber) {
    this.fiber = fiber;
  }

  FiberCore<?> fiber() {
    return fiber;
  }

  @Override
  public void run() {
    Slice.runBody(fiber);
  }

  /**
   * Called by {@code VirtualThread.submitRunContinuation} whenever the thread can go on, on any
   * thread. Must not block.
   */
  @Override
  public void execute(Runnable slice) {
    if (fiber.isSlice(slice)) {
      fiber.becomeReady();
    } else if (!fiber.takeFirstSlice(slice)) {
      beginGuest(slice);
    }
  }

  private void beginGuest(Runnable slice) {
    FiberCore<?> starter = FiberCore.currentOrNull(); // this fiber, or another guest of it
    Thread thread = VirtualThreads.threadOf(slice);
    FiberCore<?> guest = new FiberCore<>(starter != null ? starter : fiber, thread, slice);
    VirtualThreads.setExecutor(thread, new FiberExecutor(guest));
    guest.core().countBegun(null);
    guest.becomeReady();
  }
}
