package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Deadlocks are reported at once, with who waits for whom, whatever else the program does. */
@Feature("V4")
class DeadlocksTest {
  private interface Taking {
    void take() throws InterruptedException;
  }

  /** Takes two locks, the second a moment after the first. */
  private static Thread nest(String name, Taking outer, Taking inner) {
    return Thread.ofVirtual()
        .name(name)
        .start(
            () -> {
              try {
                outer.take();
                Thread.sleep(1);
                inner.take();
              } catch (InterruptedException e) {
                // it has been told to give up
              }
            });
  }

  /** A host that does something every 10 ms for ever. */
  private static void busyHost(Simulation sim) {
    sim.host(
        "busy",
        () -> {
          while (true) {
            Thread.sleep(10);
          }
        });
  }

  private static Throwable failure(SimulationBody body) {
    SimulationResult result = Simulation.explore(SimulationOptions.seeds(20), body);
    return result.failure().orElseThrow().cause();
  }

  // ---- with timers left ----

  @Test
  void aDeadlockOfMonitorsIsReportedThoughAHostIsBusy() {
    Duration[] elapsed = new Duration[1];
    Throwable cause =
        failure(
            sim -> {
              busyHost(sim);
              Object left = new Object();
              CountDownLatch right = new CountDownLatch(0);
              Thread one = Thread.ofVirtual().name("one").start(() -> inMonitors(left, right));
              Thread two = Thread.ofVirtual().name("two").start(() -> inMonitors(right, left));
              sim.at(Duration.ofSeconds(1), () -> elapsed[0] = sim.elapsed());
              one.join();
              two.join();
            });
    assertThat(cause).isInstanceOf(SimulationFailure.Deadlock.class);
    assertThat(cause.getMessage().lines().map(line -> line.replaceAll("java:[0-9]+", "java")))
        .startsWith(
            "deadlock: one, two wait for each other",
            "    one waits in inMonitors at DeadlocksTest.java for the monitor of a CountDownLatch"
                + " that two holds",
            "    two waits in inMonitors at DeadlocksTest.java for the monitor of an Object"
                + " that one holds",
            "  other fibers that wait:")
        .anyMatch(line -> line.startsWith("    main waits in "))
        .anyMatch(line -> line.startsWith("    busy waits in "));
    assertThat(elapsed[0]).as("time after the deadlock").isNull();
  }

  private static void inMonitors(Object outer, Object inner) {
    synchronized (outer) {
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        return;
      }
      synchronized (inner) {
        assertThat(Thread.holdsLock(outer)).isTrue();
      }
    }
  }

  @Test
  void aDeadlockOfLocksIsReportedThoughAHostIsBusy() {
    Throwable cause =
        failure(
            sim -> {
              busyHost(sim);
              Lock left = new ReentrantLock();
              Lock right = new ReentrantLock();
              Thread one = nest("one", left::lock, right::lock);
              nest("two", right::lock, left::lock);
              one.join();
            });
    assertThat(cause)
        .isInstanceOf(SimulationFailure.Deadlock.class)
        .hasMessageStartingWith("deadlock: one, two wait for each other")
        .hasMessageContaining(", for a lock that two holds")
        .hasMessageContaining(", for a lock that one holds");
  }

  @Test
  void aSupervisorMayEndADeadlockOfInterruptibleWaits() {
    Simulation.explore(
            SimulationOptions.seeds(20),
            sim -> {
              busyHost(sim);
              Lock left = new ReentrantLock();
              Lock right = new ReentrantLock();
              Thread one = nest("one", left::lockInterruptibly, right::lockInterruptibly);
              Thread two = nest("two", right::lockInterruptibly, left::lockInterruptibly);
              Thread.sleep(1_000);
              one.interrupt();
              two.interrupt();
              one.join();
              two.join();
            })
        .check();
  }

  @Test
  void aDeadlockOfInterruptibleWaitsThatNothingEndsIsReported() {
    Throwable cause =
        failure(
            sim -> {
              busyHost(sim);
              Lock left = new ReentrantLock();
              Lock right = new ReentrantLock();
              Thread one = nest("one", left::lockInterruptibly, right::lockInterruptibly);
              nest("two", right::lockInterruptibly, left::lockInterruptibly);
              one.join();
            });
    assertThat(cause)
        .isInstanceOf(SimulationFailure.Deadlock.class)
        .hasMessageStartingWith("deadlock: one, two wait for each other");
  }

  @Test
  void alsoADeadlockAfterTheEndOfMainIsReported() {
    Throwable cause =
        failure(
            sim -> {
              Lock left = new ReentrantLock();
              Lock right = new ReentrantLock();
              nest("one", left::lock, right::lock);
              nest("two", right::lock, left::lock);
              Thread.sleep(2);
            });
    assertThat(cause)
        .isInstanceOf(SimulationFailure.Deadlock.class)
        .hasMessageStartingWith("deadlock: one, two wait for each other");
  }

  @Test
  void aLongWaitForALockIsNoDeadlock() {
    Simulation.explore(
            SimulationOptions.seeds(20),
            sim -> {
              busyHost(sim);
              Object monitor = new Object();
              Lock lock = new ReentrantLock();
              Thread holder =
                  Thread.ofVirtual()
                      .start(
                          () -> {
                            lock.lock();
                            try {
                              synchronized (monitor) {
                                sleep(Duration.ofSeconds(20));
                              }
                            } finally {
                              lock.unlock();
                            }
                          });
              Thread.sleep(1);
              Thread other = nest("other", lock::lock, () -> {});
              synchronized (monitor) {
                assertThat(sim.elapsed()).isEqualTo(Duration.ofSeconds(20));
              }
              holder.join();
              other.join();
            })
        .check();
  }

  private static void sleep(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  // ---- without a circle ----

  @Test
  void aRunWithoutEndSaysWhatTheFibersWaitFor() {
    Throwable cause =
        failure(
            sim -> {
              busyHost(sim);
              new CountDownLatch(1).await();
            });
    assertThat(cause)
        .isInstanceOf(SimulationFailure.Endless.class)
        .hasMessageContaining("the run has not ended after 100000 steps")
        .hasMessageContaining("main waits in CountDownLatch.await at DeadlocksTest.java:");
  }

  @Test
  void theHolderOfALockIsNamedIfAllWait() {
    Throwable cause =
        failure(
            sim -> {
              Lock lock = new ReentrantLock();
              CountDownLatch never = new CountDownLatch(1);
              nest("holder", lock::lock, never::await);
              Thread.sleep(2);
              lock.lock();
            });
    assertThat(cause)
        .isInstanceOf(SimulationFailure.Deadlock.class)
        .hasMessageStartingWith("deadlock: all fibers wait, and no timer is left")
        .hasMessageContaining(", for a lock that holder holds")
        .hasMessageContaining("holder waits in CountDownLatch.await");
  }
}
