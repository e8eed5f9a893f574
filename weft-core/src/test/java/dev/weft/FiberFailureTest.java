package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A failing fiber affects no other fiber, and its failure is reported. */
@Feature("S12")
class FiberFailureTest {
  private static <T> Callable<T> failing(Exception e) {
    return () -> {
      throw e;
    };
  }

  @Test
  void joinThrowsACompletionExceptionWithTheCause() throws Exception {
    IOException checked = new IOException("checked");
    AssertionError error = new AssertionError("error");
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<String> fiber = scheduler.go(FiberOptions.named("bad"), failing(checked));
      for (int i = 0; i < 2; i++) { // the failure is kept
        assertThatExceptionOfType(CompletionException.class)
            .isThrownBy(fiber::join)
            .withCause(checked)
            .withMessageContaining("bad")
            .withMessageContaining("checked");
      }
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(() -> fiber.join(Duration.ofSeconds(1)))
          .withCause(checked);
      assertThat(fiber.toFuture()).isCompletedExceptionally();
      assertThat(fiber.toFuture().exceptionNow()).isSameAs(checked);
      assertThat(fiber.status()).isEqualTo(Fiber.Status.DONE);
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(
              scheduler.go(
                      (Body)
                          () -> {
                            throw error;
                          })
                  ::join)
          .withCause(error);
      assertThat(scheduler.go(() -> "the others go on").join()).isEqualTo("the others go on");
    }
  }

  @Test
  void anUnobservedFailureReachesTheHandlerAndTheLogByName() throws Exception {
    Map<String, Throwable> handled = new ConcurrentHashMap<>();
    IllegalStateException atStop = new IllegalStateException("at stop");
    IllegalStateException later = new IllegalStateException("after a while");
    try (LogCapture log = new LogCapture()) {
      Scheduler scheduler =
          Scheduler.builder()
              .threads(1)
              .name("failing")
              .onUncaught((fiber, failure) -> handled.put(fiber.name(), failure))
              .build()
              .start();
      scheduler.go(FiberOptions.named("impatient"), failing(later));
      eventually(
          "the failure is reported although the scheduler goes on", () -> !handled.isEmpty());
      scheduler.go(FiberOptions.named("last"), failing(atStop));
      scheduler.stop();
      assertThat(handled).containsOnly(Map.entry("impatient", later), Map.entry("last", atStop));
      for (Throwable failure : List.of(later, atStop)) {
        assertThat(log.entries("scheduler failing"))
            .filteredOn(entry -> entry.thrown() == failure)
            .singleElement()
            .satisfies(
                entry -> {
                  assertThat(entry.level()).isEqualTo("SEVERE");
                  assertThat(entry.text()).contains(failure == later ? "impatient" : "last");
                });
      }
    }
  }

  @Test
  void theFailureOfACancelledFibersCleanUpIsReportedToo() {
    Map<String, Throwable> handled = new ConcurrentHashMap<>();
    IllegalStateException inCleanUp = new IllegalStateException("in clean-up");
    try (LogCapture log = new LogCapture()) {
      Scheduler scheduler =
          Scheduler.builder()
              .threads(1)
              .onUncaught((fiber, failure) -> handled.put(fiber.name(), failure))
              .build()
              .start();
      Fiber<Void> fiber =
          scheduler.go(
              FiberOptions.named("cleaner"),
              () -> {
                try {
                  Fiber.sleep(Duration.ofHours(1));
                } finally {
                  failing(inCleanUp).call();
                }
              });
      waits(fiber);
      fiber.cancel();
      scheduler.stop();
      assertThat(handled).containsOnly(Map.entry("cleaner", inCleanUp));
      assertThat(log.entries("cleaner")).hasSize(1);
    }
  }

  @Test
  void aJoinedFailureIsNotReported() throws Exception {
    AtomicInteger handled = new AtomicInteger();
    try (LogCapture log = new LogCapture()) {
      try (Scheduler scheduler =
          Scheduler.builder()
              .threads(2)
              .onUncaught((fiber, failure) -> handled.incrementAndGet())
              .build()
              .start()) {
        for (int i = 0; i < 2_000; i++) {
          Fiber<Void> fiber =
              scheduler.go(
                  (Body)
                      () -> {
                        throw new IllegalStateException("seen");
                      });
          switch (i % 3) {
            case 0 -> { // as soon as the fiber has ended, on another thread
              while (fiber.status() != Fiber.Status.DONE) {
                Thread.onSpinWait();
              }
              assertThatExceptionOfType(CompletionException.class).isThrownBy(fiber::join);
            }
            case 1 -> assertThatExceptionOfType(CompletionException.class).isThrownBy(fiber::join);
            default -> fiber.toFuture().exceptionally(e -> null).join();
          }
        }
      }
      assertThat(handled).hasValue(0);
      assertThat(log.entries()).isEmpty();
    }
  }

  @Test
  void aHandlerThatFailsIsReportedAndHarmless() throws Exception {
    IllegalArgumentException ofHandler = new IllegalArgumentException("of the handler");
    try (LogCapture log = new LogCapture()) {
      Scheduler scheduler =
          Scheduler.builder()
              .threads(1)
              .onUncaught(
                  (fiber, failure) -> {
                    throw ofHandler;
                  })
              .build()
              .start();
      scheduler.go(FiberOptions.named("one"), failing(new IOException()));
      scheduler.go(FiberOptions.named("two"), failing(new IOException()));
      scheduler.stop();
      assertThat(log.entries("handler", "one"))
          .singleElement()
          .matches(e -> e.thrown() == ofHandler);
      assertThat(log.entries("handler", "two")).hasSize(1);
    }
  }

  @SuppressWarnings("InfiniteRecursion")
  private static int overflow(int depth) {
    return overflow(depth + 1) + 1;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aStackOverflowLeavesTheThreadsAlive(boolean useCaller) throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(2).useCaller(useCaller).build().start();
    List<Fiber<Integer>> overflown = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      overflown.add(scheduler.go(FiberOptions.named("deep").onThread(i % 2), () -> overflow(0)));
    }
    List<Fiber<Integer>> others = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      others.add(
          scheduler.go(FiberOptions.named("other").onThread(i % 2), () -> Fiber.threadIndex()));
    }
    try (LogCapture _ = new LogCapture()) {
      scheduler.stop();
    }
    for (Fiber<Integer> fiber : overflown) {
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(fiber::join)
          .withCauseInstanceOf(StackOverflowError.class);
    }
    for (int i = 0; i < 4; i++) {
      assertThat(others.get(i).join()).isEqualTo(i % 2);
    }
  }

  static final class Greedy {
    public static void main(String[] args) throws Exception {
      Scheduler scheduler = Scheduler.builder().threads(2).build().start();
      int ended = 0;
      for (int round = 0; round < 5; round++) {
        List<Fiber<Integer>> fibers = new ArrayList<>();
        CountDownLatch all = new CountDownLatch(4);
        for (int i = 0; i < 4; i++) {
          fibers.add(
              scheduler.go(
                  () -> {
                    all.countDown();
                    all.await();
                    List<byte[]> hoard = new ArrayList<>();
                    while (true) {
                      hoard.add(new byte[100_000]);
                      if (hoard.size() % 16 == 0) {
                        Fiber.yield();
                      }
                    }
                  }));
        }
        for (Fiber<Integer> fiber : fibers) { // until all memory is free: join() takes some
          while (!fiber.isDone()) {
            Thread.sleep(1);
          }
        }
        for (Fiber<Integer> fiber : fibers) {
          try {
            fiber.join();
          } catch (CompletionException e) {
            ended += e.getCause() instanceof OutOfMemoryError ? 1 : 0;
          }
        }
      }
      System.out.println(ended + " ran out of memory");
      for (int i = 0; i < 2; i++) {
        int index = i;
        Fiber<Void> fiber =
            scheduler.go(
                FiberOptions.named("after").onThread(index),
                () -> System.out.println("thread " + Fiber.threadIndex() + " lives"));
        fiber.join();
      }
      scheduler.stop();
      System.out.println("stopped");
    }
  }

  @Test
  void runningOutOfMemoryLeavesTheThreadsAlive() throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            ForkedJvm.weftArgs(),
            "-Xmx24m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            ForkedJvm.classPathOf(
                Weft.class,
                Greedy.class,
                MpscUnboundedVarHandleArrayQueue.class,
                MpscUnboundedArrayQueue.class),
            Greedy.class.getName());
    assertThat(result.output())
        .contains("20 ran out of memory\nthread 0 lives\nthread 1 lives\nstopped\n");
    assertThat(result.exitStatus()).isZero();
  }
}
