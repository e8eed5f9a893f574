package dev.weft.internal;

/** Waits that an interrupt does not end: the interrupt status is restored after the wait. */
public final class Uninterrupted {
  /** Something to wait for. */
  @FunctionalInterface
  public interface Wait {
    void run() throws InterruptedException;
  }

  private Uninterrupted() {}

  /** Waits, however often the current thread is interrupted. */
  public static void await(Wait wait) {
    boolean interrupted = false;
    while (true) {
      try {
        wait.run();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
