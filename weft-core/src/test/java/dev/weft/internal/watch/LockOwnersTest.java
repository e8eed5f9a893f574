package dev.weft.internal.watch;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.FiberOptions;
import dev.weft.ForkedJvm;
import dev.weft.GroupedDump;
import dev.weft.Scheduler;
import dev.weft.sync.Mutex;
import dev.weft.sync.SharedMutex;
import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A dump names the holder of a lock or a monitor that a fiber waits for. */
@Feature("S18")
class LockOwnersTest {
  private final Scheduler scheduler = Scheduler.builder().threads(2).build().start();
  private final Scheduler other = Scheduler.builder().threads(1).build().start();
  private final CountDownLatch release = new CountDownLatch(1);

  @AfterEach
  void stop() {
    release.countDown();
    scheduler.stop();
    other.stop();
  }

  private void await() {
    try {
      release.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private FiberDump.Entry entry(Fiber<?> fiber) {
    return scheduler.dump().fibers().stream()
        .filter(entry -> entry.id() == fiber.id())
        .findFirst()
        .orElseThrow();
  }

  private static Fiber<Void> holds(Scheduler on, Runnable hold) {
    Fiber<Void> holder = on.go(FiberOptions.named("holder"), hold::run);
    waits(holder);
    return holder;
  }

  private Fiber<Void> blocked(Runnable block) {
    Fiber<Void> blocked = scheduler.go(FiberOptions.named("blocked"), block::run);
    waits(blocked);
    return blocked;
  }

  private static synchronized void holdClass(Runnable body) {
    body.run();
  }

  private static LockOwners.BlockedOn blockedOn(Fiber<?> fiber) {
    return new LockOwners(Watchdog::fibers).blockedOn(core(fiber));
  }

  static Stream<Lock> locks() {
    return Stream.of(
        new ReentrantLock(),
        new ReentrantLock(true),
        new ReentrantReadWriteLock().writeLock(),
        new Mutex(),
        new SharedMutex().writeLock());
  }

  @ParameterizedTest
  @MethodSource("locks")
  @SuppressWarnings("LockNotBeforeTry") // one fiber does not use the lock
  void theHolderOfALockIsNamed(Lock lock) {
    Fiber<Void> holder =
        holds(
            other,
            () -> {
              lock.lock();
              try {
                await();
              } finally {
                lock.unlock();
              }
            });
    Fiber<Void> blocked =
        blocked(
            () -> {
              lock.lock();
              lock.unlock();
            });
    assertThat(entry(blocked).heldBy()).isEqualTo(holder.toString());
    assertThat(entry(blocked).summary()).containsOnlyOnce(holder.toString());
    assertThat(scheduler.dump().json()).contains("\"heldBy\":\"" + holder + "\"");
    assertThat(blockedOn(blocked).owner()).isSameAs(holder.thread());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theFiberThatHoldsAMonitorIsNamed(boolean onOther) {
    Object monitor = new Object();
    Fiber<Void> holder =
        holds(
            onOther ? other : scheduler,
            () -> {
              synchronized (monitor) {
                await();
              }
            });
    Fiber<Void> blocked =
        blocked(
            () -> {
              synchronized (monitor) {
                assertThat(Thread.holdsLock(monitor)).isTrue();
              }
            });
    assertThat(entry(blocked).heldBy()).isEqualTo(holder.toString());
    assertThat(entry(blocked).waitsFor())
        .isEqualTo("the monitor of java.lang.Object@%x", System.identityHashCode(monitor));
    LockOwners.BlockedOn blockedOn = blockedOn(blocked);
    assertThat(blockedOn.object()).isSameAs(monitor);
    assertThat(blockedOn.isMonitor()).isTrue();
    assertThat(blockedOn.owner()).isSameAs(holder.thread());
  }

  @Test
  void theMonitorOfASynchronizedMethodIsFoundToo() {
    Fiber<Void> holder = holds(scheduler, () -> holdClass(this::await));
    Fiber<Void> blocked = blocked(() -> holdClass(() -> {}));
    assertThat(entry(blocked).heldBy()).isEqualTo(holder.toString());
    assertThat(blockedOn(blocked).object()).isSameAs(LockOwnersTest.class);
  }

  @Test
  void thePlainThreadThatHoldsAMonitorIsNamed() throws Exception {
    Object monitor = new Object();
    CountDownLatch held = new CountDownLatch(1);
    Thread holder =
        Thread.ofPlatform()
            .name("plain holder")
            .start(
                () -> {
                  synchronized (monitor) {
                    held.countDown();
                    await();
                  }
                });
    held.await();
    Fiber<Void> blocked =
        blocked(
            () -> {
              synchronized (monitor) {
                assertThat(Thread.holdsLock(monitor)).isTrue();
              }
            });
    assertThat(entry(blocked).heldBy()).contains("plain holder");
    assertThat(blockedOn(blocked).owner()).isSameAs(holder);
    release.countDown();
    holder.join();
  }

  @Test
  @SuppressWarnings("WaitNotInLoop") // spurious wake-ups are harmless here
  void aFiberThatWaitsToBeNotifiedHoldsNothingOfThatMonitor() throws Exception {
    Object monitor = new Object();
    Fiber<Void> waiting =
        scheduler.go(
            () -> {
              synchronized (monitor) {
                monitor.wait();
              }
            });
    waits(waiting);
    Fiber<Void> holder =
        holds(
            scheduler,
            () -> {
              synchronized (monitor) {
                monitor.notifyAll(); // from now on the other fiber waits to enter
                await();
              }
            });
    Fiber<Void> blocked =
        blocked(
            () -> {
              synchronized (monitor) {
                assertThat(Thread.holdsLock(monitor)).isTrue();
              }
            });
    assertThat(blockedOn(blocked).owner()).isSameAs(holder.thread());
    eventually(
        "the fiber waits to enter", () -> waiting.thread().getState() == Thread.State.BLOCKED);
    LockOwners.BlockedOn notified = blockedOn(waiting);
    if (notified != null) { // null once Object.wait is compiled: see the next test
      assertThat(notified.owner()).isSameAs(holder.thread());
    }
  }

  /** A fiber that was notified while another fiber holds the monitor; prints what a dump says. */
  static final class Notified {
    @SuppressWarnings("WaitNotInLoop") // spurious wake-ups are harmless here
    public static void main(String[] args) {
      Scheduler scheduler = Scheduler.builder().threads(2).build().start();
      Object monitor = new Object();
      CountDownLatch release = new CountDownLatch(1);
      Fiber<Void> waiting =
          scheduler.go(
              () -> {
                synchronized (monitor) {
                  monitor.wait();
                }
              });
      waits(waiting);
      Fiber<Void> holder =
          scheduler.go(
              FiberOptions.named("holder"),
              () -> {
                synchronized (monitor) {
                  monitor.notifyAll();
                  release.await();
                }
              });
      waits(holder);
      eventually(
          "the fiber waits to enter", () -> waiting.thread().getState() == Thread.State.BLOCKED);
      LockOwners.BlockedOn notified = blockedOn(waiting);
      System.out.println(notified.object() == monitor && notified.owner() == holder.thread());
      release.countDown();
      scheduler.stop();
    }
  }

  /** In a JVM of its own, because a JVM that has compiled Object.wait does not tell. */
  @Test
  void theHolderIsNamedForANotifiedFiberWhileTheJvmInterprets() throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            "-Xint",
            ForkedJvm.weftArgs(),
            "-cp",
            ForkedJvm.classPathOf(
                Scheduler.class,
                LockOwnersTest.class,
                MessagePassingQueue.class,
                MpscUnboundedVarHandleArrayQueue.class),
            Notified.class.getName());

    assertThat(result).isEqualTo(new ForkedJvm.Result(0, "true\n"));
  }

  @Test
  void aRunningOwnerOfAMonitorIsUnknown() {
    Object monitor = new Object();
    AtomicBoolean spins = new AtomicBoolean();
    AtomicBoolean over = new AtomicBoolean();
    other.go(
        () -> {
          synchronized (monitor) {
            spins.set(true);
            while (!over.get()) {
              Thread.onSpinWait();
            }
          }
        });
    eventually("the fiber spins", spins::get);
    Fiber<Void> blocked =
        blocked(
            () -> {
              synchronized (monitor) {
                assertThat(Thread.holdsLock(monitor)).isTrue();
              }
            });
    assertThat(blockedOn(blocked).object()).isSameAs(monitor);
    assertThat(entry(blocked).heldBy()).isEmpty();
    over.set(true);
  }

  /** By a clock of the test: each snapshot of a fiber at the monitor takes 0.1 s. */
  @Test
  void ofVeryManyFibersAtMonitorsTheFirstAreAsked() {
    Object first = new Object();
    Object second = new Object();
    Fiber<Void> last = holds(other, () -> holding(second, this::await));
    Fiber<Void> holder = holds(other, () -> holding(first, () -> holding(second, () -> {})));
    for (int i = 0; i < 100; i++) {
      blocked(() -> holding(first, () -> {}));
    }
    AtomicLong now = new AtomicLong();
    LockOwners owners =
        new LockOwners(() -> Stream.of(core(holder), core(last)), () -> now.addAndGet(100_000_000));
    FiberGroups groups = new FiberGroups(owners);
    core(scheduler).fibers().forEach(groups);

    List<GroupedDump.Group> found = groups.groups();
    assertThat(found).extracting(GroupedDump.Group::fibers).hasSize(2);
    assertThat(found)
        .extracting(GroupedDump.Group::summary)
        .anySatisfy(
            text -> assertThat(text).contains("fibers wait for the monitor of java.lang.Object@"))
        .anySatisfy(text -> assertThat(text).contains("fibers wait for a monitor, for "));
    assertThat(found.stream().mapToLong(GroupedDump.Group::fibers).sum()).isEqualTo(100);
    assertThat(groups.holders(List.of()))
        .singleElement()
        .satisfies(wanted -> assertThat(wanted.waiters()).isBetween(10L, 50L))
        .satisfies(
            wanted ->
                assertThat(wanted.holder())
                    .as("what the holder waits for is found though the time is used up")
                    .startsWith(holder.toString())
                    .contains("the monitor of java.lang.Object@", "held by " + last));
  }

  private static void holding(Object monitor, Runnable body) {
    synchronized (monitor) {
      body.run();
    }
  }

  @Test
  void aWaitWithoutAHolderShowsNone() {
    Fiber<Void> latched = blocked(this::await);
    assertThat(entry(latched).heldBy()).isEmpty();
    assertThat(blockedOn(latched).owner()).isNull();
    Fiber<Void> joiner = scheduler.go(() -> latched.join());
    waits(joiner);
    assertThat(entry(joiner).heldBy()).isEmpty();
    assertThat(blockedOn(joiner).owner())
        .as("the joined fiber has to end")
        .isSameAs(latched.thread());
  }

  /**
   * A snapshot of a virtual thread that is mounted meanwhile crashes JDK 25, and a thread that
   * becomes ready meanwhile must not be lost.
   */
  @Test
  void findingOwnersDisturbsNoFiber() throws Exception {
    Object monitor = new Object();
    AtomicInteger turns = new AtomicInteger();
    AtomicInteger looks = new AtomicInteger();
    Object kept = new Object();
    Fiber<Void> holder =
        holds(
            other,
            () -> {
              synchronized (kept) {
                await();
              }
            });
    Fiber<Void> blocked =
        blocked(
            () -> {
              synchronized (kept) {
                assertThat(Thread.holdsLock(kept)).isTrue();
              }
            });
    List<Fiber<Integer>> fibers = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      fibers.add(
          scheduler.go(
              () -> {
                int own = 0;
                for (; own < 3_000 || looks.get() == 0; own++) {
                  synchronized (monitor) {
                    Thread.yield();
                    turns.incrementAndGet();
                  }
                  Fiber.yield();
                }
                return own;
              }));
    }
    while (fibers.stream().anyMatch(fiber -> fiber.status() != Fiber.Status.DONE)) {
      for (FiberDump.Entry entry : scheduler.dump().fibers()) {
        if (entry.id() == blocked.id()) {
          assertThat(entry.heldBy()).isEqualTo(holder.toString());
        } else {
          looks.addAndGet(entry.status() == Fiber.Status.WAITING ? 1 : 0);
        }
      }
    }
    int sum = 0;
    for (Fiber<Integer> fiber : fibers) {
      sum += fiber.join();
    }
    assertThat(turns).hasValue(sum);
  }
}
