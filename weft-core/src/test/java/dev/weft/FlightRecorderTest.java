package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.sync.Semaphore;
import dev.weft.testkit.Feature;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events for the JDK's Flight Recorder. */
@Feature({"S17", "S22"})
class FlightRecorderTest {
  private static List<RecordedEvent> of(
      List<RecordedEvent> events, String type, String field, Object value) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals("dev.weft." + type))
        .filter(event -> value.equals(event.getValue(field)))
        .toList();
  }

  /** Returns the methods on the stack of an event; lambdas count as the method they are in. */
  private static List<String> stackOf(RecordedEvent event) {
    return event.getStackTrace().getFrames().stream()
        .map(RecordedFrame::getMethod)
        .map(
            method ->
                method.getType().getName()
                    + "."
                    + method.getName().replaceFirst("lambda\\$(\\w+)\\$.*", "$1"))
        .toList();
  }

  @Test
  @Feature("O4")
  void waitsAreRecordedWithTheStackOfTheFiber(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("weft.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("dev.weft.CarrierMark");
      recording.enable("dev.weft.FiberPark");
      recording.enable("dev.weft.FiberWait").withThreshold(Duration.ofMillis(20));
      recording.enable("dev.weft.FiberSlice").withoutThreshold();
      recording.start();
      Semaphore semaphore = new Semaphore(0);
      CountDownLatch latch = new CountDownLatch(1);
      try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
        Fiber<Void> waiter = scheduler.go(FiberOptions.named("waiter"), () -> waitFor(semaphore));
        Fiber<Void> other = scheduler.go(FiberOptions.named("other"), () -> waitFor(latch));
        waits(waiter);
        waits(other);
        long start = System.nanoTime();
        eventually("they wait for long", () -> System.nanoTime() - start > 30_000_000);
        semaphore.release();
        latch.countDown();
        waiter.join();
        other.join();
      }
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    List<RecordedEvent> waits =
        events.stream()
            .filter(event -> event.getEventType().getName().equals("dev.weft.FiberWait"))
            .filter(event -> event.getThread().getJavaName().equals("waiter"))
            .toList();
    assertThat(waits)
        .singleElement()
        .satisfies(
            wait -> {
              assertThat(wait.getDuration()).isGreaterThan(Duration.ofMillis(30));
              assertThat(wait.getString("waitsFor")).containsIgnoringCase("semaphore");
              assertThat(stackOf(wait)).contains("dev.weft.FlightRecorderTest.waitFor");
            });
    assertThat(of(events, "FiberPark", "name", "waiter")).isEmpty();
    assertThat(of(events, "FiberPark", "name", "other"))
        .singleElement()
        .satisfies(
            park -> {
              assertThat(park.getDuration("waited")).isGreaterThan(Duration.ofMillis(29));
              assertThat(park.getString("waitsFor")).isEqualTo("the count of a CountDownLatch");
              assertThat(park.getString("stack"))
                  .contains("CountDownLatch.await", "FlightRecorderTest.waitFor");
            });
    // JDK 25 drops an event of the worker after one of the fiber: a mark, and not the slice
    assertThat(of(events, "FiberSlice", "name", "waiter")).hasSize(2);
  }

  private static void waitFor(Semaphore semaphore) throws InterruptedException {
    semaphore.acquire();
  }

  private static void waitFor(CountDownLatch latch) throws InterruptedException {
    latch.await();
  }

  @Test
  void fibersSlicesStealsAndBlockedThreadsAreRecorded(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("weft.jfr");
    try (LogCapture log = new LogCapture();
        Recording recording = new Recording()) {
      recording.enable("dev.weft.FiberStart");
      recording.enable("dev.weft.FiberEnd");
      recording.enable("dev.weft.FiberSlice").withThreshold(Duration.ofMillis(20));
      recording.enable("dev.weft.FibersStolen");
      recording.enable("dev.weft.WorkerBlocked");
      recording.start();
      Scheduler scheduler =
          Scheduler.builder()
              .threads(2)
              .name("recorded")
              .policy(Policy.workStealing())
              .blockedAfter(Duration.ofMillis(30))
              .build()
              .start();
      CountDownLatch stolen = new CountDownLatch(3);
      scheduler.go(
          FiberOptions.named("hog").onThread(0),
          () -> {
            for (int i = 0; i < 3; i++) {
              scheduler.go(FiberOptions.named("light"), stolen::countDown);
            }
            while (stolen.getCount() > 0 || log.entries("hog").isEmpty()) {
              Thread.onSpinWait();
            }
          });
      eventually("the hog is reported", () -> !log.entries("hog").isEmpty());
      scheduler.stop();
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(of(events, "FiberStart", "scheduler", "recorded")).hasSize(4);
    assertThat(of(events, "FiberStart", "name", "light")).hasSize(3);
    assertThat(of(events, "FiberEnd", "name", "light")).hasSize(3);
    RecordedEvent start = of(events, "FiberStart", "name", "hog").getFirst();
    RecordedEvent end = of(events, "FiberEnd", "name", "hog").getFirst();
    assertThat(end.getLong("fiber")).isEqualTo(start.getLong("fiber"));
    assertThat(end.getStartTime()).isAfter(start.getStartTime());
    assertThat(of(events, "FiberSlice", "name", "hog"))
        .singleElement()
        .satisfies(
            slice -> {
              assertThat(slice.getInt("thread")).isZero();
              assertThat(slice.getDuration()).isGreaterThan(Duration.ofMillis(20));
            });
    assertThat(of(events, "WorkerBlocked", "name", "hog"))
        .singleElement()
        .satisfies(
            blocked -> {
              assertThat(blocked.getInt("thread")).isZero();
              assertThat(blocked.getDuration("blockedFor")).isGreaterThan(Duration.ofMillis(30));
              assertThat(blocked.getString("stack")).contains("FlightRecorderTest");
            });
    List<RecordedEvent> steals = of(events, "FibersStolen", "from", 0);
    assertThat(steals).isNotEmpty().allMatch(steal -> steal.getInt("to") == 1);
    assertThat(steals.stream().mapToInt(steal -> steal.getInt("count")).sum()).isEqualTo(3);
  }

  @Test
  @Feature("S28")
  void fibersThatAreSetApartAndGoBackAreRecorded(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("weft.jfr");
    long id;
    try (Recording recording = new Recording()) {
      recording.enable("dev.weft.FiberApart");
      recording.start();
      try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
        Fiber<?> fiber =
            scheduler.go(
                FiberOptions.named("computes"),
                () -> {
                  while (Fiber.threadIndex() != -1) { // the test's limit ends it
                    long end = System.nanoTime() + 20_000_000;
                    while (System.nanoTime() < end) {
                      Thread.onSpinWait();
                    }
                    Fiber.yield();
                  }
                  while (Fiber.threadIndex() == -1) {
                    Fiber.sleep(Duration.ofMillis(1)); // not yield: see ComputingApartTest
                  }
                });
        id = fiber.id();
        fiber.join();
      }
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events =
        of(RecordingFile.readAllEvents(file), "FiberApart", "name", "computes").stream()
            .sorted(Comparator.comparing(RecordedEvent::getStartTime))
            .toList();
    assertThat(events).extracting(event -> event.getBoolean("apart")).containsExactly(true, false);
    assertThat(events).allMatch(event -> event.getLong("fiber") == id);
  }

  @Test
  @Feature("H7")
  void blockingCallsAreRecordedAndAreNoSlices(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("weft.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("dev.weft.FiberEnd");
      recording.enable("dev.weft.FiberSlice").withThreshold(Duration.ofSeconds(1));
      recording.enable("dev.weft.BlockingCall").withThreshold(Duration.ofMillis(10));
      recording.start();
      try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
        scheduler
            .go(
                FiberOptions.named("reader"),
                () -> {
                  Weft.blocking(
                      () -> {
                        Thread.sleep(1_100);
                        return null;
                      });
                })
            .join();
      }
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(of(events, "BlockingCall", "name", "reader"))
        .singleElement()
        .satisfies(
            call -> {
              assertThat(call.getDuration()).isGreaterThan(Duration.ofSeconds(1));
              assertThat(call.getString("helper")).startsWith("weft-blocking-");
              assertThat(stackOf(call))
                  .contains("dev.weft.FlightRecorderTest.blockingCallsAreRecordedAndAreNoSlices");
            });
    assertThat(of(events, "FiberSlice", "name", "reader")).isEmpty();
    assertThat(of(events, "FiberEnd", "name", "reader")).hasSize(1);
  }
}
