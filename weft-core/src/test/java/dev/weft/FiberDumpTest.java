package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contents of a dump; taking a dump disturbs no fiber. */
@Feature("S18")
class FiberDumpTest {
  private static Map<String, FiberDump.Entry> byName(Scheduler scheduler) {
    return scheduler.dump().fibers().stream()
        .collect(Collectors.toMap(FiberDump.Entry::name, Function.identity()));
  }

  private static void waitHere() {
    Fiber.suspend();
  }

  private static final class Shy {
    @Override
    public String toString() {
      throw new UnsupportedOperationException("not now");
    }
  }

  @Test
  @Feature("S19")
  void aToStringThatThrowsDoesNotSpoilTheDump() {
    Scheduler scheduler = Scheduler.builder().threads(1).failOnDeadlock(true).build().start();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              while (true) {
                LockSupport.park(new Shy());
              }
            });
    waits(fiber);
    assertThat(scheduler.dump().fibers())
        .singleElement()
        .extracting(FiberDump.Entry::waitsFor)
        .asString()
        .contains(Shy.class.getName(), "UnsupportedOperationException: not now");
    assertThatIllegalStateException()
        .isThrownBy(scheduler::stop)
        .withMessageContaining(Shy.class.getName());
  }

  @Test
  @SuppressWarnings("WaitNotInLoop") // no thread ever notifies it
  void aDumpHasEveryFiberWithWhatItWaitsFor() throws Exception {
    Scheduler scheduler = Scheduler.builder().threads(2).name("dumped").build().start();
    CountDownLatch release = new CountDownLatch(1);
    Object monitor = new Object();
    Fiber<Void> suspended = scheduler.go(FiberOptions.named("suspended"), () -> waitHere());
    Fiber<Void> joiner = scheduler.go(FiberOptions.named("joiner"), () -> suspended.join());
    Fiber<Void> sleeper =
        scheduler.go(FiberOptions.named("sleeper"), () -> Fiber.sleep(Duration.ofHours(1)));
    Fiber<Void> latched = scheduler.go(FiberOptions.named("latched"), () -> release.await());
    Fiber<Void> unnamed =
        scheduler.go(
            () -> {
              synchronized (monitor) {
                monitor.wait();
              }
            });
    for (Fiber<?> fiber : List.of(suspended, joiner, sleeper, latched, unnamed)) {
      waits(fiber);
    }
    AtomicBoolean spins = new AtomicBoolean();
    AtomicBoolean over = new AtomicBoolean();
    scheduler.go(
        FiberOptions.named("spinner").onThread(1),
        () -> {
          spins.set(true);
          while (!over.get()) {
            Thread.onSpinWait();
          }
        });
    eventually("the fiber spins", spins::get);
    Fiber<Void> ready = scheduler.go(FiberOptions.named("ready").onThread(1), () -> {});

    Map<String, FiberDump.Entry> dump = byName(scheduler);
    assertThat(dump)
        .containsOnlyKeys(
            "suspended",
            "joiner",
            "sleeper",
            "latched",
            "fiber-" + unnamed.id(),
            "spinner",
            "ready");
    FiberDump.Entry entry = dump.get("suspended");
    assertThat(entry.id()).isEqualTo(suspended.id());
    assertThat(entry.status()).isEqualTo(Fiber.Status.WAITING);
    assertThat(entry.guest()).isFalse();
    assertThat(entry.waitsFor()).isEqualTo("schedule(fiber)");
    assertThat(entry.stack())
        .anyMatch(
            frame ->
                frame.getClassName().equals(FiberDumpTest.class.getName())
                    && frame.getMethodName().equals("waitHere"));
    assertThat(dump.get("joiner").waitsFor())
        .isEqualTo("the end of fiber " + suspended.id() + " (suspended)");
    assertThat(dump.get("sleeper").waitsFor()).isEqualTo("sleep");
    assertThat(dump.get("latched").waitsFor()).contains("CountDownLatch");
    assertThat(dump.get("fiber-" + unnamed.id()).stack())
        .anyMatch(frame -> frame.getMethodName().equals("wait0"));
    assertThat(dump.get("spinner").status()).isEqualTo(Fiber.Status.RUNNING);
    assertThat(dump.get("spinner").thread()).isEqualTo(1);
    assertThat(dump.get("spinner").waitsFor()).isEmpty();
    assertThat(dump.get("ready").status()).isEqualTo(Fiber.Status.READY);
    assertThat(ready.status()).isEqualTo(Fiber.Status.READY);
    assertThat(scheduler.dump().fibers())
        .as("oldest first")
        .isSortedAccordingTo(java.util.Comparator.comparingLong(FiberDump.Entry::id));

    over.set(true);
    release.countDown();
    sleeper.cancel();
    synchronized (monitor) {
      monitor.notifyAll();
    }
    scheduler.schedule(suspended);
    scheduler.stop();
    assertThat(scheduler.dump().fibers()).isEmpty();
  }

  @Test
  void aDumpSaysHowLongAFiberWaits() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> fiber = scheduler.go(FiberOptions.named("f"), () -> Fiber.suspend());
      waits(fiber);
      long start = System.nanoTime();
      eventually(
          "it has waited for 50 ms",
          () -> byName(scheduler).get("f").waiting().compareTo(Duration.ofMillis(50)) >= 0);
      assertThat(System.nanoTime() - start).isGreaterThan(20_000_000);
      scheduler.schedule(fiber);
    }
  }

  @Test
  void asTextADumpIsALineAndAStackForEachFiber() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).name("texted").build().start()) {
      Fiber<Void> fiber = scheduler.go(FiberOptions.named("f"), () -> waitHere());
      waits(fiber);
      assertThat(scheduler.dump().text().lines().toList())
          .startsWith("scheduler texted, 1 fibers")
          .anyMatch(
              line ->
                  line.matches(
                      "fiber "
                          + fiber.id()
                          + " \\(f\\) WAITING on thread 0, waits for schedule\\(fiber\\) for \\d+"
                          + " ms"))
          .anyMatch(line -> line.contains("at dev.weft.FiberDumpTest.waitHere("));
      scheduler.schedule(fiber);
    }
  }

  @Test
  void aSleepingFiberIsSaidToSleep() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> fiber = scheduler.go(() -> Fiber.sleep(Duration.ofHours(1)));
      waits(fiber);
      assertThat(scheduler.dump().fibers().getFirst().summary())
          .matches("fiber .* WAITING on thread 0, sleeping for \\d+ ms");
      fiber.cancel();
    }
  }

  @Test
  void asJsonADumpCanBeParsed() throws Exception {
    String name = "a \"name\" with \\, \n, \t and ü";
    try (Scheduler scheduler = Scheduler.builder().threads(1).name("jsoned").build().start()) {
      Fiber<Void> first = scheduler.go(FiberOptions.named(name), () -> waitHere());
      Fiber<Void> second = scheduler.go(FiberOptions.named("second"), () -> first.join());
      waits(first);
      waits(second);
      Map<?, ?> json = (Map<?, ?>) Json.parse(scheduler.dump().json());
      assertThat(json.get("scheduler")).isEqualTo("jsoned");
      List<?> fibers = (List<?>) json.get("fibers");
      assertThat(fibers).hasSize(2);
      Map<?, ?> entry = (Map<?, ?>) fibers.getFirst();
      assertThat(entry.get("id")).isEqualTo((double) first.id());
      assertThat(entry.get("name")).isEqualTo(name);
      assertThat(entry.get("status")).isEqualTo("WAITING");
      assertThat(entry.get("guest")).isEqualTo(false);
      assertThat(entry.get("thread")).isEqualTo(0.0);
      assertThat(entry.get("waitsFor")).isEqualTo("schedule(fiber)");
      assertThat((Double) entry.get("waitingMillis")).isNotNegative();
      assertThat((List<?>) entry.get("stack"))
          .anyMatch(frame -> ((String) frame).contains("FiberDumpTest.waitHere"));
      assertThat(((Map<?, ?>) fibers.get(1)).get("waitsFor").toString())
          .isEqualTo("the end of fiber " + first.id() + " (" + name + ")");
      scheduler.schedule(first);
    }
  }

  /**
   * The JDK submits a thread to its executor once more after it has taken the thread's stack:
   * neither the order of fibers nor any count may change.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @SuppressWarnings("UnnecessaryAsync") // two threads might run the fiber, if Weft had a fault
  void takingADumpDisturbsNoFiber(boolean steals) throws Exception {
    Policy policy = steals ? Policy.workStealing() : Policy.fifo();
    Scheduler scheduler =
        Scheduler.builder().threads(2).policy(policy).separateComputing(false).build().start();
    AtomicInteger slices = new AtomicInteger();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int kind = i % 2;
      fibers.add(
          scheduler.go(
              () -> {
                AtomicBoolean running = new AtomicBoolean(true);
                for (int k = 0; k < 5_000; k++) {
                  assertThat(running.compareAndSet(true, false)).isTrue();
                  if (kind == 0) {
                    Fiber.yield();
                  } else {
                    scheduler.schedule(Fiber.current().orElseThrow());
                    Thread.yield();
                    Fiber.suspend();
                  }
                  assertThat(running.compareAndSet(false, true)).isTrue();
                  assertThat(Fiber.threadIndex())
                      .isEqualTo(indexOfCarrier(Thread.currentThread().toString()));
                  slices.incrementAndGet();
                }
              }));
    }
    while (fibers.stream().anyMatch(fiber -> fiber.status() != Fiber.Status.DONE)) {
      scheduler.dump();
      scheduler.groupedDump();
      for (Fiber<Void> fiber : fibers) {
        for (int i = 0; i < 20; i++) {
          fiber.thread().getStackTrace();
        }
      }
    }
    for (Fiber<Void> fiber : fibers) {
      fiber.join();
    }
    scheduler.stop();
    assertThat(slices).hasValue(8 * 5_000);
    assertThat(scheduler.stats().begun()).isEqualTo(8);
    assertThat(scheduler.stats().ended()).isEqualTo(8);
  }

  private static int indexOfCarrier(String thread) {
    return Integer.parseInt(thread.substring(thread.lastIndexOf('-') + 1));
  }
}
