package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a process that uses fibers: each program here ends by itself or not at all. */
@Feature("S10")
class ProcessLifeTest {
  static ForkedJvm.Result run(Class<?> program, String... arguments) throws Exception {
    String classPath =
        ForkedJvm.classPathOf(
            Weft.class,
            program,
            MpscUnboundedVarHandleArrayQueue.class,
            MpscUnboundedArrayQueue.class);
    String[] command = new String[7 + arguments.length];
    command[0] = ForkedJvm.weftArgs();
    command[1] = "-XX:TieredStopAtLevel=1";
    command[2] = "-XX:+UseSerialGC";
    command[3] = "-Xshare:auto";
    command[4] = "-cp";
    command[5] = classPath;
    command[6] = program.getName();
    System.arraycopy(arguments, 0, command, 7, arguments.length);
    return ForkedJvm.java(command);
  }

  static final class Run {
    public static void main(String[] args) {
      Weft.run(
          () -> {
            Weft.go(
                () -> {
                  Fiber.sleep(Duration.ofMillis(100));
                  System.out.println("fiber ended");
                });
            System.out.println("body ended");
          });
      System.out.println("run returned");
    }
  }

  @Test
  void afterRunHasReturnedTheProcessEnds() throws Exception {
    ForkedJvm.Result result = run(Run.class);
    assertThat(result.output()).isEqualTo("body ended\nfiber ended\nrun returned\n");
    assertThat(result.exitStatus()).isZero();
  }

  static final class FailingRun {
    public static void main(String[] args) {
      Weft.run(
          () -> {
            throw new IllegalStateException("on purpose");
          });
    }
  }

  @Test
  void aFailureOfRunIsAFailureOfMain() throws Exception {
    ForkedJvm.Result result = run(FailingRun.class);
    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.output())
        .startsWith("Exception in thread \"main\" java.lang.IllegalStateException: on purpose\n")
        .doesNotContain("thread joined it");
  }

  static final class Shared {
    public static void main(String[] args) throws Exception {
      switch (args[0]) {
        case "sleeps" ->
            Weft.go(
                () -> {
                  Fiber.sleep(Duration.ofMillis(300));
                  System.out.println("fiber ended");
                });
        case "starts others" -> Weft.go(() -> next(5));
        case "has moved there" -> {
          Scheduler first = Scheduler.builder().threads(1).daemon(true).build().start();
          first.go(
              () -> {
                Fiber.switchTo(Scheduler.shared());
                Fiber.sleep(Duration.ofMillis(300));
                System.out.println("fiber ended");
              });
          first.stop();
        }
        case "sleeps beside a guest that ended on a computing thread" ->
            Weft.go(
                () -> {
                  Thread guest = Thread.startVirtualThread(() -> endApart());
                  guest.join();
                  Fiber.sleep(Duration.ofMillis(300));
                  System.out.println("fiber ended");
                });
        default -> {
          Weft.go(() -> {}).join(); // idle from here on
          System.out.println("fiber ended");
        }
      }
      System.out.println("main ended");
    }

    /** Has long slices until Weft sets this fiber apart, and ends there. */
    private static void endApart() {
      while (Fiber.threadIndex() != -1) {
        long end = System.nanoTime() + 25_000_000;
        while (System.nanoTime() < end) {
          Thread.onSpinWait();
        }
        Fiber.yield();
      }
    }

    private static void next(int left) throws InterruptedException {
      Fiber.sleep(Duration.ofMillis(50)); // longer than the keep-alive thread lingers
      if (left > 0) {
        Weft.go(() -> next(left - 1));
      } else {
        System.out.println("fiber ended");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sleeps",
        "starts others",
        "has moved there",
        "sleeps beside a guest that ended on a computing thread"
      })
  void fibersOnTheSharedSchedulerKeepTheProcessAlive(String how) throws Exception {
    ForkedJvm.Result result = run(Shared.class, how);
    assertThat(result.output()).isEqualTo("main ended\nfiber ended\n");
    assertThat(result.exitStatus()).isZero();
  }

  @Test
  void anIdleSharedSchedulerDoesNotKeepTheProcessAlive() throws Exception {
    ForkedJvm.Result result = run(Shared.class, "idle");
    assertThat(result.output()).isEqualTo("fiber ended\nmain ended\n");
    assertThat(result.exitStatus()).isZero();
  }
}
