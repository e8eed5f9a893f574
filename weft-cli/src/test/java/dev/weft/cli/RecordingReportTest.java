package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.sync.Mutex;
import dev.weft.sync.Semaphore;
import dev.weft.testkit.Feature;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of {@code ./weft report}, of a recording with weft.jfc. */
@Feature("O4")
@Timeout(60)
class RecordingReportTest {
  @TempDir Path folder;

  private Path record(boolean withFibers) throws Exception {
    Path file = folder.resolve("a <b>.jfr");
    try (Recording recording =
        new Recording(Configuration.create(Script.ROOT.resolve("weft.jfc")))) {
      recording.start();
      if (withFibers) {
        runFibers();
      }
      recording.stop();
      recording.dump(file);
    }
    return file;
  }

  private static void runFibers() throws Exception {
    Semaphore permits = new Semaphore(0);
    CountDownLatch latch = new CountDownLatch(1);
    try (Scheduler scheduler =
        Scheduler.builder()
            .threads(2)
            .name("reported")
            .blockedAfter(Duration.ofMillis(50))
            .build()
            .start()) {
      List<Fiber<Void>> fibers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        fibers.add(scheduler.go(FiberOptions.named("buyer-" + i), () -> takePermit(permits)));
      }
      fibers.add(scheduler.go(FiberOptions.named("old"), () -> latch.await()));
      Mutex mutex = new Mutex();
      for (int i = 0; i < 2; i++) { // one has it, the other waits
        fibers.add(
            scheduler.go(
                FiberOptions.named("locker-" + i),
                () -> {
                  mutex.lock();
                  try {
                    latch.await();
                  } finally {
                    mutex.unlock();
                  }
                }));
      }
      awaitWaiting(fibers);
      fibers.add(
          scheduler.go(
              FiberOptions.named("caller"),
              () -> {
                Weft.blocking(() -> latch.await(30, TimeUnit.MILLISECONDS));
              }));
      fibers.add(scheduler.go(FiberOptions.named("<hog>"), RecordingReportTest::compute));
      Thread.sleep(150); // the waits are longer than this; weft.jfc records those of 5 ms or more
      permits.release(3);
      latch.countDown();
      for (Fiber<Void> fiber : fibers) {
        fiber.join();
      }
    }
  }

  /** Returns as soon as all wait: a fiber that came later would find the permit there. */
  private static void awaitWaiting(List<Fiber<Void>> fibers) {
    while (!fibers.stream().allMatch(fiber -> fiber.status() == Fiber.Status.WAITING)) {
      LockSupport.parkNanos(1_000_000); // the test has a time limit
    }
  }

  private static void takePermit(Semaphore permits) throws InterruptedException {
    permits.acquire();
  }

  private static void compute() {
    long end = System.nanoTime() + 300_000_000;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  @Test
  void thePageShowsWhatRanAndWhatWaitedByStack() throws Exception {
    Path recording = record(true);
    Report.make(new String[] {recording.toString()});
    String page = Files.readString(folder.resolve("a <b>.html"));
    assertThat(page)
        .startsWith("<!doctype html>")
        .contains("<title>Fibers in a &lt;b&gt;.jfr</title>", "3", "fibers begun")
        .doesNotContain("<hog>", "<b>.jfr", "<script", "http:", "https:");
    assertThat(section(page, "What ran")).contains("&lt;hog&gt;");
    assertThat(section(page, "What fibers waited for"))
        .contains("permit of semaphore", "RecordingReportTest.takePermit", "buyer-")
        .contains("the count of a CountDownLatch", "CountDownLatch.await", "old")
        .contains("the lock of mutex #", "locker-")
        .doesNotContain("(free)", "(held");
    assertThat(section(page, "Hot slices")).contains("&lt;hog&gt;", "reported-");
    assertThat(section(page, "Threads that were held"))
        .contains("&lt;hog&gt;", "RecordingReportTest.compute");
    assertThat(section(page, "Calls that held helper threads"))
        .contains("At most 1 helper was held at one time", "RecordingReportTest", "caller");
    assertThat(section(page, "Code that ran")).contains("RecordingReportTest.compute");
  }

  private static String section(String page, String heading) {
    int start = page.indexOf("<h2>" + heading + "</h2>");
    assertThat(start).as("a heading %s", heading).isPositive();
    int end = page.indexOf("<h2>", start + 1);
    return page.substring(start, end < 0 ? page.length() : end);
  }

  @Test
  void aRecordingWithoutFibersMakesAPageThatSaysSo() throws Exception {
    Path page = folder.resolve("out.html");
    Report.make(new String[] {record(false).toString(), "-o", page.toString()});
    assertThat(page).content().contains("no event of Weft's", "None recorded");
  }

  @Test
  void mistakesAreNamed() throws Exception {
    Path text = Files.writeString(folder.resolve("text.jfr"), "no recording");
    assertMistake("no recording is named");
    assertMistake("no such file: gone.jfr", "gone.jfr");
    assertMistake("is it a recording of the Flight Recorder?", text.toString());
    assertMistake("one recording makes one page", "a.jfr", "b.jfr");
    assertMistake("unknown option --fast", "--fast");
    assertMistake("cannot write", record(false).toString(), "-o", folder + "/gone/out.html");
  }

  private static void assertMistake(String message, String... args) {
    assertThatThrownBy(() -> Report.make(args))
        .isInstanceOf(UserMistake.class)
        .hasMessageContaining(message);
  }
}
