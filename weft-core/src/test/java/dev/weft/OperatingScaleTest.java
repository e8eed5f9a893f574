package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.channel.Channel;
import dev.weft.internal.sched.LookHolds;
import dev.weft.testkit.Feature;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A look at a million fibers, in a separate JVM with a heap of 2 GB. */
@Feature({"O2", "S22"})
@Timeout(120)
class OperatingScaleTest {
  private static final int MANY = 1_000_000;
  private static final int MOST_TRIES = 100;

  /** Calls of stats() of which every hold of the worker's lock is measured. */
  private static final int CALLS = 20;

  /**
   * Makes a million fibers wait at three different places, looks at them, and tells what it saw.
   */
  static final class Waiters {
    public static void main(String[] args) throws Exception {
      Scheduler scheduler = Scheduler.builder().threads(1).daemon(true).build().start();
      Channel<Integer> channel = Channel.rendezvous();
      for (int i = 0; i < MANY; i++) {
        int depth = i % 3;
        scheduler.go(() -> receive(channel, depth));
      }
      while (scheduler.stats().waiting() < MANY) {
        Thread.sleep(20);
      }
      measureHolds(scheduler);
      measurePauses(scheduler);
      long began = System.nanoTime();
      GroupedDump dump = scheduler.groupedDump();
      System.out.println("dump " + (System.nanoTime() - began) / 1_000_000 + " ms");
      System.out.print(dump.text());
      System.exit(0);
    }

    private static void receive(Channel<Integer> channel, int depth) throws Exception {
      if (depth > 0) {
        receive(channel, depth - 1);
      } else {
        channel.receive();
      }
    }

    /**
     * Tells of each time for which a call of stats() held the lock of the worker, in all calls: how
     * many fibers it handled at most, and how often it took more than a millisecond. The time is
     * that of the CPU: another process may take the core from the thread at any moment, but then
     * stats() does not work. Interrupts count as its work, so the same number of times without the
     * lock is measured too.
     */
    private static void measureHolds(Scheduler scheduler) {
      Holds holds = new Holds();
      LookHolds.observe(holds);
      for (int i = 0; i < CALLS; i++) {
        scheduler.stats();
      }
      LookHolds.observe(null);
      Holds without = new Holds();
      Object[] places = new Object[1_024];
      long copied = 0;
      for (long i = 0; i < holds.count; i++) {
        without.began();
        copied += Arrays.copyOf(places, 256).length;
        without.ended(256);
      }
      System.out.println("holds " + holds.count + " of " + copied / 256);
      System.out.println("most fibers " + holds.mostFibers);
      System.out.println("longest hold " + holds.longest / 1_000 + " µs");
      System.out.println("holds over a millisecond " + holds.tooLong);
      System.out.println("over a millisecond without " + without.tooLong);
    }

    private static final class Holds extends LookHolds {
      private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      private long began;
      private long count;
      private long longest;
      private int tooLong;
      private int mostFibers;

      private final Thread caller = Thread.currentThread();

      @Override
      protected void began() {
        if (Thread.currentThread() != caller) {
          return;
        }
        began = threads.getCurrentThreadCpuTime();
      }

      @Override
      protected void ended(int fibers) {
        if (Thread.currentThread() != caller) {
          return; // the watchdog's look, which is no part of stats()
        }
        long held = threads.getCurrentThreadCpuTime() - began;
        count++;
        longest = Math.max(longest, held);
        tooLong += held > 1_000_000 ? 1 : 0;
        mostFibers = Math.max(mostFibers, fibers);
      }
    }

    /**
     * Calls stats() while a fiber yields all the time, and in turn computes for as long, until the
     * fiber goes on without a pause of a millisecond during a whole call. Tells the longest pause
     * of the best call, and of the best time without: on a busy machine the fiber loses its core
     * for some milliseconds now and then, but if stats() held its worker, it would do so each time.
     */
    private static void measurePauses(Scheduler scheduler) throws Exception {
      AtomicLong longest = new AtomicLong();
      AtomicBoolean over = new AtomicBoolean();
      Fiber<Void> ticker = scheduler.go(() -> tick(longest, over));
      long with = Long.MAX_VALUE;
      long without = Long.MAX_VALUE;
      for (int i = 0; i < MOST_TRIES && with >= 1_000_000; i++) {
        long began = System.nanoTime();
        with = Math.min(with, longestDuring(longest, scheduler::stats));
        long took = System.nanoTime() - began;
        without = Math.min(without, longestDuring(longest, () -> compute(took)));
      }
      over.set(true);
      ticker.join();
      System.out.println("longest pause " + with / 1_000 + " µs");
      System.out.println("without stats " + without / 1_000 + " µs");
    }

    private static long longestDuring(AtomicLong longest, Runnable action) {
      longest.set(0);
      while (longest.get() == 0) {
        Thread.onSpinWait(); // until the fiber runs
      }
      action.run();
      return longest.get();
    }

    private static void compute(long nanos) {
      long began = System.nanoTime();
      while (System.nanoTime() - began < nanos) {
        Thread.onSpinWait();
      }
    }

    private static void tick(AtomicLong longest, AtomicBoolean over) {
      long last = System.nanoTime();
      while (!over.get()) {
        Fiber.yield();
        long now = System.nanoTime();
        longest.accumulateAndGet(now - last, Math::max);
        last = now;
      }
    }
  }

  @Test
  void aMillionFibersAreCountedWithoutAPauseAndDumpedInSeconds() throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            ForkedJvm.weftArgs(),
            "-Xmx2g",
            "-XX:+UseSerialGC",
            "-cp",
            ForkedJvm.classPathOf(
                Fiber.class,
                OperatingScaleTest.class,
                org.jctools.queues.MessagePassingQueue.class,
                org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue.class),
            Waiters.class.getName());
    System.out.print(result.output());
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(number(result.output(), "holds (\\d+) of"))
        .as("every part of every call is seen")
        .isGreaterThan((long) CALLS * MANY / 256);
    assertThat(number(result.output(), "most fibers (\\d+)")).isEqualTo(256);
    // a call that holds the worker for too long does so each time, or in some of the 20 calls
    assertThat(number(result.output(), "holds over a millisecond (\\d+)"))
        .isLessThanOrEqualTo(number(result.output(), "over a millisecond without (\\d+)") + 2);
    long without = number(result.output(), "without stats (\\d+) µs");
    assertThat(number(result.output(), "longest pause (\\d+) µs"))
        .isLessThan(Math.max(1_000, 2 * without));
    assertThat(number(result.output(), "dump (\\d+) ms")).isLessThan(10_000);
    assertThat(result.output())
        .contains("1,000,000 fibers on 1 thread: ", "333,334 fibers wait for", "333,333 fibers");
    assertThat(result.output().lines().count()).as("a page").isLessThan(40);
  }

  private static long number(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(text).isTrue();
    return Long.parseLong(matcher.group(1));
  }
}
