package dev.weft.internal.sched;

import dev.weft.internal.switching.VirtualThreads;
import java.util.concurrent.Executor;

/**
 * The fiber as its virtual thread sees it: the body it runs and the executor of its slices.
 *
 * <p>A virtual thread that is started in another inherits its executor. So the first slice of such
 * a guest comes to its host's strand; all others to one of its own, which it is given then.
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

  /** Called by the JDK whenever the thread can go on. Must not block: see submitRunContinuation. */
  @Override
  public void execute(Runnable slice) {
    if (fiber.isSlice(slice)) {
      fiber.becomeReady();
    } else if (!fiber.takeFirstSlice(slice)) {
      beginGuest(slice);
    }
  }

  private void beginGuest(Runnable slice) {
    FiberCore<?> starter = FiberCore.currentOrNull(); // another guest, as a rule this fiber
    Thread thread = VirtualThreads.threadOf(slice);
    FiberCore<?> guest = new FiberCore<>(starter != null ? starter : fiber, thread, slice);
    VirtualThreads.setExecutor(thread, new FiberExecutor(guest));
    guest.core().countBegun(null);
    guest.becomeReady();
  }
}
