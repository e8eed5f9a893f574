package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sync.Mutex;
import dev.weft.testkit.Feature;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mounting and unmounting of fibers: by Weft's own code, and by the JDK's. */
class SwitchTest {
  private static final int INTERRUPTS = 20_000;
  private static final int WAITS = 5_000;

  /** FIFO; checks the interrupt status of the worker's thread between two slices. */
  private static final class LookingQueue extends ArrayDeque<Fiber<?>>
      implements Policy.ReadyQueue {
    private static final long serialVersionUID = 1;
    private final AtomicInteger interrupted;

    LookingQueue(AtomicInteger interrupted) {
      this.interrupted = interrupted;
    }

    @Override
    public void add(Fiber<?> fiber, long now) {
      addLast(fiber);
    }

    @Override
    public Fiber<?> next(long now) {
      if (Thread.currentThread().isInterrupted()) {
        interrupted.incrementAndGet();
      }
      return pollFirst();
    }
  }

  /**
   * Interrupts a fiber that unmounts and mounts all the time: it waits for a lock, and yields. No
   * interrupt may be lost, and none may stay with the carrier.
   */
  @Test
  @Feature("S6")
  void anInterruptReachesTheFiberAndNotItsCarrier() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    AtomicInteger leftBehind = new AtomicInteger();
    Scheduler scheduler =
        Scheduler.builder().threads(1).policy(() -> new LookingQueue(leftBehind)).build().start();
    Mutex mutex = new Mutex();
    Fiber<?> target =
        scheduler.go(
            () -> {
              while (seen.get() < INTERRUPTS) {
                lockAndYield(mutex);
                if (Thread.interrupted()) {
                  seen.incrementAndGet();
                }
              }
            });
    Fiber<?> rival =
        scheduler.go(
            () -> {
              while (seen.get() < INTERRUPTS) {
                lockAndYield(mutex);
              }
            });
    interrupt(target, INTERRUPTS, seen);
    target.join();
    rival.join();
    scheduler.stop();
    assertThat(leftBehind).hasValue(0);
  }

  /**
   * Interrupts a fiber that is about to block its carrier: there the JVM checks the carrier's own
   * interrupt status, which is set when the fiber is mounted.
   */
  @Test
  @Feature("S6")
  void anInterruptReachesAFiberThatWaitsOnItsThread() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    Scheduler scheduler = Scheduler.builder().threads(1).build().start();
    Object monitor = new Object();
    Fiber<?> target =
        scheduler.go(
            () -> {
              while (seen.get() < WAITS) {
                Thread.yield();
                Hook.disable(); // otherwise the fiber would unmount for the wait
                try {
                  synchronized (monitor) {
                    monitor.wait();
                  }
                } catch (InterruptedException e) {
                  seen.incrementAndGet();
                } finally {
                  Hook.enable();
                }
              }
            });
    interrupt(target, WAITS, seen);
    target.join();
    scheduler.stop();
  }

  /** Interrupts the fiber this many times, each time after it has seen the last interrupt. */
  private static void interrupt(Fiber<?> target, int times, AtomicInteger seen) {
    for (int i = 0; i < times; i++) {
      target.thread().interrupt();
      while (seen.get() <= i) {
        Thread.onSpinWait();
      }
    }
  }

  private static void lockAndYield(Mutex mutex) {
    mutex.lock();
    try {
      Thread.yield();
    } finally {
      mutex.unlock();
    }
  }

  @Test
  @Feature("H9")
  void onAJdkThatMountsDifferentlyTheJdkSwitches(@TempDir Path patch) throws Exception {
    HookMisfitTest.renameField(Class.forName("java.lang.VirtualThread"), "CARRIER_THREAD", patch);
    ForkedJvm.Result result =
        HookMisfitTest.run("--patch-module=java.base=" + patch, "-Dweft.switch=weft");
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output())
        .containsOnlyOnce("fibers are switched by the JDK itself")
        .contains("CARRIER_THREAD")
        .doesNotContain("leaves out")
        .contains("read 7");
  }

  @Test
  @Feature("H9")
  void theJdkSwitchesIfAsked() throws Exception {
    ForkedJvm.Result result = HookMisfitTest.run("-Dweft.switch=jdk");
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output()).doesNotContain("switched").contains("read 7");
  }
}
