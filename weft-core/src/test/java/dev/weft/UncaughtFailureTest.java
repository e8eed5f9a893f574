package dev.weft;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.sched.SchedulerCore;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which handler gets an unobserved failure. */
@Feature("S26")
class UncaughtFailureTest {
  private record Told(String handler, String thread, Throwable failure) {}

  private static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;

    Failure() {
      super("deliberate");
    }
  }

  private final Thread.UncaughtExceptionHandler before =
      Thread.getDefaultUncaughtExceptionHandler();
  private final List<Told> told = new CopyOnWriteArrayList<>();
  private final LogCapture log = new LogCapture();

  @BeforeEach
  void setDefault() {
    Thread.setDefaultUncaughtExceptionHandler(telling("default"));
  }

  @AfterEach
  void restoreDefault() {
    Thread.setDefaultUncaughtExceptionHandler(before);
    log.close();
  }

  private Thread.UncaughtExceptionHandler telling(String name) {
    return (thread, failure) -> {
      if (failure instanceof Failure) { // not a failure of another test
        told.add(new Told(name, thread.getName(), failure));
      }
    };
  }

  private static void fail() {
    throw new Failure();
  }

  private void assertTold(String handler, String thread) {
    assertThat(told)
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.handler()).isEqualTo(handler);
              assertThat(one.thread()).isEqualTo(thread);
            });
  }

  @Test
  void withoutAnyOtherTheDefaultHandlerOfTheJvmGetsTheFailure() {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler.go(FiberOptions.named("fails"), () -> fail());
    }
    assertTold("default", "fails");
    assertThat(
            log.entries(
                "fiber", "(fails)", "failed and no fiber or thread joined it", "deliberate"))
        .as("the handler has the stack, the log has a line")
        .singleElement()
        .matches(entry -> entry.thrown() == null);
  }

  @Test
  void theDefaultHandlerGetsFailuresOfRun() {
    Weft.run(() -> SchedulerCore.here().go(FiberOptions.named("in run"), () -> fail()));
    assertTold("default", "in run");
  }

  @Test
  void theDefaultHandlerGetsFailuresOfTheSharedScheduler() {
    Scheduler.shared().go(FiberOptions.named("shared"), () -> fail());
    eventually("the handler gets the failure", () -> !told.isEmpty());
    assertTold("default", "shared");
  }

  @Test
  void theHandlerOfTheSchedulerComesBeforeTheDefault() {
    List<Thread> threads = new CopyOnWriteArrayList<>();
    try (Scheduler scheduler =
        Scheduler.builder()
            .threads(1)
            .onUncaught(
                (fiber, failure) -> {
                  threads.add(fiber.thread());
                  told.add(new Told("scheduler", fiber.name(), failure));
                })
            .build()
            .start()) {
      scheduler.go(FiberOptions.named("fails"), () -> fail());
    }
    assertTold("scheduler", "fails");
    assertThat(threads).singleElement().matches(Thread::isVirtual);
    assertThat(log.entries("(fails)"))
        .singleElement()
        .matches(entry -> entry.thrown() instanceof Failure);
  }

  @Test
  void theHandlerOfTheThreadComesFirst() throws Exception {
    CountDownLatch set = new CountDownLatch(1);
    try (Scheduler scheduler =
        Scheduler.builder()
            .threads(1)
            .onUncaught((fiber, failure) -> told.add(new Told("scheduler", "", failure)))
            .build()
            .start()) {
      scheduler.go(
          FiberOptions.named("sets its own"),
          () -> {
            Thread.currentThread().setUncaughtExceptionHandler(telling("own"));
            fail();
          });
      Fiber<Void> other =
          scheduler.go(
              FiberOptions.named("has one set"),
              () -> {
                set.await();
                fail();
              });
      other.thread().setUncaughtExceptionHandler(telling("set"));
      set.countDown();
    }
    assertThat(told)
        .extracting(Told::handler, Told::thread)
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("own", "sets its own"),
            org.assertj.core.groups.Tuple.tuple("set", "has one set"));
  }

  @Test
  void failuresOfTimersAndTasksAreTreatedAlike() {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler.timers().after(Duration.ZERO, UncaughtFailureTest::fail);
      try (FiberPool pool = FiberPool.builder().scheduler(scheduler).build()) {
        pool.execute(UncaughtFailureTest::fail);
      }
    }
    assertThat(told).extracting(Told::handler).containsExactly("default", "default");
  }

  @Test
  void aFailureIsReportedUnlessAJoinThatDidNotGiveUpGotIt() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> fiber =
          scheduler.go(
              FiberOptions.named("late"),
              () -> {
                go.await();
                fail();
              });
      try {
        fiber.join(Duration.ofMillis(1));
      } catch (TimeoutException e) {
        go.countDown();
      }
      Fiber<Void> joined = scheduler.go(FiberOptions.named("joined"), () -> fail());
      try {
        joined.join();
      } catch (java.util.concurrent.CompletionException e) {
        assertThat(e.getCause()).isInstanceOf(Failure.class);
      }
    }
    assertTold("default", "late");
  }

  /** Fails on the shared scheduler when nothing else keeps the process alive. */
  static final class Last {
    public static void main(String[] args) {
      Thread.setDefaultUncaughtExceptionHandler(
          (thread, failure) -> {
            System.out.println(failure.getMessage());
            System.exit(3); // as many handlers do
          });
      Weft.go(() -> fail());
      System.out.println("main ended");
    }
  }

  @Test
  void theProcessDoesNotEndBeforeTheHandlerHasRun() throws Exception {
    ForkedJvm.Result result = ProcessLifeTest.run(Last.class);
    assertThat(result.output()).startsWith("main ended\n").contains("\ndeliberate\n");
    assertThat(result.exitStatus()).isEqualTo(3);
  }
}
