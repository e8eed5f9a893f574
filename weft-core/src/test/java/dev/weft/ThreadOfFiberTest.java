package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code fiber.thread()} is started, and ends with the fiber; the fiber is live until its thread
 * has ended.
 */
class ThreadOfFiberTest {
  private static final Duration LONG = Duration.ofSeconds(15);

  /** A scheduler with one thread, which is busy until the test releases it. */
  private static final class Busy implements AutoCloseable {
    final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
    private final AtomicBoolean over = new AtomicBoolean();

    Busy() {
      CountDownLatch spins = new CountDownLatch(1);
      scheduler.go(
          () -> {
            spins.countDown();
            while (!over.get()) {
              Thread.onSpinWait();
            }
          });
      try {
        spins.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    void release() {
      over.set(true);
    }

    @Override
    public void close() {
      release();
      scheduler.stop();
    }
  }

  @Test
  @Feature("S26")
  void theThreadIsStartedBeforeTheFirstSlice() throws Exception {
    try (Busy busy = new Busy()) {
      AtomicReference<Thread> ranIn = new AtomicReference<>();
      Fiber<Void> fiber = busy.scheduler.go(() -> ranIn.set(Thread.currentThread()));
      Thread thread = fiber.thread();
      assertThat(thread.getState()).isEqualTo(Thread.State.RUNNABLE);
      assertThat(thread.isAlive()).isTrue();
      assertThat(thread.join(Duration.ofMillis(1))).as("joined").isFalse();
      assertThat(fiber.status()).isEqualTo(Fiber.Status.READY);
      busy.release();
      assertThat(thread.join(LONG)).isTrue();
      assertThat(fiber.status()).isEqualTo(Fiber.Status.DONE);
      assertThat(thread.getState()).isEqualTo(Thread.State.TERMINATED);
      assertThat(fiber.thread()).isSameAs(thread).isSameAs(ranIn.get());
    }
  }

  @Test
  @Feature("S26")
  void joiningTheThreadIsJoiningTheFiber() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      for (int i = 0; i < 200; i++) {
        Fiber<Void> fiber = scheduler.go(() -> Fiber.sleep(Duration.ofNanos(100_000)));
        fiber.thread().join();
        assertThat(fiber.status()).isEqualTo(Fiber.Status.DONE);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Feature("S26")
  void aFiberCancelledBeforeItsFirstSliceHasAThreadThatEnds(boolean askedBefore) throws Exception {
    try (Busy busy = new Busy()) {
      AtomicBoolean ran = new AtomicBoolean();
      Fiber<Void> fiber = busy.scheduler.go(() -> ran.set(true));
      Thread before = askedBefore ? fiber.thread() : null;
      assertThat(fiber.cancel()).isTrue();
      Thread thread = fiber.thread();
      assertThat(thread.isAlive()).isTrue();
      busy.release();
      assertThat(thread.join(LONG)).isTrue();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join);
      assertThat(ran).isFalse();
      assertThat(fiber.thread()).isSameAs(thread);
      assertThat(thread).isSameAs(before == null ? thread : before);
    }
  }

  @Test
  @Feature("S26")
  void theThreadOfAnEndedFiberHasEndedAlsoIfItIsFirstAskedForThen() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> fiber = scheduler.go(FiberOptions.named("named"), () -> {});
      fiber.join();
      eventually("the fiber is retired", () -> scheduler.stats().ended() == 1);
      Thread thread = fiber.thread();
      assertThat(thread.getState()).isEqualTo(Thread.State.TERMINATED);
      assertThat(thread.isVirtual()).isTrue();
      assertThat(thread.getName()).isEqualTo("named");
      assertThat(fiber.thread()).isSameAs(thread);
      Fiber<Void> asker =
          scheduler.go(
              () -> {
                Fiber<Void> ended = scheduler.go(() -> {});
                ended.join();
                assertThat(ended.thread().join(LONG)).isTrue();
              });
      asker.join();
    }
  }

  @Test
  @Feature("S26")
  void theThreadOfAFiberThatNeverRanHasEndedAfterStop() {
    Scheduler scheduler = Scheduler.builder().threads(1).build();
    Fiber<Void> fiber = scheduler.go(() -> {});
    Fiber<Void> asked = scheduler.go(() -> {});
    Thread thread = asked.thread();
    scheduler.stop();
    assertThat(fiber.thread().getState()).isEqualTo(Thread.State.TERMINATED);
    assertThat(thread.getState()).isEqualTo(Thread.State.TERMINATED);
  }

  @Test
  @Feature("S26")
  void theThreadInheritsWhatTheFiberInherits() throws Exception {
    InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
    ScopedValue<String> value = ScopedValue.newInstance();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<String> outer =
          scheduler.go(
              () -> {
                local.set("inherited");
                return ScopedValue.where(value, "bound")
                    .call(
                        () -> {
                          try (Scope scope = Scope.open()) {
                            Fiber<String> inner = scope.go(() -> local.get() + " " + value.get());
                            local.set("too late");
                            assertThat(inner.thread().isAlive()).isTrue();
                            scope.join();
                            return inner.join();
                          }
                        });
              });
      assertThat(outer.join()).isEqualTo("inherited bound");
    }
  }

  @Test
  @Feature("S26")
  void theThreadCanBeAskedForBeforeTheFiberIsQueued() throws Exception {
    AtomicInteger ran = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    Scope.Joiner<Void> joiner =
        new Scope.Joiner<>() {
          @Override
          public boolean onGo(Fiber<?> fiber) {
            threads.add(fiber.thread());
            assertThat(fiber.status()).isEqualTo(Fiber.Status.READY);
            return false;
          }

          @Override
          public Void result() {
            return null;
          }
        };
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> opener =
          scheduler.go(
              () -> {
                try (Scope scope = Scope.open(joiner)) {
                  scope.go(
                      () -> {
                        ran.incrementAndGet();
                        Fiber.yield();
                        ran.incrementAndGet();
                      });
                  scope.join();
                }
              });
      opener.join();
      assertThat(ran).hasValue(2);
      assertThat(threads).hasSize(1);
      assertThat(threads.getFirst().join(LONG)).isTrue();
      eventually("all fibers are counted", () -> scheduler.stats().ended() == 2);
    }
  }

  /** Callers of thread(), canceller and worker meet at the start of each fiber. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Feature("S26")
  void theThreadIsStartedOnceByWhicheverSide(boolean cancelled) throws Exception {
    int rounds = 3_000;
    AtomicInteger ran = new AtomicInteger();
    AtomicReference<Fiber<?>> next = new AtomicReference<>();
    AtomicInteger notStarted = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Thread asker =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!over.get()) {
                      Fiber<?> fiber = next.get();
                      if (fiber != null && fiber.thread().getState() == Thread.State.NEW) {
                        notStarted.incrementAndGet();
                      }
                    }
                  });
      int begun = 0;
      for (int i = 0; i < rounds; i++) {
        Fiber<Integer> fiber = scheduler.go(ran::incrementAndGet);
        next.set(fiber);
        if (cancelled && !fiber.cancel()) {
          begun++;
        }
        Thread thread = fiber.thread();
        assertThat(thread.join(LONG)).isTrue();
        assertThat(fiber.status()).isEqualTo(Fiber.Status.DONE);
        assertThat(fiber.thread()).isSameAs(thread);
      }
      over.set(true);
      asker.join();
      assertThat(ran.get()).isBetween(cancelled ? begun : rounds, rounds);
      assertThat(notStarted).hasValue(0);
      eventually("all fibers are counted", () -> scheduler.stats().ended() == rounds);
    }
  }

  /** Opens a {@code StructuredTaskScope}, a preview API, and leaves it open. */
  private static void leaveScopeOpen(Runnable child) throws Exception {
    Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
    Object scope = type.getMethod("open").invoke(null);
    type.getMethod("fork", Runnable.class).invoke(scope, child);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean done = false;
    while (!done) {
      try {
        latch.await();
        done = true;
      } catch (InterruptedException e) {
        // the JDK cancels the scope: wait on
      }
    }
  }

  @Test
  @Feature("S23")
  void aFiberIsLiveUntilItsThreadHasClosedTheScopesThatItsBodyLeftOpen() throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(1).build().start();
    CountDownLatch release = new CountDownLatch(1);
    AtomicBoolean childEnded = new AtomicBoolean();
    Fiber<Void> fiber =
        scheduler.go(
            FiberOptions.named("host"),
            () ->
                leaveScopeOpen(
                    () -> {
                      awaitUninterruptibly(release);
                      childEnded.set(true);
                    }));
    Thread thread = fiber.thread();
    fiber.join();
    assertThat(fiber.toFuture()).isCompleted();
    eventually("the fiber waits for the scope", core(fiber)::isWaiting);
    assertThat(thread.getState()).isEqualTo(Thread.State.WAITING);
    assertThat(childEnded).isFalse();
    assertThat(scheduler.stats().ended()).isZero();
    assertThat(scheduler.dump().fibers())
        .filteredOn(entry -> entry.name().equals("host"))
        .singleElement()
        .satisfies(
            entry -> {
              assertThat(entry.status()).isEqualTo(Fiber.Status.DONE);
              assertThat(entry.waitsFor()).contains("park");
            });
    Thread stopper = Thread.ofPlatform().start(scheduler::stop);
    assertThat(stopper.join(Duration.ofMillis(50))).as("stopped").isFalse();
    release.countDown();
    assertThat(stopper.join(LONG)).isTrue();
    assertThat(childEnded).isTrue();
    assertThat(thread.getState()).isEqualTo(Thread.State.TERMINATED);
    assertThat(scheduler.stats().ended()).isEqualTo(2);
    assertThat(scheduler.dump().fibers()).isEmpty();
  }

  @Test
  @Feature("S21")
  void anEndedFiberKeepsNoThreadThatWasNotAskedFor() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> fiber = scheduler.go(() -> Fiber.suspend());
      waits(fiber);
      assertThat(core(fiber).threadOrNull()).isNotNull();
      scheduler.schedule(fiber);
      fiber.join();
      eventually("the fiber is retired", () -> scheduler.stats().ended() == 1);
      assertThat(core(fiber).threadOrNull()).isNull();
    }
  }
}
