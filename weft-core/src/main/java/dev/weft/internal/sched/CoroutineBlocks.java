package dev.weft.internal.sched;

import dev.weft.internal.switching.RawContinuation;
import org.jspecify.annotations.Nullable;

/**
 * The deadlines and shields that the body of one coroutine is in. While the coroutine is suspended
 * they are no limit on the thread or fiber that goes on, so they leave with it and come back with
 * it. Only its owner, the thread or fiber that resumes it, touches them.
 */
public final class CoroutineBlocks {
  // how many deadlines and shields there are; the shields of these
  int limits;
  int shields;

  // the innermost deadline, while the coroutine is suspended
  private @Nullable Deadline suspended;

  /** What a running coroutine's continuation is made with. */
  public interface Holder {
    /** Returns those of the coroutine. */
    CoroutineBlocks blocks();
  }

  /** Returns those of the coroutine that runs, or null outside coroutines. */
  static @Nullable CoroutineBlocks current() {
    return RawContinuation.current() instanceof Holder holder ? holder.blocks() : null;
  }

  /** Called after the coroutine has been suspended, by the thread that resumed it. */
  public void leave() {
    if (limits > 0) {
      OpenBlocks blocks = OpenBlocks.of(FiberCore.currentOrNull());
      suspended = Deadline.leave(this, blocks);
      if (shields > 0) {
        blocks.leaveShields(shields);
      }
    }
  }

  /** Called before the coroutine is resumed, by the thread that resumes it. */
  public void enter() {
    if (limits > 0) {
      OpenBlocks blocks = OpenBlocks.of(FiberCore.currentOrNull());
      int depthOutside = blocks.shields();
      if (shields > 0) {
        blocks.enterShields(shields);
      }
      Deadline.enter(suspended, blocks, depthOutside);
      suspended = null;
    }
  }
}
