package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocking calls: a fiber moves to a helper thread for its body, and returns. */
@Feature("H7")
class BlockingTest {
  private static final ScopedValue<String> SCOPED = ScopedValue.newInstance();

  private final Scheduler scheduler =
      Scheduler.builder().threads(1).blockedAfter(Duration.ofMillis(30)).build().start();
  private final CountDownLatch release = new CountDownLatch(1);

  @AfterEach
  void stop() {
    release.countDown();
    scheduler.stop();
  }

  /** Returns the name of the fiber's carrier: the text of a virtual thread ends with it. */
  private static String carrier() {
    String text = Thread.currentThread().toString();
    return text.substring(text.lastIndexOf('@') + 1);
  }

  private static void assertOnHelper() {
    assertThat(carrier()).startsWith("weft-blocking-");
    assertThat(Fiber.threadIndex()).isEqualTo(-1);
  }

  private void assertBack(int thread) {
    assertThat(carrier()).isEqualTo(scheduler.name() + "-" + thread);
    assertThat(Fiber.threadIndex()).isEqualTo(thread);
  }

  /** Starts a fiber that is in a blocking call until the test releases it. */
  private Fiber<String> blocked() {
    Fiber<String> fiber =
        scheduler.go(
            FiberOptions.named("blocked"),
            () ->
                Weft.blocking(
                    () -> {
                      release.await();
                      return "released";
                    }));
    eventually("the fiber is in its blocking call", () -> core(fiber).isOnHelper());
    return fiber;
  }

  @Test
  void theBodyRunsInTheSameFiber() throws Exception {
    ThreadLocal<String> local = new ThreadLocal<>();
    scheduler
        .go(
            () ->
                ScopedValue.where(SCOPED, "scoped")
                    .call(
                        () -> {
                          local.set("before");
                          Thread thread = Thread.currentThread();
                          Fiber<?> self = Fiber.current().orElseThrow();
                          String result =
                              Weft.blocking(
                                  () -> {
                                    assertOnHelper();
                                    assertThat(Thread.currentThread()).isSameAs(thread);
                                    assertThat(Fiber.current()).containsSame(self);
                                    assertThat(self.status()).isEqualTo(Fiber.Status.RUNNING);
                                    assertThat(Scheduler.current()).containsSame(scheduler);
                                    assertThat(SCOPED.get()).isEqualTo("scoped");
                                    assertThat(local.get()).isEqualTo("before");
                                    local.set("after");
                                    return "result";
                                  });
                          assertThat(result).isEqualTo("result");
                          assertThat(local.get()).isEqualTo("after");
                          assertThat(SCOPED.get()).isEqualTo("scoped");
                          assertBack(0);
                          return null;
                        }))
        .join();
  }

  @Test
  void theOtherFibersOfItsOnlyThreadGoOn() throws Exception {
    Fiber<String> blocked = blocked();
    scheduler.go(release::countDown);
    assertThat(blocked.join()).isEqualTo("released");
  }

  @Test
  void theExceptionOfTheBodyComesOutUnchanged() throws Exception {
    scheduler
        .go(
            () -> {
              for (Throwable thrown :
                  List.of(
                      new IOException("io"),
                      new IllegalArgumentException("unchecked"),
                      new AssertionError("error"),
                      new InterruptedException("interrupted"))) {
                assertThatThrownBy(
                        () ->
                            Weft.blocking(
                                () -> {
                                  if (thrown instanceof Error error) {
                                    throw error;
                                  }
                                  throw (Exception) thrown;
                                }))
                    .isSameAs(thrown);
                assertBack(0);
              }
            })
        .join();
  }

  @Test
  void theBodyMayBeWithoutAResult() throws Exception {
    List<String> carriers = new ArrayList<>();
    Body go =
        () -> {
          Weft.blocking(() -> carriers.add(carrier()));
          Weft.blocking(
              () -> {
                Thread.sleep(1);
                carriers.add(carrier());
              });
          assertThatIOException()
              .isThrownBy(
                  () ->
                      Weft.blocking(
                          () -> {
                            carriers.add(carrier());
                            throw new IOException("checked");
                          }));
        };
    scheduler.go(go).join();
    assertThat(carriers).hasSize(3).allMatch(name -> name.startsWith("weft-blocking-"));
    assertThatNullPointerException()
        .isThrownBy(() -> Weft.blocking((Body) null))
        .withMessage("body");
  }

  @Test
  void outsideFibersTheBodyRunsRightHere() throws Exception {
    Thread here = Thread.currentThread();
    here.interrupt(); // outside fibers a blocking call is not a cancel point
    assertThat(Weft.blocking(Thread::currentThread)).isSameAs(here);
    assertThat(Thread.interrupted()).isTrue();
    AtomicReference<String> seen = new AtomicReference<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                seen.set(Weft.blocking(BlockingTest::carrier));
              } catch (Exception e) {
                seen.set(e.toString());
              }
            })
        .join();
    assertThat(seen.get()).startsWith("ForkJoinPool");
  }

  @Test
  void aNestedBlockingCallJustRunsItsBody() throws Exception {
    scheduler
        .go(
            () -> {
              Weft.blocking(
                  () -> {
                    String helper = carrier();
                    assertThat(Weft.blocking(BlockingTest::carrier)).isEqualTo(helper);
                    assertThat(carrier()).isEqualTo(helper);
                    return null;
                  });
              assertBack(0);
            })
        .join();
  }

  @Test
  void aBoundFiberComesBackToItsThread() throws Exception {
    try (Scheduler two = Scheduler.builder().threads(2).build().start()) {
      for (int i = 0; i < 50; i++) {
        int thread = i % 2;
        assertThat(
                two.go(
                        FiberOptions.named("bound").onThread(thread),
                        () -> {
                          assertThat(Weft.blocking(() -> Fiber.threadIndex())).isEqualTo(-1);
                          return Fiber.threadIndex();
                        })
                    .join())
            .isEqualTo(thread);
      }
    }
  }

  @Test
  void aFiberThatIsBoundInTheBodyReturnsToThatThread() throws Exception {
    try (Scheduler two = Scheduler.builder().threads(2).build().start()) {
      CountDownLatch inside = new CountDownLatch(1);
      Fiber<Integer> fiber =
          two.go(
              FiberOptions.named("f").onThread(0),
              () -> {
                Weft.blocking(
                    () -> {
                      inside.countDown();
                      release.await();
                      return null;
                    });
                return Fiber.threadIndex();
              });
      inside.await();
      two.schedule(fiber, 1);
      release.countDown();
      assertThat(fiber.join()).isEqualTo(1);
    }
  }

  /** Only on helper threads can two fibers of one worker block in monitors at once. */
  @Test
  @SuppressWarnings("WaitNotInLoop") // one notification, for this thread
  void monitorsParksAndSleepsBlockTheHelperOnly() throws Exception {
    Object monitor = new Object();
    CountDownLatch held = new CountDownLatch(1);
    Thread holder =
        Thread.ofPlatform()
            .start(
                () -> {
                  synchronized (monitor) {
                    held.countDown();
                    try {
                      release.await();
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                  }
                });
    held.await();
    CountDownLatch waiting = new CountDownLatch(1);
    Fiber<Void> enters =
        scheduler.go(
            () ->
                Weft.blocking(
                    () -> {
                      synchronized (monitor) {
                        assertOnHelper();
                        waiting.countDown();
                        monitor.wait();
                        assertOnHelper();
                        Thread.sleep(1);
                        assertOnHelper();
                        Fiber.sleep(Duration.ofMillis(1));
                        assertOnHelper();
                        return null;
                      }
                    }));
    eventually(
        "it waits for the monitor",
        () -> core(enters).isOnHelper() && enters.thread().getState() == Thread.State.BLOCKED);
    scheduler.go(release::countDown).join();
    waiting.await();
    scheduler
        .go(
            () -> {
              synchronized (monitor) {
                monitor.notifyAll();
              }
            })
        .join();
    enters.join();
    holder.join();
  }

  @Test
  void aHeldMonitorStaysHeldOnTheHelper() throws Exception {
    Object monitor = new Object();
    AtomicBoolean inside = new AtomicBoolean();
    Fiber<Void> owner =
        scheduler.go(
            () -> {
              synchronized (monitor) {
                inside.set(true);
                Weft.blocking(
                    () -> {
                      assertThat(Thread.holdsLock(monitor)).isTrue();
                      release.await();
                      return null;
                    });
                assertThat(Thread.holdsLock(monitor)).isTrue();
                inside.set(false);
              }
            });
    eventually("the owner is in its blocking call", () -> core(owner).isOnHelper());
    Fiber<Boolean> second =
        scheduler.go(
            () -> {
              synchronized (monitor) {
                return inside.get();
              }
            });
    waits(second);
    release.countDown();
    assertThat(second.join()).isFalse();
    owner.join();
  }

  @Test
  void inTheBodyWeftsOwnCallsWork() throws Exception {
    Fiber<String> fiber =
        scheduler.go(
            () ->
                Weft.blocking(
                    () -> {
                      // a fiber started in the body wakes its sleeping worker
                      assertThat(Weft.go(() -> Fiber.threadIndex()).join()).isZero();
                      assertThat(Weft.go(() -> 1).join(Duration.ofSeconds(30))).isEqualTo(1);
                      assertThatThrownBy(
                              () ->
                                  Weft.withTimeout(
                                      Duration.ofMillis(1),
                                      () -> {
                                        release.await();
                                        return null;
                                      }))
                          .isInstanceOf(TimeoutException.class);
                      try (Scope scope = Scope.open()) {
                        scope.go(() -> Fiber.threadIndex());
                        scope.join();
                      }
                      CountDownLatch rang = new CountDownLatch(1);
                      scheduler.timers().after(Duration.ofMillis(1), rang::countDown);
                      rang.await();
                      AtomicBoolean guestRan = new AtomicBoolean();
                      Thread.ofVirtual().start(() -> guestRan.set(true)).join();
                      assertThat(guestRan).isTrue();
                      Fiber.yield();
                      assertOnHelper();
                      Fiber.suspend();
                      assertOnHelper();
                      return "woken";
                    }));
    eventually(
        "it is suspended",
        () ->
            core(fiber).isOnHelper()
                && fiber.thread().getState() == Thread.State.WAITING
                && Arrays.toString(fiber.thread().getStackTrace()).contains("Fiber.suspend"));
    scheduler.schedule(fiber);
    assertThat(fiber.join()).isEqualTo("woken");
  }

  @Test
  void inTheBodySocketsWork() throws Exception {
    try (TcpListener listener =
        TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      Fiber<Integer> server =
          scheduler.go(
              () ->
                  Weft.blocking(
                      () -> {
                        try (TcpStream stream = listener.accept()) {
                          assertOnHelper();
                          int read = stream.inputStream().read();
                          assertOnHelper();
                          return read;
                        }
                      }));
      try (TcpStream client = TcpStream.connect(listener.localAddress(), Duration.ofSeconds(30))) {
        client.outputStream().write(7);
        assertThat(server.join()).isEqualTo(7);
      }
    }
  }

  @Test
  @Feature("H2")
  void inTheBodyTheJdksSocketsWork() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Fiber<Integer> server =
          scheduler.go(
              () ->
                  Weft.blocking(
                      () -> {
                        try (Socket peer = listener.accept()) {
                          assertOnHelper();
                          peer.setSoTimeout(30_000);
                          int read = peer.getInputStream().read();
                          assertOnHelper();
                          return read;
                        }
                      }));
      try (Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
        client.getOutputStream().write(7);
        assertThat(server.join()).isEqualTo(7);
      }
    }
  }

  /** A sleep in the body blocks the helper itself: no worker has to wake it. */
  @Test
  void inTheBodySleepsNeedNoWorker() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    AtomicBoolean slept = new AtomicBoolean();
    AtomicBoolean over = new AtomicBoolean();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              Weft.blocking(
                  () -> {
                    inside.countDown();
                    release.await();
                    Fiber.sleep(Duration.ofMillis(1));
                    Thread.sleep(1);
                    slept.set(true);
                    return null;
                  });
            });
    inside.await();
    try (LogCapture _ = new LogCapture()) {
      Fiber<Void> hog =
          scheduler.go(
              () -> {
                release.countDown();
                while (!over.get()) {
                  Thread.onSpinWait();
                }
              });
      eventually("the fiber has slept although its worker is busy", slept::get);
      over.set(true);
      hog.join();
    }
    fiber.join();
  }

  @Test
  void switchingIsRefusedInTheBody() throws Exception {
    scheduler
        .go(
            () -> {
              Fiber<?> self = Fiber.current().orElseThrow();
              Weft.blocking(
                  () -> {
                    assertThatIllegalStateException()
                        .isThrownBy(() -> Fiber.switchTo(0))
                        .withMessage(
                            "cannot switch "
                                + self
                                + ": it is in a blocking call, pinned to a helper thread");
                    assertThatIllegalStateException()
                        .isThrownBy(() -> Fiber.switchTo(Scheduler.shared()))
                        .withMessageContaining("blocking call");
                    return null;
                  });
              Fiber.switchTo(0);
              assertBack(0);
            })
        .join();
  }

  @Test
  void timeSlicesDoNotApplyToTheBody() throws Exception {
    try (Scheduler sliced =
        Scheduler.builder().threads(1).policy(Policy.timeSlice(Duration.ofNanos(1))).build()) {
      sliced.start();
      sliced
          .go(
              () -> {
                Weft.blocking(
                    () -> {
                      Thread.sleep(1);
                      Weft.go(() -> {}); // yields if its slice is used up
                      assertOnHelper();
                      return null;
                    });
                assertThat(Fiber.threadIndex()).isZero();
              })
          .join();
    }
  }

  @Test
  void guestsMayMakeBlockingCallsToo() throws Exception {
    scheduler
        .go(
            () -> {
              AtomicReference<Object> seen = new AtomicReference<>();
              Thread guest =
                  Thread.ofVirtual()
                      .start(
                          () -> {
                            try {
                              Weft.blocking(
                                  () -> {
                                    assertOnHelper();
                                    assertThat(core(Fiber.current().orElseThrow()).isGuest())
                                        .isTrue();
                                    return null;
                                  });
                              assertBack(0);
                              seen.set("done");
                            } catch (Throwable e) {
                              seen.set(e);
                            }
                          });
              guest.join();
              assertThat(seen.get()).isEqualTo("done");
            })
        .join();
  }

  @Test
  void coroutinesMayMakeBlockingCallsButNotYieldInTheBody() throws Exception {
    scheduler
        .go(
            () -> {
              List<String> steps = new ArrayList<>();
              Coroutine coroutine =
                  Coroutine.of(
                      () -> {
                        Weft.blocking(
                            () -> {
                              assertOnHelper();
                              assertThatIllegalStateException()
                                  .isThrownBy(Coroutine::yield)
                                  .withMessageContaining("pinned");
                              Coroutine inner =
                                  Coroutine.of(
                                      () -> {
                                        steps.add("inner");
                                        Coroutine.yield();
                                        steps.add("inner again");
                                      });
                              inner.resume();
                              inner.resume();
                              assertOnHelper();
                              return null;
                            });
                        assertBack(0);
                        steps.add("first");
                        Coroutine.yield();
                        steps.add("second");
                      });
              coroutine.resume();
              steps.add("between");
              coroutine.resume();
              assertThat(steps)
                  .containsExactly("inner", "inner again", "first", "between", "second");
            })
        .join();
  }

  private static final AtomicReference<Object> IN_INITIALIZER = new AtomicReference<>();

  /** A class with an initializer, which runs below a native frame and so pins the fiber. */
  private static final class Pinned {
    static {
      try {
        IN_INITIALIZER.set(Weft.blocking(BlockingTest::carrier));
      } catch (Exception e) {
        IN_INITIALIZER.set(e);
      }
    }

    static void touch() {}
  }

  @Test
  void aPinnedFiberRunsTheBodyOnItsWorker() throws Exception {
    scheduler
        .go(
            () -> {
              Pinned.touch();
              assertThat(IN_INITIALIZER.get()).isEqualTo(scheduler.name() + "-0");
              Hook.disable();
              Weft.blocking(
                  () -> {
                    assertBack(0);
                    return null;
                  });
              Hook.enable();
              assertThat(Weft.blocking(BlockingTest::carrier)).startsWith("weft-blocking-");
              assertBack(0);
            })
        .join();
    assertThat(scheduler.stats().awaitingHelper()).isZero();
  }

  private static boolean disableTheHook() {
    Hook.disable();
    return true;
  }

  @Test
  void aFiberLeftPinnedByItsBodyReturnsAtItsFirstUnpinnedWait() throws Exception {
    scheduler
        .go(
            () -> {
              Weft.blocking(BlockingTest::disableTheHook);
              assertOnHelper();
              Fiber.yield();
              assertOnHelper();
              assertThat(Weft.go(() -> 1).join()).isEqualTo(1);
              Hook.enable();
              Fiber.yield();
              assertBack(0);
              assertThat(Weft.blocking(BlockingTest::carrier)).startsWith("weft-blocking-");
              assertBack(0);
            })
        .join();
    Fiber<Void> endsThere =
        scheduler.go(
            () -> {
              Weft.blocking(BlockingTest::disableTheHook);
            });
    endsThere.join();
    eventually(
        "the fiber's end is counted", () -> scheduler.stats().ended() == scheduler.stats().begun());
    assertThat(scheduler.dump().fibers()).isEmpty();
  }

  @Test
  void theInterruptStatusStaysWithTheFiber() throws Exception {
    scheduler
        .go(
            () -> {
              Weft.blocking(
                  () -> {
                    Thread.currentThread().interrupt();
                    return null;
                  });
              assertThat(Thread.interrupted()).isTrue();
              String second = Weft.blocking(() -> Thread.currentThread().isInterrupted() + "");
              assertThat(second).isEqualTo("false");
            })
        .join();
  }

  @Test
  void dumpAndStatisticsShowBlockingCalls() throws Exception {
    Fiber<String> blocked = blocked();
    Fiber<Void> suspended = scheduler.go(() -> Fiber.suspend());
    waits(suspended);
    FiberDump.Entry entry = scheduler.dump().fibers().getFirst();
    assertThat(entry.status()).isEqualTo(Fiber.Status.RUNNING);
    assertThat(entry.helper()).matches("weft-blocking-\\d+");
    assertThat(entry.waitsFor()).isEmpty();
    assertThat(entry.summary())
        .isEqualTo(
            "fiber " + blocked.id() + " (blocked) RUNNING in a blocking call on " + entry.helper());
    assertThat(entry.stack()).anyMatch(frame -> frame.toString().contains("CountDownLatch.await"));
    assertThat(scheduler.dump().json()).contains("\"helper\":\"" + entry.helper() + "\"");
    SchedulerStats stats = scheduler.stats();
    assertThat(stats.blocking()).isEqualTo(1);
    assertThat(stats.awaitingHelper()).isZero();
    assertThat(stats.running()).isZero();
    assertThat(stats.waiting()).isEqualTo(1);
    release.countDown();
    blocked.join();
    scheduler.schedule(suspended);
    suspended.join();
    assertThat(scheduler.stats().blocking()).isZero();
  }

  @Test
  @Feature("S17")
  void aHelperIsNoStuckWorker() throws Exception {
    try (LogCapture log = new LogCapture()) {
      Fiber<String> blocked = blocked();
      Fiber<Void> hog =
          scheduler.go(
              FiberOptions.named("hog"),
              () -> {
                while (log.entries("hog").isEmpty()) { // until the watchdog has checked both
                  Thread.onSpinWait();
                }
              });
      hog.join();
      release.countDown();
      blocked.join();
      assertThat(log.entries("blocked")).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Feature("S19")
  void aFiberInABlockingCallIsNoDeadlock(boolean useCaller) throws Exception {
    Scheduler failing =
        Scheduler.builder().threads(1).useCaller(useCaller).failOnDeadlock(true).build();
    AtomicInteger rounds = new AtomicInteger();
    Fiber<Void> waiting = failing.go(() -> Fiber.suspend());
    failing.go(
        () -> {
          for (int i = 0; i < 200; i++) {
            Weft.blocking(
                () -> {
                  TimeUnit.MICROSECONDS.sleep(20);
                  return rounds.incrementAndGet();
                });
          }
          failing.schedule(waiting);
        });
    failing.start();
    failing.stop();
    assertThat(rounds).hasValue(200);
  }

  @Test
  @Feature("S19")
  void afterTheLastBlockingCallADeadlockIsFound() {
    Scheduler failing = Scheduler.builder().threads(1).failOnDeadlock(true).build();
    failing.go(
        FiberOptions.named("back"),
        () -> {
          Weft.blocking(() -> null);
          Fiber.suspend();
        });
    failing.start();
    assertThatIllegalStateException()
        .isThrownBy(failing::stop)
        .withMessageContaining("deadlock")
        .withMessageContaining("(back)");
  }
}
