package dev.weft.sync;

import static dev.weft.Eventually.eventually;

import dev.weft.Body;
import dev.weft.Eventually;
import dev.weft.Fiber;
import dev.weft.LogCapture;
import dev.weft.Scheduler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** A scheduler with one thread that gives up on its fibers, because one of them never ends. */
final class StuckScheduler implements AutoCloseable {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final AtomicBoolean over = new AtomicBoolean();

  StuckScheduler() {}

  /**
   * Runs the body until it waits, and then holds the thread. Returns within a fraction of the
   * millisecond after which a waiter of a lock is handed it.
   */
  StuckScheduler(Body body) {
    scheduler.go(body);
    AtomicBoolean held = new AtomicBoolean();
    scheduler.go(
        () -> {
          held.set(true);
          spin();
        });
    while (!held.get()) {
      Thread.onSpinWait();
    }
  }

  private void spin() {
    while (!over.get()) {
      Thread.onSpinWait();
    }
  }

  /** Starts a fiber that waits. */
  void waiter(Body body) {
    Eventually.waits(scheduler.go(body));
  }

  /** From now on no other fiber of the scheduler runs. */
  void hold() {
    Fiber<Void> endless = scheduler.go(() -> spin());
    eventually("a fiber holds the thread", () -> endless.status() == Fiber.Status.RUNNING);
  }

  /** Stops the scheduler, which gives up on all its fibers. */
  void giveUp() {
    try (LogCapture _ = new LogCapture()) {
      scheduler.stop(Duration.ofMillis(1));
    }
  }

  /** Ends the thread. */
  @Override
  public void close() {
    over.set(true);
    giveUp();
  }
}
