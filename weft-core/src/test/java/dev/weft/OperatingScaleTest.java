package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.channel.Channel;
import dev.weft.testkit.Feature;
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
