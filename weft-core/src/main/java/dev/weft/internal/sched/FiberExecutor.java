package dev.weft.internal.sched;

import dev.weft.internal.switching.VirtualThreads;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The fiber as its virtual thread sees it: the task that it runs and the executor of its slices.
 *
 * <p>A virtual thread that is started inside a fiber inherits the fiber's executor. So the first
 * slice of such a guest comes to its host's executor; that gives the guest an executor of its own,
 * which gets all further slices. A guest that a platform thread has started comes from {@link
 * JvmHost}.
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
    FiberCore<?> host = starter != null ? starter : fiber;
    beginGuest(host.core(), host, slice);
  }

  /**
   * Makes a virtual thread a guest of a scheduler.
   *
   * @param host the fiber that has started the thread; null if a platform thread has
   */
  static void beginGuest(SchedulerCore scheduler, @Nullable FiberCore<?> host, Runnable slice) {
    Thread thread = VirtualThreads.threadOf(slice);
    FiberExecutor own = null;
    FiberCore<?> guest = null;
    synchronized (slice) { // the JDK may submit it twice at a time: see the turns in FiberCore
      if (VirtualThreads.executorOf(thread) instanceof FiberExecutor present
          && present.fiber.isSlice(slice)) {
        own = present;
      } else {
        guest = new FiberCore<>(scheduler, host, thread, slice);
        scheduler.countGuest();
        VirtualThreads.setExecutor(thread, new FiberExecutor(guest));
      }
    }
    if (own != null) {
      own.execute(slice);
    } else {
      guest.becomeReady();
    }
  }
}
