package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.channel.Channel;
import dev.weft.time.Timer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The snippets of the Javadoc of fibers and schedulers: compiled, run and checked here. */
@Timeout(30)
class FiberSnippetsTest {
  private final List<Object> out = Collections.synchronizedList(new ArrayList<>());

  private void println(Object line) {
    out.add(line);
  }

  @Test
  void goAndJoin() throws Exception {
    // @start region="go-and-join"
    Fiber<Integer> answer =
        Weft.go(
            () -> {
              Fiber.sleep(Duration.ofMillis(10)); // no thread waits
              return 42;
            });
    println(answer.join()); // prints 42
    // @end
    assertThat(out).containsExactly(42);
  }

  @Test
  void run() {
    // @start region="run"
    Weft.run(
        () -> {
          for (int i = 1; i <= 3; i++) {
            int number = i;
            Weft.go(() -> println("fiber " + number));
          }
          println("main");
        }); // returns when all four have ended
    // @end
    assertThat(out).containsExactlyInAnyOrder("main", "fiber 1", "fiber 2", "fiber 3");
  }

  @Test
  void blocking() throws Exception {
    Path file = Files.createTempFile("weft", ".txt");
    Files.writeString(file, "warp");
    Fiber<String> fiber =
        Weft.go(
            () -> {
              // @start region="blocking"
              String text = Weft.blocking(() -> Files.readString(file)); // blocks a helper thread
              // @end
              return text;
            });
    assertThat(fiber.join()).isEqualTo("warp");
    Files.delete(file);
  }

  @Test
  void shielded() throws Exception {
    Channel<String> connections = Channel.buffered(1);
    connections.send("connection 1");
    CountDownLatch taken = new CountDownLatch(1);
    Fiber<Void> fiber =
        Weft.go(
            () -> {
              String connection = connections.receive();
              taken.countDown();
              // @start region="shielded"
              try {
                use(connection);
              } finally { // the connection goes back, also if this fiber is cancelled
                Weft.shielded(() -> connections.send(connection));
              }
              // @end
            });
    taken.await();
    fiber.cancel();
    assertThat(connections.receive()).isEqualTo("connection 1");
  }

  private static void use(String connection) throws InterruptedException {
    assertThat(connection).isNotEmpty();
    Fiber.sleep(Duration.ofHours(1));
  }

  @Test
  void scheduler() throws Exception {
    // @start region="scheduler"
    try (Scheduler scheduler = Scheduler.builder().threads(2).name("crew").build().start()) {
      Fiber<String> fiber =
          scheduler.go(() -> "done by " + Scheduler.current().orElseThrow().name());
      println(fiber.join()); // prints done by crew
    } // waits for the fibers that are left, and ends the threads
    // @end
    assertThat(out).containsExactly("done by crew");
  }

  @Test
  void options() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      // @start region="options"
      FiberOptions options = FiberOptions.named("logger").priority(5).onThread(1);
      Fiber<Void> logger =
          scheduler.go(options, () -> println("on thread " + Fiber.threadIndex())); // on thread 1
      // @end
      logger.join();
      assertThat(out).containsExactly("on thread 1");
      assertThat(logger.name()).isEqualTo("logger");
      assertThat(logger.priority()).isEqualTo(5);
    }
  }

  // @start region="policy"
  /** Last in, first out. */
  static final class LastFirst implements Policy.ReadyQueue {
    private final ArrayDeque<Fiber<?>> fibers = new ArrayDeque<>();

    @Override
    public void add(Fiber<?> fiber, long now) {
      fibers.push(fiber);
    }

    @Override
    public @Nullable Fiber<?> next(long now) {
      return fibers.poll();
    }

    @Override
    public int size() {
      return fibers.size();
    }
  }

  static Scheduler lastFirst() {
    return Scheduler.builder().threads(1).useCaller(true).policy(LastFirst::new).build();
  }

  // @end

  @Test
  void policy() {
    Scheduler scheduler = lastFirst();
    scheduler.go(() -> println("first"));
    scheduler.go(() -> println("second"));
    scheduler.start();
    scheduler.stop();
    assertThat(out).containsExactly("second", "first");
  }

  @Test
  void timers() throws Exception {
    AtomicInteger ticks = new AtomicInteger();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      // @start region="timers"
      scheduler.timers().after(Duration.ofMillis(5), () -> println("once"));
      Timer ticker = scheduler.timers().every(Duration.ofMillis(1), ticks::incrementAndGet);
      Timer reminder = scheduler.timers().after(Duration.ofHours(1), () -> println("too late"));
      reminder.cancel(); // true: it had not fired
      // @end
      Eventually.eventually("it ticks", () -> ticks.get() >= 3);
      assertThat(ticker.cancel()).isTrue();
    }
    assertThat(out).containsExactly("once");
  }

  @Test
  void pool() throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(2).build().start();
    // @start region="pool"
    try (FiberPool pool =
        FiberPool.builder()
            .scheduler(scheduler)
            .fibers(10) // ten queries at a time
            .queue(100) // a hundred more tasks may wait in the queue
            .whenFull(FiberPool.WhenFull.WAIT) // then the submitters wait
            .build()) {
      Future<String> row = pool.submit(() -> "row 1");
      println(row.get()); // prints row 1
    } // waits for the submitted tasks
    // @end
    scheduler.stop();
    assertThat(out).containsExactly("row 1");
  }
}
