package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.channel.Channel;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.watch.DeadlockReport;
import dev.weft.testkit.Feature;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Deadlocks: all fibers wait, and nothing is left that could wake them. */
@Feature("S19")
class DeadlockTest {
  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static Scheduler failing(int threads, boolean useCaller) {
    return Scheduler.builder()
        .threads(threads)
        .useCaller(useCaller)
        .failOnDeadlock(true)
        .build()
        .start();
  }

  @ParameterizedTest
  @CsvSource({"1,false", "2,false", "1,true", "2,true"})
  void stopFailsAndNamesTheFibersAndWhatTheyWaitFor(int threads, boolean useCaller) {
    Scheduler scheduler = failing(threads, useCaller);
    AtomicReference<Fiber<Void>> second = new AtomicReference<>();
    CountDownLatch both = new CountDownLatch(1);
    Fiber<Void> first =
        scheduler.go(
            FiberOptions.named("Hansel"),
            () -> {
              both.await();
              second.get().join();
            });
    second.set(scheduler.go(FiberOptions.named("Gretel"), () -> first.join()));
    both.countDown();
    assertThatIllegalStateException()
        .isThrownBy(scheduler::stop)
        .withMessageContaining("deadlock in " + scheduler)
        .withMessageMatching(
            "(?s).*fiber \\d+ \\(Hansel\\) WAITING on thread \\d, waits for the end of fiber "
                + second.get().id()
                + " \\(Gretel\\).*")
        .withMessageMatching(
            "(?s).*fiber \\d+ \\(Gretel\\) WAITING on thread \\d, waits for the end of fiber "
                + first.id()
                + " \\(Hansel\\).*");
  }

  @Test
  void aSuspensionAndALockAreNamedToo() throws Exception {
    Scheduler scheduler = failing(2, false);
    ReentrantLock lock = new ReentrantLock();
    Object monitor = new Object();
    Fiber<Void> holder =
        scheduler.go(
            FiberOptions.named("holder"),
            () -> {
              lock.lock();
              synchronized (monitor) {
                Fiber.suspend();
              }
            });
    waits(holder);
    scheduler.go(FiberOptions.named("locker"), () -> lock.lock());
    scheduler.go(
        FiberOptions.named("enterer"),
        () -> {
          synchronized (monitor) {
            assertThat(Thread.holdsLock(monitor)).isTrue();
          }
        });
    assertThatIllegalStateException()
        .isThrownBy(scheduler::stop)
        .withMessageContaining("(holder)")
        .withMessageContaining("waits for schedule(fiber)")
        .withMessageContaining("(locker)")
        .withMessageContaining("ReentrantLock")
        .withMessageContaining("(enterer)");
  }

  @Test
  void runFailsIfThePropertyIsSet() {
    System.setProperty("weft.failOnDeadlock", "true");
    try {
      assertThatIllegalStateException()
          .isThrownBy(() -> Weft.run(() -> Fiber.suspend()))
          .withMessageContaining("deadlock")
          .withMessageContaining("(main)");
    } finally {
      System.clearProperty("weft.failOnDeadlock");
    }
  }

  @Test
  void byDefaultADeadlockIsLoggedOnceAndOnlyIfNothingCanEndIt() throws Exception {
    Pipe pipe = Pipe.open();
    try (LogCapture log = new LogCapture()) {
      Scheduler dead = Scheduler.builder().threads(2).name("dead").build().start();
      Fiber<Void> inDead = dead.go(FiberOptions.named("hopeless"), () -> Fiber.suspend());
      Scheduler hopeful = Scheduler.builder().threads(2).name("hopeful").build().start();
      Body[] hopes = {
        () -> Fiber.sleep(Duration.ofHours(1)),
        () -> Thread.sleep(Duration.ofHours(1)),
        () -> pipe.source().read(ByteBuffer.allocate(1)),
      };
      for (Body hope : hopes) { // any live fiber, of whatever scheduler, may wake the others
        Fiber<Void> living = hopeful.go(hope);
        waits(living);
        Thread.sleep(1_300); // longer than the time before a deadlock report
        assertThat(log.entries("deadlock")).isEmpty();
        living.cancel();
      }
      eventually(
          "the deadlock is reported", () -> !log.entries("deadlock", "dead", "hopeless").isEmpty());
      assertThat(log.entries("hopeless"))
          .singleElement()
          .satisfies(
              entry -> {
                assertThat(entry.level()).isEqualTo("WARNING");
                assertThat(entry.text()).contains("waits for schedule(fiber)");
              });
      // a plain thread still wakes them
      dead.schedule(inDead);
      dead.stop();
      hopeful.stop();
    } finally {
      pipe.sink().close();
    }
  }

  @Test
  @Feature("S25")
  void fibersThatAnotherSchedulersFiberWillWakeAreNoDeadlock() throws Exception {
    Scheduler waiting = failing(1, false);
    try (Scheduler sending = Scheduler.builder().threads(1).build().start()) {
      Channel<String> channel = Channel.rendezvous();
      Fiber<String> receiver = waiting.go(() -> channel.receive());
      sending.go(
          () -> {
            Fiber.sleep(Duration.ofMillis(300));
            channel.send("hi");
          });
      waiting.stop();
      assertThat(receiver.join()).isEqualTo("hi");
    }
  }

  @Test
  @Feature("S25")
  void aFiberThatHasSwitchedAwayAndWillComeBackIsNoDeadlock() throws Exception {
    Scheduler home = failing(1, false);
    try (Scheduler abroad = Scheduler.builder().threads(1).build().start()) {
      CountDownLatch left = new CountDownLatch(1);
      Fiber<String> traveller =
          home.go(
              () -> {
                Fiber.switchTo(abroad);
                left.countDown();
                Fiber.sleep(Duration.ofMillis(300));
                Fiber.switchTo(home);
                return "back";
              });
      Fiber<String> joiner = home.go(() -> traveller.join());
      left.await();
      home.stop();
      assertThat(joiner.join()).isEqualTo("back");
    }
  }

  @Test
  void afterTheFailureTheStuckFibersHaveBeenUnwound() {
    Scheduler scheduler = failing(1, false);
    AtomicReference<String> end = new AtomicReference<>("none");
    scheduler.go(
        () -> {
          try {
            Fiber.suspend();
          } finally {
            end.set("finally");
          }
        });
    assertThatIllegalStateException().isThrownBy(scheduler::stop).withMessageContaining("deadlock");
    assertThat(end).hasValue("finally");
  }

  /**
   * Each sleep ends by the JDK's own timer, at about the time when the scheduler checks for a
   * deadlock.
   */
  @Test
  void aFiberThatIsJustBeingWokenIsNoDeadlock() throws Exception {
    for (boolean useCaller : new boolean[] {true, false}) {
      Scheduler scheduler = failing(2, useCaller);
      Fiber<Void> waiting = scheduler.go(() -> Fiber.suspend());
      for (int i = 0; i < 2; i++) {
        int which = i;
        scheduler.go(
            () -> {
              for (int k = 0; k < 2_000; k++) {
                Thread.sleep(Duration.ofNanos(1_000 + 53 * k % 100_000));
              }
              if (which == 0) {
                scheduler.schedule(waiting);
              }
            });
      }
      scheduler.stop();
    }
  }

  /** The fibers of an idle scheduler wait while another scheduler has a timer. */
  @Test
  @Feature("S9")
  void aSchedulerThatGoesOnIsSeenBeforeAnyStack() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    try (Scheduler idle = Scheduler.builder().threads(1).build().start();
        Scheduler other = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> sleeper = other.go(() -> Fiber.sleep(Duration.ofHours(1)));
      waits(sleeper);
      List<Fiber<Void>> fibers = start(idle, 1_000, release);
      fibers.forEach(Eventually::waits);
      assertThat(DeadlockReport.ofStandstill((SchedulerCore) idle)).isNull();
      long before = THREADS.getCurrentThreadAllocatedBytes();
      String report = DeadlockReport.ofStandstill((SchedulerCore) idle);
      long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
      sleeper.cancel();
      release.countDown();
      assertThat(report).isNull();
      assertThat(allocated).as("less than for a stack of each fiber").isLessThan(100_000);
    }
  }

  /** No timer and no I/O is left, but the last fiber is in a call on a helper thread. */
  @Test
  @Feature("S9")
  void aLookAtVeryManyStacksIsNotSoonRepeated() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    try (Scheduler idle = Scheduler.builder().threads(1).name("many").build().start()) {
      start(idle, 20_000, release);
      idle.go(() -> Weft.blocking((Body) release::await));
      try {
        eventually("Weft looks for a deadlock", () -> looks(idle));
        eventually("the look has ended", () -> !looks(idle));
        long end = System.nanoTime();
        while (System.nanoTime() - end < 2_000_000_000) { // twice the time between quick looks
          assertThat(looks(idle)).as("Weft looks again").isFalse();
          LockSupport.parkNanos(1_000_000);
        }
      } finally {
        release.countDown();
      }
    }
  }

  private static List<Fiber<Void>> start(Scheduler scheduler, int count, CountDownLatch release) {
    return IntStream.range(0, count).mapToObj(i -> scheduler.go((Body) release::await)).toList();
  }

  private static boolean looks(Scheduler scheduler) {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals(scheduler.name() + "-deadlocks"));
  }
}
