package dev.weft.internal;

import dev.weft.Body;
import dev.weft.Fiber;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * What waiting, and {@code ./weft run}, need of {@link Fiber} and its worker, and users must not
 * have. Every method takes a plain thread for what it is: a caller without a fiber, which is null
 * here.
 */
public abstract class FiberAccess {
  private static volatile @Nullable FiberAccess opened;

  /** Its own class, so that the door is a constant for the compiler. */
  private static final class Door {
    static final FiberAccess DOOR = load();

    private static FiberAccess load() {
      try {
        MethodHandles.lookup().ensureInitialized(Fiber.class);
      } catch (IllegalAccessException e) {
        throw new IllegalStateException(e);
      }
      return Objects.requireNonNull(opened);
    }
  }

  /** A limited wait of the current thread; to be closed by it. */
  public interface Limit extends AutoCloseable {
    /** Parks until woken; returns false, without parking, once the time is over. */
    boolean park(Object blocker);

    @Override
    void close();
  }

  /** Called by {@link Fiber} when it is initialized. */
  public static void open(FiberAccess door) {
    opened = door;
  }

  /** Returns the fiber that calls, or null on any other thread. */
  public static @Nullable Fiber<?> current() {
    return Door.DOOR.currentFiber();
  }

  /**
   * Begins a call that may wait: gives way if the time slice is used up, and is a cancel point.
   * Returns the fiber that calls, if any.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline
   */
  public static @Nullable Fiber<?> enter() throws InterruptedException {
    Fiber<?> self = Door.DOOR.currentFiber();
    Door.DOOR.giveWayIfUsedUp(self);
    Door.DOOR.check(self);
    return self;
  }

  /** Gives way if the time slice is used up: for calls that do not wait. */
  public static void giveWay() {
    Door.DOOR.giveWayIfUsedUp(Door.DOOR.currentFiber());
  }

  /**
   * Checks for what ends a wait, and clears the interrupt status.
   *
   * @throws InterruptedException if the caller is interrupted, cancelled or past its deadline
   */
  public static void throwIfInterrupted(@Nullable Fiber<?> self) throws InterruptedException {
    Door.DOOR.check(self);
  }

  /**
   * Runs the body as {@code Weft.blocking} does, but without being a cancel point: the caller goes
   * on waiting for a helper thread, and an interrupt status is kept. Outside fibers the body runs
   * right here. Loads no fibers if there are none.
   */
  public static <T> T blockingUninterrupted(Callable<T> body) throws Exception {
    return opened != null && Thread.currentThread().isVirtual()
        ? Door.DOOR.callBlocking(body)
        : body.call();
  }

  /** Returns whether the fiber will never run again although it has not ended. */
  public static boolean isGone(Fiber<?> fiber) {
    return Door.DOOR.gone(fiber);
  }

  /** Unparks a thread, as {@code LockSupport} does; it takes less if the thread is a fiber. */
  public static void unpark(Thread thread) {
    Door.DOOR.unparkThread(thread);
  }

  /** Unparks the thread of a fiber. */
  public static void unpark(Fiber<?> fiber) {
    Door.DOOR.unparkFiber(fiber);
  }

  /** Begins a limited wait: a fiber waits by its worker's timers, a plain thread by its own. */
  public static Limit limit(@Nullable Fiber<?> self, Duration limit) {
    return Door.DOOR.newLimit(self, limit);
  }

  /**
   * Runs the main of a whole program as a fiber on so many threads. Returns when it and all fibers
   * begun on its scheduler have ended; guests are served until the process ends.
   */
  public static void runMain(int threads, Body main) {
    Door.DOOR.runProgramMain(threads, main);
  }

  /** Returns the thread for people: as the fiber it is, if it is one. */
  public static String describe(Thread thread) {
    return Door.DOOR.describeThread(thread);
  }

  protected abstract @Nullable Fiber<?> currentFiber();

  protected abstract String describeThread(Thread thread);

  protected abstract void runProgramMain(int threads, Body main);

  protected abstract void giveWayIfUsedUp(@Nullable Fiber<?> self);

  protected abstract void check(@Nullable Fiber<?> self) throws InterruptedException;

  protected abstract boolean gone(Fiber<?> fiber);

  protected abstract void unparkThread(Thread thread);

  protected abstract void unparkFiber(Fiber<?> fiber);

  protected abstract <T> T callBlocking(Callable<T> body) throws Exception;

  protected abstract Limit newLimit(@Nullable Fiber<?> self, Duration limit);
}
