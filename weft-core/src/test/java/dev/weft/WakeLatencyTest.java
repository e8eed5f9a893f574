package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.io.IoEvent;
import dev.weft.testkit.Feature;
import dev.weft.time.Timer;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A ready fiber does not wait behind a fiber that computes while another worker sleeps. The row
 * promises a median of 1 ms on an idle machine, which {@code ./weft bench wake-while-busy}
 * measures; here the median may be 5 ms, and the best of a few medians counts, because the machine
 * may be busy. The watchdog, which takes over after 20 ms at the earliest, never meets that.
 */
@Feature("S24")
class WakeLatencyTest {
  /** Of how many wake-ups each median is. */
  private static final int ROUNDS = 9;

  /** How many medians there are at most; the first that is short enough is the last. */
  private static final int MEDIANS = 5;

  /** How long the waker computes; without the sentry the woken fiber starts after 20 ms or more. */
  private static final Duration HELD = Duration.ofMillis(40);

  /** After how long a timer is due, or a pipe ready, while a fiber computes. */
  private static final Duration WAIT = Duration.ofMillis(2);

  /** How many fibers wait then: one at least, of those dealt out, on the worker that computes. */
  private static final int WAITERS = 2;

  private static final Duration MOST = Duration.ofMillis(5);

  private static Stream<Arguments> policies() {
    return Stream.of(
        Arguments.of("fifo", Policy.fifo()),
        Arguments.of("priority", Policy.priority()),
        Arguments.of("responseRatio", Policy.responseRatio()),
        Arguments.of("timeSlice", Policy.timeSlice(Duration.ofMillis(5))),
        Arguments.of("workStealing", Policy.workStealing()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void newFibersStartWhileTheirStarterComputes(String name, Policy policy) throws Exception {
    assertSoon(
        policy,
        () -> {
          long[] started = new long[2]; // one of the two is placed on the worker of its starter
          long start = System.nanoTime();
          List<Fiber<Void>> fibers = new ArrayList<>();
          for (int i = 0; i < started.length; i++) {
            int index = i;
            Body body = () -> started[index] = System.nanoTime();
            fibers.add(Weft.go(body));
          }
          return nanosUntilLast(fibers, started, start);
        });
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void aWokenFiberStartsWhileItsWakerComputes(String name, Policy policy) throws Exception {
    assertSoon(policy, () -> nanosUntilAllHaveStarted(1));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void theLastOfThreeWokenFibersStartsToo(String name, Policy policy) throws Exception {
    assertSoon(policy, () -> nanosUntilAllHaveStarted(3));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void aFiberWhoseTimerIsDueStartsWhileItsWorkerComputes(String name, Policy policy)
      throws Exception {
    assertSoon(
        policy,
        () -> {
          long[] late = new long[WAITERS];
          List<Fiber<Void>> fibers = new ArrayList<>();
          for (int i = 0; i < WAITERS; i++) {
            int index = i;
            Body body =
                () -> {
                  long due = System.nanoTime() + WAIT.toNanos();
                  Fiber.sleep(WAIT);
                  late[index] = System.nanoTime() - due;
                };
            fibers.add(Weft.go(body));
          }
          awaitWaiting(fibers);
          return nanosUntilLast(fibers, late, 0);
        });
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void aTimerThatAFiberSetsFiresWhileThatFiberComputes(String name, Policy policy)
      throws Exception {
    assertSoon(
        policy,
        () -> {
          CompletableFuture<Long> started = new CompletableFuture<>();
          long due = System.nanoTime() + WAIT.toNanos();
          Scheduler.current()
              .orElseThrow()
              .timers()
              .after(WAIT, () -> started.complete(System.nanoTime()));
          Busy.compute(HELD);
          return started.get() - due;
        });
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void aFiberWhosePipeIsReadyStartsWhileItsWorkerComputes(String name, Policy policy)
      throws Exception {
    List<Pipe> pipes = new ArrayList<>();
    for (int i = 0; i < WAITERS; i++) {
      Pipe pipe = Pipe.open();
      pipe.source().configureBlocking(false);
      pipes.add(pipe);
    }
    try {
      assertSoon(policy, () -> nanosUntilAllHaveRead(pipes));
    } finally {
      for (Pipe pipe : pipes) {
        pipe.sink().close();
        pipe.source().close();
      }
    }
  }

  /** A plain thread writes to the pipes after a moment, while a fiber computes. */
  private static long nanosUntilAllHaveRead(List<Pipe> pipes) throws Exception {
    long[] read = new long[pipes.size()];
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < read.length; i++) {
      int index = i;
      Pipe.SourceChannel source = pipes.get(i).source();
      Body body =
          () -> {
            Scheduler.current().orElseThrow().io().await(source, IoEvent.READ, Duration.ZERO);
            read[index] = System.nanoTime();
            source.read(ByteBuffer.allocate(1));
          };
      fibers.add(Weft.go(body));
    }
    awaitWaiting(fibers);
    CompletableFuture<Long> written = new CompletableFuture<>();
    Thread.ofPlatform()
        .start(
            () -> {
              try {
                Thread.sleep(WAIT);
                long start = System.nanoTime();
                for (Pipe pipe : pipes) {
                  pipe.sink().write(ByteBuffer.allocate(1));
                }
                written.complete(start);
              } catch (Exception e) {
                written.completeExceptionally(e);
              }
            });
    long last = nanosUntilLast(fibers, read, 0);
    return last - written.get();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void fibersThatAPlainThreadStartsBeginWhileAWorkerWithATimerComputes(String name, Policy policy)
      throws Exception {
    assertSoon(policy, () -> withATimer(() -> nanosUntilAllHaveBegun(false)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void aDumpHidesNoReadyFiber(String name, Policy policy) throws Exception {
    assertSoon(policy, () -> nanosUntilAllHaveBegun(true));
  }

  /** A plain thread starts fibers, at least one on the worker that computes, and may dump then. */
  private static long nanosUntilAllHaveBegun(boolean dumps) throws Exception {
    Scheduler scheduler = Scheduler.current().orElseThrow();
    return whileAWorkerComputes(
        () -> {
          long[] begun = new long[WAITERS];
          List<Fiber<Void>> fibers = new ArrayList<>();
          long start = System.nanoTime();
          for (int i = 0; i < WAITERS; i++) {
            int index = i;
            Body body = () -> begun[index] = System.nanoTime();
            fibers.add(scheduler.go(body));
          }
          if (dumps) {
            scheduler.dump();
          }
          return latest(fibers, begun) - start;
        });
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("policies")
  void fibersThatAPlainThreadWakesStartWhileAWorkerWithATimerComputes(String name, Policy policy)
      throws Exception {
    assertSoon(
        policy,
        () -> {
          CountDownLatch gate = new CountDownLatch(1);
          long[] started = new long[WAITERS];
          List<Fiber<Void>> fibers = waiting(gate, started);
          return withATimer(
              () ->
                  whileAWorkerComputes(
                      () -> {
                        long start = System.nanoTime();
                        gate.countDown();
                        return latest(fibers, started) - start;
                      }));
        });
  }

  /** Does the same with a timer pending: the sentry does the duties of the worker, and looks. */
  private static long withATimer(Callable<Long> measure) throws Exception {
    Timer pending =
        Scheduler.current().orElseThrow().timers().after(Duration.ofMinutes(1), () -> {});
    try {
      return measure.call();
    } finally {
      pending.cancel();
    }
  }

  /** Computes while a plain thread measures something. */
  private static long whileAWorkerComputes(Callable<Long> measure) throws Exception {
    FutureTask<Long> measured =
        new FutureTask<>(
            () -> {
              Thread.sleep(WAIT);
              return measure.call();
            });
    Thread.ofPlatform().start(measured);
    Busy.compute(HELD);
    return measured.get();
  }

  private static long nanosUntilAllHaveStarted(int count) throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    long[] started = new long[count];
    List<Fiber<Void>> fibers = waiting(gate, started);
    long start = System.nanoTime();
    gate.countDown();
    return nanosUntilLast(fibers, started, start);
  }

  /** Returns fibers that wait for the gate, and then note the time. */
  private static List<Fiber<Void>> waiting(CountDownLatch gate, long[] started) {
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < started.length; i++) {
      int index = i;
      Body body =
          () -> {
            gate.await();
            started[index] = System.nanoTime();
          };
      fibers.add(Weft.go(body));
    }
    awaitWaiting(fibers);
    return fibers;
  }

  private static void awaitWaiting(List<Fiber<Void>> fibers) {
    for (Fiber<Void> fiber : fibers) {
      while (fiber.status() != Fiber.Status.WAITING && !fiber.isDone()) { // done: a busy machine
        Fiber.yield();
      }
    }
  }

  private static long nanosUntilLast(List<Fiber<Void>> fibers, long[] started, long start)
      throws InterruptedException {
    Busy.compute(HELD);
    return latest(fibers, started) - start;
  }

  private static long latest(List<Fiber<Void>> fibers, long[] started) throws InterruptedException {
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
    return Arrays.stream(started).max().orElseThrow();
  }

  private static void assertSoon(Policy policy, Callable<Long> wake) throws Exception {
    List<Duration> medians = new ArrayList<>();
    try (Scheduler scheduler = Scheduler.builder().threads(2).policy(policy).build().start()) {
      do {
        medians.add(median(scheduler, wake));
      } while (medians.getLast().compareTo(MOST) > 0 && medians.size() < MEDIANS);
    }
    assertThat(medians.getLast()).as("the last of the medians %s", medians).isLessThan(MOST);
  }

  private static Duration median(Scheduler scheduler, Callable<Long> wake) throws Exception {
    long[] nanos = new long[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
      nanos[i] = scheduler.go(wake).join();
    }
    Arrays.sort(nanos);
    return Duration.ofNanos(nanos[ROUNDS / 2]);
  }
}
