package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A million fibers, in a separate JVM with a heap of 2 GB. */
@Timeout(120)
class FiberScaleTest {
  /** Makes a million fibers sleep, then stops their scheduler, which cancels them. */
  static final class Sleepers {
    public static void main(String[] args) throws Exception {
      // the compiler sees a cancelled sleep before the million sleeps start: deoptimizing a
      // compiled frame costs 15 µs instead of 4
      for (int i = 0; i < 3; i++) {
        asleep(20_000).stop(Duration.ZERO);
      }
      int many = 1_000_000;
      long before = usedBytes();
      Scheduler scheduler = asleep(many);
      long each = (usedBytes() - before) / many;
      System.out.println(scheduler.stats().sleeping() + " sleep, " + each + " bytes each");
      boolean ended = scheduler.stop(Duration.ZERO);
      System.out.println("ended by themselves: " + ended);
      System.out.println(scheduler.stats().ended() + " ended");
    }

    private static Scheduler asleep(int many) throws Exception {
      Scheduler scheduler = Scheduler.builder().threads(2).build().start();
      LongAdder begun = new LongAdder();
      for (int i = 0; i < many; i++) {
        scheduler.go(
            () -> {
              begun.increment();
              Fiber.sleep(Duration.ofHours(1));
            });
      }
      while (begun.sum() < many || scheduler.stats().sleeping() < many) {
        Thread.sleep(20);
      }
      return scheduler;
    }

    private static long usedBytes() {
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      return runtime.totalMemory() - runtime.freeMemory();
    }
  }

  @Test
  @Feature("S21")
  void aMillionSleepingFibersFitInTwoGigabytesAndEndWhenStopped() throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            ForkedJvm.weftArgs(),
            "-Xmx2g",
            "-XX:+UseSerialGC",
            "-cp",
            ForkedJvm.classPathOf(
                Fiber.class,
                FiberScaleTest.class,
                org.jctools.queues.MessagePassingQueue.class,
                org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue.class),
            Sleepers.class.getName());
    assertThat(result.exitStatus()).as(result.output()).isZero();
    System.out.print(result.output());
    assertThat(result.output())
        .contains("1000000 sleep, ")
        .contains("ended by themselves: false")
        .contains("1000000 ended");
  }
}
