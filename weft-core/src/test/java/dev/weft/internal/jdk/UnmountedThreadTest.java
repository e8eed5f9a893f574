package dev.weft.internal.jdk;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A virtual thread that is held still does not run, and loses no wake-up. */
@Feature("S18")
class UnmountedThreadTest {
  private static Thread startAndAwait(Thread.State state, Runnable body) {
    Thread thread = Thread.startVirtualThread(body);
    eventually(thread + " is " + state, () -> thread.getState() == state);
    return thread;
  }

  /** Holds the thread still, wakes it meanwhile, and returns how its state was then. */
  private static Thread.State stateWhenWoken(Thread thread, Runnable wake) {
    AtomicReference<Thread.State> state = new AtomicReference<>();
    eventually(
        "it can be held still",
        () ->
            Boolean.TRUE.equals(
                UnmountedThread.holdStill(
                    thread,
                    held -> {
                      wake.run();
                      state.set(held.getState());
                      return true;
                    })));
    return state.get();
  }

  @Test
  void aParkedThreadIsUnparkedAfterwards() throws Exception {
    Thread parked = startAndAwait(Thread.State.WAITING, LockSupport::park);
    assertThat(stateWhenWoken(parked, () -> LockSupport.unpark(parked)))
        .isEqualTo(Thread.State.WAITING);
    parked.join();
  }

  @Test
  void aSecondLookerWaitsForTheFirst() throws Exception {
    Thread parked = startAndAwait(Thread.State.WAITING, LockSupport::park);
    AtomicBoolean secondHasLooked = new AtomicBoolean();
    AtomicReference<Thread> second = new AtomicReference<>();
    stateWhenWoken(
        parked,
        () -> {
          Thread looker =
              Thread.ofPlatform()
                  .start(
                      () ->
                          secondHasLooked.set(
                              Boolean.TRUE.equals(
                                  UnmountedThread.holdStill(parked, held -> true))));
          second.set(looker);
          eventually("the second looker has begun", () -> looker.getState() != Thread.State.NEW);
          assertThat(secondHasLooked).isFalse();
        });
    second.get().join();
    assertThat(secondHasLooked).isTrue();
    LockSupport.unpark(parked);
    parked.join();
  }

  @Test
  void aThreadThatIsNotWokenGoesOnWaiting() throws Exception {
    Thread parked = startAndAwait(Thread.State.WAITING, LockSupport::park);
    stateWhenWoken(parked, () -> {});
    assertThat(parked.getState()).isEqualTo(Thread.State.WAITING);
    LockSupport.unpark(parked);
    parked.join();
  }

  @Test
  void aBlockedThreadEntersItsMonitorAfterwards() throws Exception {
    Object monitor = new Object();
    AtomicBoolean leave = new AtomicBoolean();
    AtomicBoolean holds = new AtomicBoolean();
    Thread holder =
        Thread.ofPlatform()
            .start(
                () -> {
                  synchronized (monitor) {
                    holds.set(true);
                    eventually("it may leave", leave::get);
                  }
                });
    eventually("the monitor is held", holds::get);
    Thread blocked =
        startAndAwait(
            Thread.State.BLOCKED,
            () -> {
              synchronized (monitor) {
                assertThat(Thread.holdsLock(monitor)).isTrue();
              }
            });
    Thread.State state =
        stateWhenWoken(
            blocked,
            () -> {
              leave.set(true);
              eventually("the monitor is free", () -> !holder.isAlive());
            });
    assertThat(state).isEqualTo(Thread.State.BLOCKED);
    blocked.join();
  }

  @Test
  @SuppressWarnings("WaitNotInLoop") // a spurious wake-up would show in its state
  void aThreadInWaitIsNotifiedOrInterruptedAfterwards() throws Exception {
    for (boolean interrupt : new boolean[] {false, true}) {
      Object monitor = new Object();
      AtomicBoolean interrupted = new AtomicBoolean();
      Thread waiting =
          startAndAwait(
              Thread.State.WAITING,
              () -> {
                synchronized (monitor) {
                  try {
                    monitor.wait();
                  } catch (InterruptedException e) {
                    interrupted.set(true);
                  }
                }
              });
      Runnable wake =
          () -> {
            if (interrupt) {
              waiting.interrupt();
            } else {
              synchronized (monitor) {
                monitor.notifyAll();
              }
            }
          };
      assertThat(stateWhenWoken(waiting, wake)).isEqualTo(Thread.State.WAITING);
      waiting.join();
      assertThat(interrupted.get()).isEqualTo(interrupt);
    }
  }

  @Test
  void aMountedThreadIsNotHeld() throws Exception {
    AtomicBoolean spins = new AtomicBoolean();
    AtomicBoolean over = new AtomicBoolean();
    Thread running =
        Thread.startVirtualThread(
            () -> {
              spins.set(true);
              while (!over.get()) {
                Thread.onSpinWait();
              }
            });
    eventually("it spins", spins::get);
    assertThat(UnmountedThread.<Boolean>holdStill(running, held -> true)).isNull();
    over.set(true);
    running.join();
    assertThat(UnmountedThread.<Boolean>holdStill(running, held -> true)).as("ended").isNull();
    assertThat(
            UnmountedThread.<Boolean>holdStill(
                Thread.ofVirtual().unstarted(() -> {}), held -> true))
        .as("new")
        .isNull();
  }
}
