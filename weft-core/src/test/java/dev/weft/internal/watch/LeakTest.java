package dev.weft.internal.watch;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.FiberOptions;
import dev.weft.LogCapture;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.channel.Channel;
import dev.weft.sync.ConditionVariable;
import dev.weft.sync.Mutex;
import dev.weft.testkit.Feature;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Leaks: fibers that wait for something that nothing alive can reach. */
@Feature("S25")
class LeakTest {
  private final Scheduler scheduler = Scheduler.builder().threads(2).name("leaky").build().start();
  private final AtomicInteger unwound = new AtomicInteger();

  @AfterEach
  void stop() {
    scheduler.stop(Duration.ofMillis(1));
  }

  /** Starts a fiber that nothing in this test references. */
  private void begin(String name, Body body) {
    waits(
        scheduler.go(
            FiberOptions.named(name),
            () -> {
              try {
                body.run();
              } finally {
                unwound.incrementAndGet();
              }
            }));
  }

  private List<String> leaks() {
    return scheduler.leaks().stream().map(FiberDump.Entry::name).toList();
  }

  private void beginUnreachable() {
    Channel<String> channel = Channel.rendezvous();
    begin("receiver", () -> channel.receive());
    Channel<String> full = Channel.rendezvous();
    begin("sender", () -> full.send("value"));
    Mutex mutex = new Mutex();
    ConditionVariable condition = new ConditionVariable();
    begin(
        "conditional",
        () -> {
          mutex.lock();
          try {
            condition.await(mutex);
          } finally {
            mutex.unlock();
          }
        });
    LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
    begin("taker", () -> queue.take());
    begin("parked", LockSupport::park);
    begin("suspended", Fiber::suspend);
  }

  @Test
  void waitsThatNothingCanEndAreFoundWhateverTheyWaitAt() {
    beginUnreachable();
    assertThat(leaks())
        .containsExactly("receiver", "sender", "conditional", "taker", "parked", "suspended");
    assertThat(scheduler.leaks().getFirst().waitsFor()).contains("a value from channel");
  }

  @Test
  void aLeakCheckChangesNothingAndACancelUnwindsLeakedFibers() {
    beginUnreachable();
    assertThat(leaks()).hasSize(6).isEqualTo(leaks());
    assertThat(scheduler.dump().fibers()).hasSize(6);
    assertThat(unwound).hasValue(0);
    assertThat(scheduler.stop(Duration.ofMillis(1))).isFalse();
    assertThat(unwound).hasValue(6);
  }

  @Test
  void eachOfManyChecksFindsTheSameThoughTheFinalizerThreadIsSlow() throws Exception {
    beginUnreachable();
    List<String> first = leaks();
    AtomicBoolean end = new AtomicBoolean();
    List<Thread> busy = new ArrayList<>(); // take the core from the finalizer thread at any place
    for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
      busy.add(
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    while (!end.get()) {
                      Thread.onSpinWait();
                    }
                  }));
    }
    try {
      for (int i = 0; i < 20; i++) {
        assertThat(leaks()).as("check %s", i).isEqualTo(first);
      }
    } finally {
      end.set(true);
      for (Thread each : busy) {
        each.join();
      }
    }
  }

  @Test
  void aWaitThatALivePartyCanReachIsNoLeak() throws Exception {
    Channel<String> ofThread = Channel.rendezvous();
    begin("reached by a plain thread", () -> ofThread.receive());
    Channel<String> ofSleeper = Channel.rendezvous();
    begin("reached by a sleeping fiber", () -> ofSleeper.receive());
    begin(
        "sleeper",
        () -> {
          Thread.sleep(Duration.ofHours(1));
          ofSleeper.send("late");
        });
    Channel<String> ofTimer = Channel.rendezvous();
    begin("reached by a timer", () -> ofTimer.receive());
    scheduler.timers().every(Duration.ofHours(1), () -> ofTimer.trySend("tick"));
    CountDownLatch end = new CountDownLatch(1);
    Fiber<Void> held = scheduler.go(FiberOptions.named("held"), () -> end.await());
    waits(held);
    begin("joins a fiber that is held", () -> held.join());
    try {
      assertThat(leaks()).isEmpty();
    } finally {
      Reference.reachabilityFence(ofThread);
      Reference.reachabilityFence(held);
    }
  }

  @Test
  void aFiberThatWaitsForALeakedFiberIsLeakedToo() {
    beginChain();
    assertThat(leaks()).containsExactly("first", "second");
  }

  private void beginChain() {
    Channel<String> channel = Channel.rendezvous();
    Fiber<String> first = scheduler.go(FiberOptions.named("first"), () -> channel.receive());
    begin("second", () -> first.join());
  }

  @Test
  void fibersThatRunOrEndDuringALeakCheckAreNotDisturbed() throws Exception {
    AtomicInteger sum = new AtomicInteger();
    Fiber<Void> busy =
        scheduler.go(
            () -> {
              while (sum.get() >= 0) {
                Channel<Integer> channel = Channel.rendezvous();
                Weft.go(() -> channel.send(1));
                sum.addAndGet(channel.receive());
              }
            });
    beginUnreachable();
    for (int i = 0; i < 3; i++) {
      assertThat(leaks()).hasSize(6);
    }
    int before = sum.get();
    eventually("the other fibers go on", () -> sum.get() > before);
    sum.set(-1_000_000_000);
    busy.join();
    eventually(
        "all fibers but the leaked fibers have ended", () -> scheduler.dump().fibers().size() == 6);
  }

  @Test
  void aRecurringTimerHidesNoDeadlockAndTheStuckFibersAreUnwound() {
    Scheduler ticking =
        Scheduler.builder().threads(1).name("ticking").failOnDeadlock(true).build().start();
    ticking.timers().every(Duration.ofMillis(20), () -> {});
    AtomicInteger cleaned = new AtomicInteger();
    ticking.go(
        FiberOptions.named("stuck"),
        () -> {
          try {
            Channel.<String>rendezvous().receive();
          } finally {
            cleaned.incrementAndGet();
          }
        });
    assertThatIllegalStateException()
        .isThrownBy(ticking::stop)
        .withMessageContaining("deadlock in scheduler ticking")
        .withMessageContaining("(stuck)")
        .withMessageContaining("a value from channel");
    assertThat(cleaned).hasValue(1);
  }

  /**
   * A reachable Fiber object could be used to cancel that fiber, so stop() goes on to wait for it,
   * and the log names the other fibers.
   */
  @Test
  void whileAStuckFiberIsReachableTheOthersAreLoggedAndStopFailsAfterIt() throws Exception {
    Scheduler ticking =
        Scheduler.builder().threads(1).name("ticking").failOnDeadlock(true).build().start();
    ticking.timers().every(Duration.ofMillis(20), () -> {});
    Body stuck = () -> Channel.<String>rendezvous().receive();
    Fiber<Void> kept = ticking.go(FiberOptions.named("kept"), stuck);
    ticking.go(FiberOptions.named("dropped"), stuck);
    CompletableFuture<Void> stopping =
        CompletableFuture.runAsync(ticking::stop, run -> Thread.ofPlatform().start(run));
    try (LogCapture log = new LogCapture()) {
      eventually("the leak is logged", () -> !log.entries("ticking", "(dropped)").isEmpty());
      assertThat(log.entries("(kept)")).isEmpty();
      assertThat(stopping).isNotDone();
    }
    kept.cancel();
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> stopping.get(30, TimeUnit.SECONDS))
        .havingCause()
        .withMessageContaining("deadlock in scheduler ticking")
        .withMessageContaining("(dropped)");
  }

  @Test
  void fibersThatARecurringTimerWillWakeAreNoDeadlock() {
    Scheduler ticking =
        Scheduler.builder().threads(1).name("ticking").failOnDeadlock(true).build().start();
    AtomicInteger ticks = new AtomicInteger();
    Channel<String> channel = Channel.rendezvous();
    ticking
        .timers()
        .every(
            Duration.ofMillis(100),
            () -> {
              if (ticks.incrementAndGet() >= 25) { // later than the deadlock check
                channel.trySend("tick");
              }
            });
    ticking.go(() -> channel.receive());
    ticking.stop();
    assertThat(ticks.get()).isGreaterThanOrEqualTo(25);
  }

  @Test
  void leaksThatKeepRunFromEndingAreLoggedIfAskedFor() throws Exception {
    System.setProperty("weft.leaks", "report");
    try (LogCapture log = new LogCapture()) {
      Thread running =
          Thread.ofPlatform()
              .start(
                  () ->
                      Weft.run(
                          () -> {
                            Channel<String> forgotten = Channel.rendezvous();
                            Scheduler.current()
                                .orElseThrow()
                                .go(FiberOptions.named("forgotten"), () -> forgotten.receive());
                          }));
      eventually("the leak is logged", () -> !log.entries("weft-main", "forgotten").isEmpty());
      Watchdog.fibers()
          .filter(fiber -> fiber.name().equals("forgotten"))
          .forEach(Fiber::cancel); // otherwise Weft.run would wait for ever
      running.join();
    } finally {
      System.clearProperty("weft.leaks");
    }
  }
}
