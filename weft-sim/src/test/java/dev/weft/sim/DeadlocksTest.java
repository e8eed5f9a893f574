package dev.weft.sim;

import static dev.weft.sim.Programs.sleep;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.Clock;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.watch.LockOwners;
import dev.weft.internal.watch.LockOwners.BlockedOn;
import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;
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

  /** Starts "one" and "two", which take the same two locks in different orders. */
  private static List<Thread> crossed(Function<Lock, Taking> way) {
    Taking left = way.apply(new ReentrantLock());
    Taking right = way.apply(new ReentrantLock());
    return List.of(nest("one", left, right), nest("two", right, left));
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
              crossed(lock -> lock::lock).getFirst().join();
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
              List<Thread> both = crossed(lock -> lock::lockInterruptibly);
              Thread.sleep(1_000);
              both.forEach(Thread::interrupt);
              for (Thread thread : both) {
                thread.join();
              }
            })
        .check();
  }

  @Test
  void aDeadlockOfInterruptibleWaitsThatNothingEndsIsReported() {
    Throwable cause =
        failure(
            sim -> {
              busyHost(sim);
              crossed(lock -> lock::lockInterruptibly).getFirst().join();
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

  // ---- monitors of fibers that were notified ----

  /** A notified fiber waits to enter its monitor, which the notifier holds, and holds another. */
  private static void notifies(Simulation sim) throws Exception {
    busyHost(sim);
    Object left = new Object();
    CountDownLatch right = new CountDownLatch(0);
    Thread.ofVirtual().name("waiter").start(() -> waitsInMonitors(left, right));
    Thread.sleep(1);
    Thread.ofVirtual()
        .name("notifier")
        .start(
            () -> {
              synchronized (right) {
                right.notifyAll();
                inMonitors(right, left);
              }
            })
        .join();
  }

  @SuppressWarnings("WaitNotInLoop") // it never returns
  private static void waitsInMonitors(Object outer, Object inner) {
    synchronized (outer) {
      synchronized (inner) {
        try {
          inner.wait();
        } catch (InterruptedException e) {
          // the run has ended
        }
      }
    }
  }

  @SuppressWarnings("WaitNotInLoop") // each wait lasts as long as its limit
  private static void waitOften() throws InterruptedException {
    Object monitor = new Object();
    for (int i = 0; i < 5_000; i++) {
      synchronized (monitor) {
        monitor.wait(1);
      }
    }
  }

  @Test
  void aDeadlockOfANotifiedFiberIsReported() {
    assertThat(failure(DeadlocksTest::notifies))
        .isInstanceOf(SimulationFailure.Deadlock.class)
        .hasMessageContaining("wait for each other");
  }

  /** The JVM's snapshots of such a fiber differ once {@code Object.wait} is compiled. */
  @Test
  void aDeadlockOfANotifiedFiberIsReportedByCompiledCodeToo() throws Exception {
    Command.Result other =
        Command.java("--enable-native-access=ALL-UNNAMED", "-Xbatch", DeadlocksTest.class.getName())
            .run();
    assertThat(other.stdout()).as(other.stderr()).contains("wait for each other");
  }

  public static void main(String[] args) {
    SimulationOptions options = SimulationOptions.seeds(1);
    Simulation.explore(options, sim -> waitOften()).check();
    System.out.println(
        Simulation.explore(options.maxSteps(10_000), DeadlocksTest::notifies)
            .failure()
            .orElseThrow()
            .message());
  }

  /** Some hundred thousand fibers take the JVM longer than it may look for deadlocks outside. */
  @Test
  void theOwnerOfAMonitorIsLookedForHoweverLongThatTakes() {
    AtomicBoolean slow = new AtomicBoolean(true);
    Simulation.explore(
            SimulationOptions.seeds(1),
            sim -> {
              Object monitor = new Object();
              Thread holder = Thread.ofVirtual().start(() -> sleepsIn(monitor));
              Thread waiter = Thread.ofVirtual().start(() -> sleepsIn(monitor));
              Thread.sleep(1);
              LockOwners owners =
                  new LockOwners(
                      () ->
                          Stream.<FiberCore<?>>of(FiberCore.ofOrNull(holder))
                              .peek(_ -> take(slow)));
              BlockedOn blocked = owners.blockedOn(FiberCore.ofOrNull(waiter));
              assertThat(blocked.owner()).isEqualTo(holder);
            })
        .check();
  }

  private static void sleepsIn(Object monitor) {
    synchronized (monitor) {
      sleep(Duration.ofSeconds(1));
    }
  }

  /** Takes more real time than a look may take outside simulations, once. */
  private static void take(AtomicBoolean slow) {
    long begin = Clock.SYSTEM.nanoTime();
    while (slow.get() && Clock.SYSTEM.nanoTime() - begin < 2_100_000_000L) {}
    slow.set(false);
  }
}
