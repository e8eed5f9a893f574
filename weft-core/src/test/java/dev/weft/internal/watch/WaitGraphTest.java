package dev.weft.internal.watch;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.sync.Mutex;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which waiting fibers are left for a look at their stacks. */
@Feature("S25")
@SuppressWarnings("LockNotBeforeTry") // some of these never release their locks
class WaitGraphTest {
  private final Scheduler scheduler = Scheduler.builder().threads(2).name("waits").build().start();

  @AfterEach
  void stop() {
    scheduler.stop(Duration.ofMillis(1));
  }

  private List<FiberCore<?>> suspects() {
    return ((SchedulerCore) scheduler).fibers().filter(LockOwners::mayWaitForOwner).toList();
  }

  private List<String> inCircles() {
    return WaitGraph.inCircles(suspects()).stream().map(FiberCore::name).sorted().toList();
  }

  private Fiber<Void> go(String name, Body body) {
    Fiber<Void> fiber = scheduler.go(FiberOptions.named(name), body);
    waits(fiber);
    return fiber;
  }

  /** The look at their stacks would keep the thread that looks for a second or two. */
  @Test
  @Timeout(120)
  void veryManyFibersAtOneMutexNeedNoLookAtAStack() {
    int many = 200_000;
    Mutex mutex = new Mutex();
    go(
        "holder",
        () -> {
          mutex.lock();
          Fiber.sleep(Duration.ofHours(1));
        });
    for (int i = 0; i < many; i++) {
      scheduler.go(() -> mutex.lockInterruptibly());
    }
    eventually("they wait", () -> suspects().size() == many);
    assertThat(WaitGraph.inCircles(suspects())).isEmpty();
  }

  @Test
  void fibersThatWaitForACircleAreDropped() throws Exception {
    Mutex first = new Mutex();
    ReentrantLock second = new ReentrantLock();
    CountDownLatch both = new CountDownLatch(2);
    Fiber<Void> ann = scheduler.go(FiberOptions.named("ann"), () -> take(first, second, both));
    Fiber<Void> bob = scheduler.go(FiberOptions.named("bob"), () -> take(second, first, both));
    both.await();
    waits(ann);
    waits(bob);
    go("behind", () -> first.lockInterruptibly());
    go("joins", () -> ann.join());
    Fiber<Void> sleeps = go("sleeps", () -> Fiber.sleep(Duration.ofHours(1)));
    Fiber<Void> joinsSleeper = go("joins the sleeper", () -> sleeps.join());
    go("joins that", () -> joinsSleeper.join());
    assertThat(suspects()).hasSize(6);
    assertThat(inCircles()).containsExactly("ann", "bob");
  }

  private static void take(Lock one, Lock other, CountDownLatch both) throws InterruptedException {
    one.lock();
    both.countDown();
    both.await();
    other.lockInterruptibly();
  }

  /** The holder of the monitor is known only by a look at its stack. */
  @Test
  void aFiberAtAMonitorAndWhatWaitsForItIsLeft() {
    Object monitor = new Object();
    CountDownLatch release = new CountDownLatch(1);
    go(
        "holder",
        () -> {
          synchronized (monitor) {
            release.await();
          }
        });
    Fiber<Void> enters = scheduler.go(FiberOptions.named("enters"), () -> enter(monitor));
    eventually("it is at the monitor", () -> enters.thread().getState() == Thread.State.BLOCKED);
    go("joins", () -> enters.join());
    assertThat(inCircles()).containsExactly("enters", "joins");
    release.countDown();
  }

  private static void enter(Object monitor) {
    synchronized (monitor) {
      assertThat(Thread.holdsLock(monitor)).isTrue();
    }
  }
}
