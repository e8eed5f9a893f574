package dev.weft;

import dev.weft.internal.jdk.VirtualThreads;
import java.util.concurrent.Executor;

/**
 * The fiber as its virtual thread sees it: the body it runs and the executor of its slices.
 *
 * <p>A virtual thread that is started in another inherits its executor. So the first slice of such
 * a guest comes to its host's strand; all others to one of its own, which it is given then.
 */
final class Strand implements Executor, Runnable {
  private final Fiber<?> fiber;

  Strand(Fiber<?> fiber) {
    this.fiber = fiber;
  }

  Fiber<?> fiber() {
    return fiber;
  }

  @Override
  public void run() {
    fiber.runBody();
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
    Fiber<?> starter = Fiber.currentOrNull(); // another guest, as a rule this fiber
    Thread thread = VirtualThreads.threadOf(slice);
    Fiber<?> guest = new Fiber<>(starter != null ? starter : fiber, thread, slice);
    VirtualThreads.setExecutor(thread, new Strand(guest));
    guest.scheduler().countBegun(null);
    guest.becomeReady();
  }
}
