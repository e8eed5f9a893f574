package dev.weft.internal.sched;

import dev.weft.internal.switching.RawContinuation;
import org.jspecify.annotations.Nullable;

/**
 * The deadlines and shields that the body of one coroutine is in. While the coroutine is suspended
 * they must not limit its resumer, so they leave the thread with the coroutine and come back with
 * it. Only the thread or fiber that resumes the coroutine touches them.
 */
public final class CoroutineBlocks {
  // how many deadlines and shields there are together; how many shields
  int limits;
  int shields;

  // the innermost deadline, while the coroutine is suspended
  private @Nullable Deadline suspended;

  /** The target of a coroutine's continuation. */
  public interface Holder {
    /** Returns the blocks of the coroutine. */
    CoroutineBlocks blocks();
  }

  /** Returns the blocks of the running coroutine, or null outside coroutines. */
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
