package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Fiber.Status.WAITING;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weft.FiberPool.WhenFull;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An executor with a limited number of fibers and a bounded queue, and its behaviour when both are
 * full.
 */
@Feature("S13")
@Timeout(60)
class FiberPoolTest {
  private final List<String> uncaught = new CopyOnWriteArrayList<>();
  private final Scheduler scheduler =
      Scheduler.builder()
          .threads(2)
          .name("test")
          .onUncaught((fiber, failure) -> uncaught.add(fiber.name() + ": " + failure.getMessage()))
          .build();
  private final CountDownLatch open = new CountDownLatch(1);
  private final List<Object> ran = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    open.countDown();
    scheduler.stop(Duration.ofSeconds(10));
  }

  private FiberPool.Builder pool() {
    return FiberPool.builder().scheduler(scheduler).name("p").keepAlive(Duration.ofHours(1));
  }

  private Runnable task(Object name) {
    return () -> {
      awaitOpen();
      ran.add(name);
    };
  }

  private void awaitOpen() {
    try {
      open.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void waitsForRoom(Thread submitter, FiberPool pool) {
    eventually("the submitter waits for room", () -> LockSupport.getBlocker(submitter) == pool);
  }

  private static long fiberId() {
    return Fiber.current().orElseThrow().id();
  }

  // ---- fibers ----

  @Test
  void tasksShareALimitedNumberOfFibers() throws Exception {
    Set<Long> fibers = ConcurrentHashMap.newKeySet();
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    scheduler.start();
    try (FiberPool pool = pool().fibers(4).build()) {
      for (int i = 0; i < 1_000; i++) {
        pool.execute(
            () -> {
              fibers.add(fiberId());
              most.accumulateAndGet(running.incrementAndGet(), Math::max);
              Fiber.yield();
              running.decrementAndGet();
              ran.add("x");
            });
      }
    }
    assertThat(ran).hasSize(1_000);
    assertThat(fibers).hasSizeBetween(1, 4);
    assertThat(most.get()).isBetween(1, 4);
  }

  @Test
  void aFiberIsMadeOnlyIfNoneIsFree() throws Exception {
    Set<Long> fibers = ConcurrentHashMap.newKeySet();
    scheduler.start();
    try (FiberPool pool = pool().fibers(100).build()) {
      for (int i = 0; i < 100; i++) {
        pool.submit(() -> fibers.add(fiberId())).get();
        eventually("the fiber is idle again", () -> pool.idle() == 1);
      }
      assertThat(fibers).hasSize(1);
      assertThat(pool.fibers()).isEqualTo(1);
    }
  }

  @Test
  void fibersAreMadeInBatches() {
    FiberPool pool = pool().fibers(8).growBy(3).build(); // its scheduler is not started
    List<Integer> fibers = new ArrayList<>();
    List<Integer> queued = new ArrayList<>();
    fibers.add(pool.fibers());
    for (int i = 0; i < 10; i++) {
      pool.execute(task(i));
      fibers.add(pool.fibers());
      queued.add(pool.queued());
    }
    assertThat(fibers).containsExactly(0, 3, 3, 3, 6, 6, 6, 8, 8, 8, 8);
    assertThat(queued).containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 1, 2);
    open.countDown();
    scheduler.start();
    pool.close();
    assertThat(ran).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(pool.fibers()).isZero();
  }

  @Test
  void aFiberWithoutTasksEndsAfterAWhileAndTheSchedulerCanStop() throws Exception {
    scheduler.start();
    FiberPool pool = pool().keepAlive(Duration.ofMillis(1)).build();
    assertThat(pool.submit(() -> "first").get()).isEqualTo("first");
    eventually("the idle fiber ends", () -> pool.fibers() == 0);
    assertThat(pool.submit(() -> "second").get()).isEqualTo("second");
    scheduler.stop();
    assertThat(pool.fibers()).isZero();
  }

  @Test
  void tasksOfOneFiberShareItsThreadLocalsButNotItsInterruptStatus() throws Exception {
    ThreadLocal<String> local = ThreadLocal.withInitial(() -> "initial");
    scheduler.start();
    try (FiberPool pool = pool().fibers(1).build()) {
      pool.submit(() -> local.set("left behind")).get();
      pool.submit(() -> Thread.currentThread().interrupt()).get();
      assertThat(pool.submit(local::get).get()).isEqualTo("left behind");
      assertThat(pool.submit(() -> Thread.currentThread().isInterrupted()).get()).isFalse();
    }
  }

  @Test
  void itsFibersHaveThePoolsNameAndNumbers() throws Exception {
    scheduler.start();
    try (FiberPool pool = pool().name("crew").fibers(1).build()) {
      assertThat(pool.submit(() -> Fiber.current().orElseThrow().name()).get()).isEqualTo("crew-1");
      assertThat(pool.name()).isEqualTo("crew");
    }
  }

  @Test
  void theSchedulerIsTheCurrentOrTheSharedScheduler() throws Exception {
    scheduler.start();
    Fiber<Scheduler> inside =
        scheduler.go(
            () -> {
              try (FiberPool pool = FiberPool.builder().build()) {
                return pool.submit(() -> Scheduler.current().orElseThrow()).get();
              }
            });
    assertThat(inside.join()).isSameAs(scheduler);
    try (FiberPool pool = FiberPool.builder().build()) {
      assertThat(pool.submit(() -> Scheduler.current().orElseThrow()).get())
          .isSameAs(Scheduler.shared());
    }
  }

  // ---- full ----

  @Test
  void rejectNamesThePoolAndItsBounds() {
    scheduler.start();
    FiberPool pool = pool().fibers(1).queue(2).whenFull(WhenFull.REJECT).build();
    pool.execute(task("running"));
    pool.execute(task("queued 1"));
    pool.execute(task("queued 2"));
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> pool.execute(task("too many")))
        .withMessageContaining("fiber pool p")
        .withMessageContaining("1 fibers")
        .withMessageContaining("queue holds 2");
    open.countDown();
    pool.close();
    assertThat(ran).containsExactly("running", "queued 1", "queued 2");
  }

  @Test
  void runInCallerRunsTheTaskInTheCallerAtOnce() {
    scheduler.start();
    FiberPool pool = pool().fibers(1).queue(1).whenFull(WhenFull.RUN_IN_CALLER).build();
    pool.execute(task("running"));
    pool.execute(task("queued"));
    Thread caller = Thread.currentThread();
    pool.execute(() -> ran.add(Thread.currentThread() == caller ? "by the caller" : "elsewhere"));
    assertThat(ran).containsExactly("by the caller");
    open.countDown();
    pool.close();
    assertThat(ran).containsExactly("by the caller", "running", "queued");
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> pool.execute(task("after the end")));
  }

  @Test
  void waitingSubmittersAreServedInFifoOrder() throws Exception {
    scheduler.start();
    FiberPool pool = pool().fibers(1).queue(1).build();
    pool.execute(task("running"));
    pool.execute(task("queued"));
    List<Thread> submitters = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      Thread submitter = Thread.ofPlatform().start(() -> pool.execute(task(number)));
      waitsForRoom(submitter, pool);
      submitters.add(submitter);
    }
    assertThat(pool.queued()).isEqualTo(1);
    assertThat(ran).isEmpty();
    open.countDown();
    for (Thread submitter : submitters) {
      submitter.join();
    }
    pool.close();
    assertThat(ran).containsExactly("running", "queued", 0, 1, 2, 3);
  }

  @Test
  void aWaitingFiberLeavesItsThreadToThePool() throws Exception {
    try (Scheduler single = Scheduler.builder().threads(1).build()) {
      FiberPool pool = FiberPool.builder().scheduler(single).fibers(1).queue(1).build();
      Fiber<Void> submitter =
          single.go(
              () -> {
                for (int i = 0; i < 100; i++) {
                  int number = i;
                  pool.execute(() -> ran.add(number));
                }
              });
      single.start();
      submitter.join();
      pool.close();
    }
    assertThat(ran).isEqualTo(IntStream.range(0, 100).boxed().toList());
  }

  @Test
  void withoutAQueueATaskGoesToAFreeFiberOrWaits() throws Exception {
    scheduler.start();
    FiberPool pool = pool().fibers(2).queue(0).build();
    pool.execute(task("a"));
    pool.execute(task("b"));
    Thread submitter = Thread.ofPlatform().start(() -> pool.execute(task("c")));
    waitsForRoom(submitter, pool);
    assertThat(pool.queued()).isZero();
    open.countDown();
    submitter.join();
    pool.close();
    assertThat(ran).containsExactlyInAnyOrder("a", "b", "c");
  }

  @Test
  void anInterruptedSubmitterIsRefusedAndStaysInterrupted() throws Exception {
    scheduler.start();
    FiberPool pool = pool().fibers(1).queue(0).build();
    pool.execute(task("running"));
    AtomicReference<Object> outcome = new AtomicReference<>();
    AtomicBoolean stillInterrupted = new AtomicBoolean();
    Thread submitter =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    pool.execute(task("never"));
                  } catch (RejectedExecutionException e) {
                    outcome.set(e);
                    stillInterrupted.set(Thread.currentThread().isInterrupted());
                  }
                });
    waitsForRoom(submitter, pool);
    submitter.interrupt();
    submitter.join();
    assertThat(outcome.get()).isInstanceOf(RejectedExecutionException.class);
    assertThat(stillInterrupted).isTrue();
    open.countDown();
    pool.close();
    assertThat(ran).containsExactly("running");
  }

  @Test
  void aCancelledSubmitterIsRefused() throws Exception {
    scheduler.start();
    FiberPool pool = pool().fibers(1).queue(0).build();
    pool.execute(task("running"));
    CountDownLatch begun = new CountDownLatch(1);
    Fiber<Void> submitter =
        scheduler.go(
            () -> {
              begun.countDown();
              try {
                pool.execute(task("never"));
              } catch (RejectedExecutionException e) {
                ran.add("refused, interrupted: " + Thread.currentThread().isInterrupted());
              }
            });
    begun.await();
    submitter.cancel();
    eventually("the submitter ends", () -> submitter.status() == Fiber.Status.DONE);
    assertThat(ran).containsExactly("refused, interrupted: true");
    open.countDown();
    pool.close();
    assertThat(ran).hasSize(2).doesNotContain("never");
  }

  @Test
  void boundsAreChecked() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FiberPool.builder().fibers(0))
        .withMessage("fibers must be 1 or more, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FiberPool.builder().growBy(0))
        .withMessage("growBy must be 1 or more, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FiberPool.builder().queue(-1))
        .withMessage("queue must be 0 or more, not -1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FiberPool.builder().keepAlive(Duration.ofNanos(-1)));
  }

  // ---- failures ----

  @Test
  void aFailureIsInTheFutureOrReportedAndTheFiberGoesOn() throws Exception {
    scheduler.start();
    Set<Long> fibers = ConcurrentHashMap.newKeySet();
    try (FiberPool pool = pool().fibers(1).build()) {
      Future<?> failed =
          pool.submit(
              () -> {
                fibers.add(fiberId());
                throw new IllegalArgumentException("of submit");
              });
      pool.execute(
          () -> {
            fibers.add(fiberId());
            throw new IllegalStateException("of execute");
          });
      pool.execute(
          () -> {
            fibers.add(fiberId());
            throw new StackOverflowError("deliberate");
          });
      Future<?> last = pool.submit(() -> fibers.add(fiberId()));
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(failed::get)
          .withCauseInstanceOf(IllegalArgumentException.class);
      last.get();
    }
    assertThat(fibers).hasSize(1);
    assertThat(uncaught).containsExactly("p-1: of execute", "p-1: deliberate");
  }

  @Test
  void cancellingAFutureInterruptsItsTaskOnly() throws Exception {
    scheduler.start();
    CountDownLatch begun = new CountDownLatch(1);
    try (FiberPool pool = pool().fibers(1).build()) {
      Future<?> sleeper =
          pool.submit(
              () -> {
                begun.countDown();
                Fiber.sleep(Duration.ofHours(1));
                return "never";
              });
      begun.await();
      Future<Boolean> next =
          pool.submit(
              () -> {
                Fiber.sleep(Duration.ofMillis(1));
                return Thread.currentThread().isInterrupted();
              });
      sleeper.cancel(true);
      assertThat(next.get()).isFalse();
      assertThat(pool.fibers()).isEqualTo(1);
    }
  }

  @Test
  void otherFibersTakeOverFromACancelledFiber() throws Exception {
    scheduler.start();
    try (FiberPool pool = pool().fibers(1).build()) {
      pool.execute(
          () -> {
            awaitOpen();
            Fiber.current().orElseThrow().cancel();
          });
      pool.execute(task("a"));
      pool.execute(task("b"));
      open.countDown();
    }
    assertThat(ran).containsExactly("a", "b");
  }

  @Test
  void otherFibersTakeOverFromFibersCancelledBeforeTheirStart() {
    open.countDown();
    FiberPool pool = pool().fibers(2).build();
    for (int i = 0; i < 5; i++) {
      pool.execute(task(i));
    }
    assertThat(core(scheduler).fibers().filter(Fiber::cancel)).hasSize(2);
    scheduler.start();
    pool.close();
    assertThat(ran).containsExactlyInAnyOrder(0, 1, 2, 3, 4);
  }

  @Test
  void aSubmitterThatWaitsForRoomGetsTheReplacementOfACancelledFiber() throws Exception {
    FiberPool pool = pool().fibers(1).queue(0).build();
    open.countDown();
    pool.execute(task("a"));
    Thread submitter = Thread.ofPlatform().start(() -> pool.execute(task("b")));
    waitsForRoom(submitter, pool);
    assertThat(core(scheduler).fibers().filter(Fiber::cancel)).hasSize(1);
    scheduler.start();
    submitter.join();
    pool.close();
    assertThat(ran).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void aStoppedSchedulerTakesNoTasks() {
    scheduler.start();
    scheduler.stop();
    FiberPool pool = pool().build();
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> pool.execute(task("never")))
        .withMessageContaining("scheduler test");
    pool.close();
    assertThat(pool.isTerminated()).isTrue();
  }

  @Test
  void atTheLimitOfItsSchedulerQueuedTasksAreCancelledAndDoNotBegin() throws Exception {
    scheduler.start();
    FiberPool pool = pool().fibers(1).build();
    List<Future<?>> futures = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      futures.add(pool.submit(task(i)));
    }
    eventually(
        "the first waits", () -> core(scheduler).fibers().allMatch(f -> f.status() == WAITING));
    try (LogCapture log = new LogCapture()) {
      assertThat(scheduler.stop(Duration.ofMillis(10))).isFalse();
      assertThat(log.entries("stopped without the end of")).isEmpty();
    }
    assertThat(futures.getFirst().state()).isEqualTo(Future.State.FAILED);
    assertThat(futures.subList(1, 5)).allMatch(Future::isCancelled);
    assertThat(pool.isTerminated()).isTrue();
  }

  // ---- ending ----

  @Test
  void shutdownRunsTheQueuedTasksAndTakesNoMore() throws Exception {
    scheduler.start();
    FiberPool pool = pool().fibers(2).queue(2).build();
    for (int i = 0; i < 4; i++) {
      pool.execute(task(i));
    }
    AtomicReference<Object> refusal = new AtomicReference<>();
    Thread submitter =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    pool.execute(task("never"));
                  } catch (RejectedExecutionException e) {
                    refusal.set(e.getMessage());
                  }
                });
    waitsForRoom(submitter, pool);
    assertThat(pool.isShutdown()).isFalse();
    pool.shutdown();
    pool.shutdown();
    submitter.join();
    assertThat(refusal.get()).isEqualTo("fiber pool p has been shut down");
    assertThat(pool.isShutdown()).isTrue();
    assertThat(pool.isTerminated()).isFalse();
    assertThat(pool.awaitTermination(1, TimeUnit.MILLISECONDS)).isFalse();
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> pool.execute(task("never")))
        .withMessage("fiber pool p has been shut down");
    open.countDown();
    assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    assertThat(pool.isTerminated()).isTrue();
    assertThat(ran).containsExactlyInAnyOrder(0, 1, 2, 3);
  }

  @Test
  void shutdownEndsIdleFibersAtOnce() throws Exception {
    scheduler.start();
    FiberPool pool = pool().growBy(5).build();
    pool.submit(() -> "done").get();
    assertThat(pool.fibers()).isEqualTo(5);
    pool.shutdown();
    assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    assertThat(pool.fibers()).isZero();
  }

  @Test
  void shutdownOfAPoolThatHasDoneNothingEndsIt() {
    FiberPool pool = pool().build();
    pool.shutdown();
    assertThat(pool.isTerminated()).isTrue();
  }

  @Test
  void shutdownNowCancelsTheRunningAndReturnsTheQueued() throws Exception {
    scheduler.start();
    FiberPool pool = pool().fibers(1).build();
    CountDownLatch begun = new CountDownLatch(1);
    pool.execute(
        () -> {
          begun.countDown();
          for (int i = 0; i < 2; i++) { // a cancel is a level: the second sleep fails, too
            try {
              Fiber.sleep(Duration.ofHours(1));
            } catch (InterruptedException e) {
              ran.add("interrupted");
            }
          }
        });
    begun.await();
    Runnable second = task("second");
    Runnable third = task("third");
    pool.execute(second);
    pool.execute(third);
    assertThat(pool.shutdownNow()).containsExactly(second, third);
    assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    assertThat(ran).containsExactly("interrupted", "interrupted");
    assertThat(pool.shutdownNow()).isEmpty();
    assertThat(uncaught).isEmpty();
  }

  @Test
  void shutdownNowReturnsATaskThatAFiberHasTakenButNotStarted() {
    FiberPool pool = pool().fibers(2).build(); // its scheduler is not started
    List<Runnable> tasks = List.of(task(0), task(1), task(2));
    tasks.forEach(pool::execute);
    assertThat(pool.shutdownNow()).isEqualTo(tasks);
    assertThat(pool.isTerminated()).isFalse();
    scheduler.start();
    pool.close();
    assertThat(pool.isTerminated()).isTrue();
    assertThat(ran).isEmpty();
  }

  @Test
  void closeWaitsForAllTasks() {
    scheduler.start();
    open.countDown();
    FiberPool pool = pool().fibers(3).build();
    for (int i = 0; i < 50; i++) {
      pool.execute(task(i));
    }
    pool.close();
    assertThat(ran).hasSize(50);
    assertThat(pool.isTerminated()).isTrue();
  }

  // ---- the rest of ExecutorService ----

  @Test
  void invokeAllAndInvokeAny() throws Exception {
    scheduler.start();
    List<Callable<Integer>> tasks =
        IntStream.range(0, 20).mapToObj(i -> (Callable<Integer>) () -> i * i).toList();
    try (FiberPool pool = pool().fibers(3).queue(1).build()) {
      List<Integer> results = new ArrayList<>();
      for (Future<Integer> future : pool.invokeAll(tasks)) {
        results.add(future.get());
      }
      assertThat(results).isEqualTo(IntStream.range(0, 20).mapToObj(i -> i * i).toList());
      String any =
          pool.invokeAny(
              List.of(
                  () -> {
                    throw new IllegalStateException("not this one");
                  },
                  () -> "this one"));
      assertThat(any).isEqualTo("this one");
      List<Future<String>> late =
          pool.invokeAll(
              List.of(
                  () -> {
                    Fiber.sleep(Duration.ofHours(1));
                    return "never";
                  }),
              1,
              TimeUnit.MILLISECONDS);
      assertThat(late).allMatch(Future::isCancelled);
    }
  }

  @Test
  void invokeAllInsideAFiberOnOneThread() throws Exception {
    try (Scheduler single = Scheduler.builder().threads(1).build().start()) {
      Fiber<Integer> sum =
          single.go(
              () -> {
                try (FiberPool pool = FiberPool.builder().fibers(2).queue(1).build()) {
                  int total = 0;
                  List<Callable<Integer>> ones = Collections.nCopies(10, () -> 1);
                  for (Future<Integer> f : pool.invokeAll(ones)) {
                    total += f.get();
                  }
                  return total;
                }
              });
      assertThat(sum.join()).isEqualTo(10);
    }
  }

  // ---- many ----

  @ParameterizedTest
  @EnumSource(WhenFull.class)
  void aHundredThousandTasksFromThreadsAndFibersRunOnceEach(WhenFull whenFull) throws Exception {
    int submitters = 4;
    int each = 25_000;
    scheduler.start();
    AtomicInteger[] runs = new AtomicInteger[submitters * each];
    AtomicInteger refused = new AtomicInteger();
    FiberPool pool = pool().fibers(8).growBy(3).queue(16).whenFull(whenFull).build();
    List<Thread> threads = new ArrayList<>();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int s = 0; s < submitters; s++) {
      int from = s * each;
      Body body =
          () -> {
            for (int i = from; i < from + each; i++) {
              AtomicInteger count = new AtomicInteger();
              runs[i] = count;
              try {
                pool.execute(count::incrementAndGet);
              } catch (RejectedExecutionException e) {
                refused.incrementAndGet();
                count.addAndGet(1_000);
                Thread.yield();
              }
            }
          };
      if (s % 2 == 0) {
        fibers.add(scheduler.go(body));
      } else {
        threads.add(Thread.ofPlatform().start(() -> run(body)));
      }
    }
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    pool.close();
    assertThat(runs).allMatch(count -> count.get() == 1 || count.get() == 1_000);
    assertThat(runs).filteredOn(count -> count.get() == 1_000).hasSize(refused.get());
    if (whenFull != WhenFull.REJECT) {
      assertThat(refused).hasValue(0);
    }
    assertThat(pool.fibers()).isZero();
  }

  private static void run(Body body) {
    try {
      body.run();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void eachTaskIsRunReturnedOrRefusedWhenThePoolIsShutDownAmidTraffic() throws Exception {
    scheduler.start();
    for (int round = 0; round < 300; round++) {
      FiberPool pool = pool().fibers(3).growBy(2).queue(2).build();
      ConcurrentLinkedQueue<Integer> begun = new ConcurrentLinkedQueue<>();
      ConcurrentLinkedQueue<Integer> refused = new ConcurrentLinkedQueue<>();
      CountDownLatch some = new CountDownLatch(5 + round % 20);
      record Numbered(int number, Runnable body) implements Runnable {
        @Override
        public void run() {
          body.run();
        }
      }
      List<Fiber<Void>> submitters = new ArrayList<>();
      for (int s = 0; s < 3; s++) {
        int from = s * 20;
        submitters.add(
            scheduler.go(
                () -> {
                  for (int i = from; i < from + 20; i++) {
                    int number = i;
                    try {
                      pool.execute(new Numbered(number, () -> begun.add(number)));
                    } catch (RejectedExecutionException e) {
                      refused.add(number);
                    }
                    some.countDown();
                  }
                }));
      }
      some.await();
      List<Runnable> returned = pool.shutdownNow();
      for (Fiber<Void> submitter : submitters) {
        submitter.join();
      }
      assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
      List<Integer> all = new ArrayList<>(begun);
      all.addAll(refused);
      returned.forEach(task -> all.add(((Numbered) task).number()));
      assertThat(all)
          .as("round %d", round)
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 60).boxed().toList());
    }
  }
}
