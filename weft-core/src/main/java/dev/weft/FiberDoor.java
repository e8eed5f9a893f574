package dev.weft;

import dev.weft.internal.FiberAccess;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The way from Weft's other packages into {@link Fiber}. */
final class FiberDoor extends FiberAccess {
  @Override
  protected @Nullable Fiber<?> currentFiber() {
    return Fiber.currentOrNull();
  }

  @Override
  protected String describeThread(Thread thread) {
    Fiber<?> fiber = Fiber.ofOrNull(thread);
    return fiber != null ? fiber.toString() : thread.toString();
  }

  @Override
  protected void runProgramMain(int threads, Body main) {
    ProgramMain.run(threads, main);
  }

  @Override
  protected void giveWayIfUsedUp(@Nullable Fiber<?> self) {
    Fiber.giveWay(self);
  }

  @Override
  protected void check(@Nullable Fiber<?> self) throws InterruptedException {
    Fiber.throwIfInterrupted(self);
  }

  @Override
  protected boolean gone(Fiber<?> fiber) {
    return fiber.isGone();
  }

  @Override
  protected void unparkThread(Thread thread) {
    Fiber.unpark(thread);
  }

  @Override
  protected void unparkFiber(Fiber<?> fiber) {
    fiber.unpark();
  }

  @Override
  protected <T> T callBlocking(Callable<T> body) throws Exception {
    Fiber<?> self = Fiber.currentOrNull();
    return self == null ? body.call() : BlockingCall.run(self, Helpers.ofJvm(), false, body);
  }

  @Override
  protected Limit newLimit(@Nullable Fiber<?> self, Duration limit) {
    return Timeout.of(self, limit);
  }
}
