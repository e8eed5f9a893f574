package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.WithTimeoutTest.Place;
import dev.weft.channel.Channel;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import dev.weft.sync.Mutex;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shields: cancellation takes effect after the body, and is not lost. */
@Feature("S27")
class ShieldTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration SHORT = Duration.ofMillis(10);

  private final Scheduler scheduler = Scheduler.builder().threads(2).build().start();

  // how far the code under test has come
  private final AtomicInteger stages = new AtomicInteger();

  @AfterEach
  void stop() {
    scheduler.close();
  }

  private static void assertCancelled(Fiber<?> fiber) {
    assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join).withNoCause();
  }

  private static void cancelSelf() {
    Fiber.current().orElseThrow().cancel();
  }

  /** Asserts that a body takes longer than a short limit around it; returns what is thrown then. */
  private static ThrowableAssertAlternative<TimeoutException> assertTimesOut(Body body) {
    return assertThatExceptionOfType(TimeoutException.class)
        .isThrownBy(() -> Weft.withTimeout(SHORT, body));
  }

  /** A wait that lasts until another thread ends it. */
  interface Wait {
    void begin() throws Exception;

    void end(Fiber<?> waiter) throws Exception;
  }

  /** Waits of Weft's own and of the JDK. */
  enum Kind {
    SUSPEND {
      @Override
      Wait create() {
        return new OfTwo(Fiber::suspend, waiter -> waiter.scheduler().schedule(waiter));
      }
    },
    CHANNEL {
      @Override
      Wait create() {
        Channel<String> channel = Channel.rendezvous();
        return new OfTwo(() -> channel.send("x"), waiter -> channel.receive());
      }
    },
    MUTEX {
      @Override
      Wait create() {
        Mutex mutex = new Mutex();
        mutex.lock();
        return new OfTwo(mutex::lockInterruptibly, waiter -> mutex.unlock());
      }
    },
    JOIN {
      @Override
      Wait create() {
        CountDownLatch over = new CountDownLatch(1);
        Fiber<Void> other = Scheduler.shared().go(() -> over.await());
        return new OfTwo(other::join, waiter -> over.countDown());
      }
    },
    BLOCKING {
      @Override
      Wait create() {
        CountDownLatch over = new CountDownLatch(1);
        return new OfTwo(() -> Weft.blocking(() -> over.await()), waiter -> over.countDown());
      }
    },
    JDK_QUEUE {
      @Override
      Wait create() {
        SynchronousQueue<String> queue = new SynchronousQueue<>();
        return new OfTwo(queue::take, waiter -> queue.put("x"));
      }
    },
    JDK_LOCK {
      @Override
      Wait create() {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        return new OfTwo(lock::lockInterruptibly, waiter -> lock.unlock());
      }
    },
    TCP_STREAM {
      @Override
      Wait create() throws IOException {
        try (TcpListener listener =
            TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
          TcpStream client = TcpStream.connect(listener.localAddress());
          TcpStream accepted = listener.accept();
          return new OfTwo(
              () -> {
                try (client) {
                  assertThat(client.inputStream().read()).isEqualTo(42);
                }
              },
              waiter -> {
                try (accepted) {
                  accepted.outputStream().write(42);
                }
              });
        }
      }
    },
    SOCKET {
      @Override
      Wait create() throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket accepted = server.accept();
        server.close();
        return new OfTwo(
            () -> {
              try (client) {
                assertThat(client.getInputStream().read()).isEqualTo(42);
              }
            },
            waiter -> {
              try (accepted) {
                accepted.getOutputStream().write(42);
              }
            });
      }
    };

    abstract Wait create() throws Exception;

    private record OfTwo(Body first, ThrowingConsumer<Fiber<?>> second) implements Wait {
      @Override
      public void begin() throws Exception {
        first.run();
      }

      @Override
      public void end(Fiber<?> waiter) throws Exception {
        second.accept(waiter);
      }
    }
  }

  private static void endWhenItWaits(Wait wait, Fiber<?> fiber) throws Exception {
    eventually("the fiber waits", () -> isBlocked(fiber));
    wait.end(fiber);
  }

  private static boolean isBlocked(Fiber<?> fiber) {
    Thread.State state = fiber.thread().getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  @ParameterizedTest
  @EnumSource
  void afterACancelEveryWaitInTheBodyIsDoneAndTheNextWaitOutsideFails(Kind kind) throws Exception {
    Wait wait = kind.create();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              try {
                ScopeTest.forEver();
              } finally {
                stages.incrementAndGet();
                Weft.shielded(wait::begin);
                stages.incrementAndGet();
                Fiber.sleep(LONG);
                stages.set(100);
              }
            });
    waits(fiber);
    fiber.cancel();
    eventually("the fiber cleans up", () -> stages.get() == 1);
    endWhenItWaits(wait, fiber);
    assertCancelled(fiber);
    assertThat(stages).hasValue(2);
  }

  @ParameterizedTest
  @EnumSource
  void aCancelDuringTheBodyWaitsForItsEnd(Kind kind) throws Exception {
    Wait wait = kind.create();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              Weft.shielded(wait::begin);
              stages.incrementAndGet();
              Thread.sleep(LONG);
              stages.set(100);
            });
    eventually("the fiber waits", () -> isBlocked(fiber));
    assertThat(fiber.cancel()).isTrue();
    assertThat(fiber.thread().isInterrupted()).isFalse();
    endWhenItWaits(wait, fiber);
    assertCancelled(fiber);
    assertThat(stages).hasValue(1);
  }

  @Test
  void sleepsAndYieldsInTheBodyAreDone() throws Exception {
    AtomicInteger slept = new AtomicInteger();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              cancelSelf();
              Weft.shielded(
                  () -> {
                    long start = System.nanoTime();
                    Fiber.sleep(SHORT);
                    Thread.sleep(SHORT);
                    Fiber.yield();
                    Fiber.switchTo(0);
                    assertThat(System.nanoTime() - start)
                        .isGreaterThanOrEqualTo(2 * SHORT.toNanos());
                    slept.incrementAndGet();
                  });
              Fiber.yield();
              slept.incrementAndGet();
            });
    assertCancelled(fiber);
    assertThat(slept).hasValue(1);
  }

  @Test
  void afterTheBodyTheCancelFailsTheNextWaitOfTheJdkToo() throws Exception {
    AtomicBoolean interrupted = new AtomicBoolean();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              cancelSelf();
              Weft.shielded(() -> Thread.sleep(SHORT));
              try {
                Thread.sleep(LONG);
              } catch (InterruptedException e) {
                interrupted.set(true);
              }
            });
    assertCancelled(fiber);
    assertThat(interrupted).isTrue();
  }

  @Test
  void shieldsNest() throws Exception {
    Fiber<Void> fiber =
        scheduler.go(
            () ->
                Weft.shielded(
                    () -> {
                      Weft.shielded(() -> cancelSelf());
                      Fiber.sleep(SHORT); // the outer shield still holds
                      stages.incrementAndGet();
                      Weft.shielded(() -> Thread.sleep(SHORT));
                      Thread.sleep(SHORT);
                      stages.incrementAndGet();
                    }));
    assertCancelled(fiber);
    assertThat(stages).hasValue(2);
  }

  // ---- time limits ----

  @ParameterizedTest
  @EnumSource
  void aLimitAroundThatPassesDuringTheBodyWaitsForItsEnd(Place place) throws Exception {
    place.run(
        () -> {
          assertTimesOut(
                  () -> {
                    Weft.shielded(
                        () -> {
                          Thread.sleep(SHORT.multipliedBy(3));
                          Fiber.sleep(SHORT);
                          stages.incrementAndGet();
                        });
                    stages.incrementAndGet();
                    Thread.sleep(LONG);
                  })
              .withCauseInstanceOf(InterruptedException.class);
          assertThat(stages).hasValue(2);
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
          Thread.sleep(1);
        });
  }

  @ParameterizedTest
  @EnumSource
  void aLimitThatPassedBeforeTheBodyTakesEffectAfterIt(Place place) throws Exception {
    place.run(
        () -> {
          assertTimesOut(
              () -> {
                while (!Thread.currentThread().isInterrupted()) {
                  Thread.onSpinWait();
                }
                Weft.shielded(
                    () -> {
                      Thread.sleep(SHORT);
                      Fiber.sleep(SHORT);
                      stages.incrementAndGet();
                    });
                stages.incrementAndGet();
                Thread.sleep(LONG);
              });
          assertThat(stages).hasValue(2);
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  @ParameterizedTest
  @EnumSource
  void aBodyThatEndsNormallyAfterTheLimitLeavesNoInterrupt(Place place) throws Exception {
    place.run(
        () -> {
          Weft.withTimeout(SHORT, () -> Weft.shielded(() -> Thread.sleep(SHORT.multipliedBy(3))));
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
          Fiber.sleep(Duration.ofMillis(1));
        });
  }

  @ParameterizedTest
  @EnumSource
  void aLimitInsideTheBodyHoldsThere(Place place) throws Exception {
    place.run(
        () ->
            Weft.shielded(
                () -> {
                  assertTimesOut(() -> Thread.sleep(LONG));
                  assertTimesOut(() -> Fiber.sleep(LONG));
                  Thread.sleep(SHORT);
                }));
  }

  @Test
  void aLimitInsideTheBodyOfACancelledFiberHoldsThereAndTheShieldHoldsOn() throws Exception {
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              cancelSelf();
              Weft.shielded(
                  () -> {
                    assertTimesOut(() -> Fiber.sleep(LONG));
                    Fiber.sleep(SHORT);
                    Thread.sleep(SHORT);
                    stages.incrementAndGet();
                  });
            });
    assertCancelled(fiber);
    assertThat(stages).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource
  void aShieldInsideALimitInsideAShieldHoldsBackTheLimitOnly(Place place) throws Exception {
    place.run(
        () -> {
          Weft.shielded(
              () -> {
                assertTimesOut(
                    () -> {
                      Weft.shielded(() -> Thread.sleep(SHORT.multipliedBy(3)));
                      stages.incrementAndGet();
                      Fiber.sleep(LONG);
                    });
                Fiber.sleep(SHORT);
                stages.incrementAndGet();
              });
          assertThat(stages).hasValue(2);
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  // ---- scopes ----

  @Test
  void scopesOpenedInTheBodyGoOnAndScopesAroundItAreCancelledAtOnce() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    AtomicReference<Fiber<?>> around = new AtomicReference<>();
    AtomicReference<Fiber<?>> inside = new AtomicReference<>();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              try (Scope outer = Scope.open()) {
                around.set(outer.go(() -> ScopeTest.forEver()));
                Weft.shielded(
                    () -> {
                      try (Scope inner = Scope.open()) {
                        inside.set(inner.go(() -> over.await()));
                        inner.join();
                        stages.incrementAndGet();
                      }
                    });
                outer.join();
              }
            });
    eventually("both wait", () -> inside.get() != null);
    waits(inside.get());
    waits(around.get());
    fiber.cancel();
    eventually("cancelled", () -> around.get().status() == Fiber.Status.DONE);
    assertThat(inside.get().status()).isEqualTo(Fiber.Status.WAITING);
    over.countDown();
    assertCancelled(fiber);
    assertThat(stages).hasValue(1);
    assertThat(inside.get().toFuture()).isCompleted();
  }

  @ParameterizedTest
  @EnumSource
  void scopesAreTreatedTheSameWhenALimitPasses(Place place) throws Exception {
    place.run(
        () -> {
          assertTimesOut(
              () -> {
                try (Scope outer = Scope.open()) {
                  Fiber<Void> around = outer.go(() -> ScopeTest.forEver());
                  Weft.shielded(
                      () -> {
                        try (Scope inner = Scope.open()) {
                          inner.go(() -> untilDone(around));
                          inner.join();
                          stages.incrementAndGet();
                        }
                      });
                  outer.join();
                }
              });
          assertThat(stages).hasValue(1);
        });
  }

  private static void untilDone(Fiber<?> fiber) throws InterruptedException {
    while (fiber.status() != Fiber.Status.DONE) {
      Fiber.sleep(Duration.ofMillis(1));
    }
  }

  @Test
  void aScopeThatOutlivesTheBodyIsCancelledAfterIt() throws Exception {
    AtomicReference<Fiber<?>> child = new AtomicReference<>();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              cancelSelf();
              AtomicReference<Scope> kept = new AtomicReference<>();
              Weft.shielded(
                  () -> {
                    kept.set(Scope.open());
                    child.set(kept.get().go(() -> ScopeTest.forEver()));
                    Thread.sleep(SHORT);
                    assertThat(child.get().status()).isNotEqualTo(Fiber.Status.DONE);
                  });
              try (Scope scope = kept.get()) {
                eventually("cancelled", () -> child.get().status() == Fiber.Status.DONE);
                scope.cancel();
              }
            });
    assertCancelled(fiber);
    assertCancelled(child.get());
  }

  @Test
  void theCancelOfAScopeWaitsForTheBodyOfItsFiber() throws Exception {
    CountDownLatch inBody = new CountDownLatch(1);
    try (Scope scope = Scope.open()) {
      Fiber<Void> fiber =
          scope.go(
              () -> {
                Weft.shielded(
                    () -> {
                      inBody.countDown();
                      Thread.sleep(SHORT.multipliedBy(3));
                      stages.incrementAndGet();
                    });
                Fiber.yield();
                stages.set(100);
              });
      inBody.await();
      scope.cancel();
      scope.join();
      assertThat(stages).hasValue(1);
      assertCancelled(fiber);
    }
  }

  // ---- interrupts ----

  @Test
  void anInterruptByAnotherThreadIsDeliveredAsUsual() throws Exception {
    AtomicInteger interrupts = new AtomicInteger();
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              Thread.currentThread().interrupt();
              Weft.shielded(() -> expectInterrupt(() -> Fiber.sleep(LONG), interrupts));
              Weft.shielded(
                  () -> {
                    expectInterrupt(() -> Thread.sleep(LONG), interrupts);
                    Fiber.sleep(SHORT);
                  });
              Fiber.sleep(SHORT);
            });
    eventually("the first has come", () -> interrupts.get() == 1);
    fiber.thread().interrupt();
    fiber.join();
    assertThat(interrupts).hasValue(2);
  }

  private static void expectInterrupt(Body wait, AtomicInteger interrupts) throws Exception {
    try {
      wait.run();
    } catch (InterruptedException e) {
      interrupts.incrementAndGet();
    }
  }

  @Test
  void anInterruptThatTheBodyDoesNotNoticeIsStillSetAfterALimit() throws Exception {
    Fiber<Boolean> fiber =
        scheduler.go(
            () -> {
              Weft.withTimeout(
                  SHORT,
                  () ->
                      Weft.shielded(
                          () -> {
                            Thread.sleep(SHORT.multipliedBy(3));
                            Thread.currentThread().interrupt();
                          }));
              return Thread.interrupted();
            });
    assertThat(fiber.join()).isTrue();
  }

  @Test
  void outsideFibersAnEarlierInterruptIsKeptAndALaterInterruptIsDelivered() throws Exception {
    for (Place place : new Place[] {Place.PLATFORM_THREAD, Place.VIRTUAL_THREAD}) {
      place.run(
          () -> {
            AtomicInteger interrupts = new AtomicInteger();
            Thread.currentThread().interrupt();
            Weft.shielded(
                () -> {
                  Thread.sleep(SHORT);
                  Fiber.sleep(SHORT);
                  Thread.currentThread().interrupt();
                  expectInterrupt(() -> Thread.sleep(LONG), interrupts);
                });
            assertThat(Thread.interrupted()).isTrue();
            assertThat(interrupts).hasValue(1);
            Weft.shielded(() -> Thread.sleep(1));
            assertThat(Thread.interrupted()).isFalse();
          });
    }
  }

  // ---- coroutines ----

  @Test
  void aShieldInAGeneratorDoesNotShieldItsConsumer() throws Exception {
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              Generator<String> generator = Generator.of(ShieldTest::emitShielded);
              assertThat(generator.next()).isEqualTo("first");
              cancelSelf();
              expectInterrupt(() -> Fiber.sleep(LONG), stages); // the consumer is not shielded
              assertThat(generator.next()).isEqualTo("second"); // the generator is
              expectInterrupt(() -> Thread.sleep(LONG), stages);
              assertThat(generator.hasNext()).isFalse();
              expectInterrupt(() -> Fiber.sleep(LONG), stages);
            });
    assertCancelled(fiber);
    assertThat(stages).hasValue(3);
  }

  private static void emitShielded(Generator.Emitter<String> out) throws Exception {
    Weft.shielded(
        () -> {
          out.emit("first");
          Fiber.sleep(SHORT);
          Thread.sleep(SHORT);
          out.emit("second");
          Fiber.sleep(SHORT);
        });
  }

  @ParameterizedTest
  @EnumSource
  void aGeneratorTakesItsLimitsAndShieldsAlong(Place place) throws Exception {
    place.run(
        () -> {
          Generator<String> generator = Generator.of(ShieldTest::emitLimited);
          assertThat(generator.next()).isEqualTo("first");
          Thread.sleep(SHORT.multipliedBy(2)); // the limit has passed by now
          Weft.shielded(() -> assertThat(generator.next()).isEqualTo("shielded"));
          Thread.sleep(SHORT);
          assertThat(generator.next()).isEqualTo("late");
          assertThat(generator.hasNext()).isFalse();
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
          Thread.sleep(SHORT);
        });
  }

  private static void emitLimited(Generator.Emitter<String> out) throws Exception {
    try {
      Weft.withTimeout(
          SHORT,
          () -> {
            Weft.shielded(
                () -> {
                  out.emit("first");
                  Thread.sleep(SHORT);
                  out.emit("shielded");
                  Fiber.sleep(SHORT);
                });
            Thread.sleep(LONG);
          });
    } catch (TimeoutException e) {
      out.emit("late");
    }
  }

  // ---- races ----

  @Test
  void aCancelThatMeetsAShieldIsHeldBackAndNotLost() throws Exception {
    for (int i = 0; i < 2_000; i++) {
      AtomicInteger rounds = new AtomicInteger();
      AtomicBoolean gotIn = new AtomicBoolean();
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                while (!Thread.currentThread().isInterrupted()) { // an edge: must not be lost
                  Weft.shielded(() -> gotIn.set(isDisturbed() || gotIn.get()));
                  rounds.incrementAndGet();
                }
                Weft.shielded(() -> gotIn.set(isDisturbed() || gotIn.get()));
              });
      int wanted = i % 50;
      while (rounds.get() < wanted) {
        Thread.onSpinWait();
      }
      fiber.cancel();
      assertCancelled(fiber);
      assertThat(gotIn).isFalse();
    }
  }

  private static boolean isDisturbed() {
    for (int i = 0; i < 20; i++) {
      if (Thread.currentThread().isInterrupted()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  @ParameterizedTest
  @EnumSource
  void aLimitThatMeetsAShieldIsHeldBackAndNotLost(Place place) throws Exception {
    place.run(
        () -> {
          AtomicBoolean gotIn = new AtomicBoolean();
          for (int i = 0; i < 300; i++) {
            Weft.withTimeout(
                Duration.ofNanos(100_000 + 500 * i),
                () -> {
                  while (!Thread.currentThread().isInterrupted()) { // an edge: must not be lost
                    Weft.shielded(() -> gotIn.set(isDisturbed() || gotIn.get()));
                  }
                  Weft.shielded(() -> gotIn.set(isDisturbed() || gotIn.get()));
                });
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
          }
          assertThat(gotIn).isFalse();
        });
  }

  // ---- results ----

  @ParameterizedTest
  @EnumSource
  void theResultOrExceptionOfTheBodyComesOutUnchanged(Place place) throws Exception {
    place.run(
        () -> {
          String result = Weft.shielded(() -> "result");
          assertThat(result).isEqualTo("result");
          IOException failure = new IOException("checked");
          assertThatIOException()
              .isThrownBy(
                  () ->
                      Weft.shielded(
                          () -> {
                            throw failure;
                          }))
              .isSameAs(failure);
          Thread.sleep(1);
        });
  }

  @Test
  void nullIsRefused() {
    assertThatNullPointerException()
        .isThrownBy(() -> Weft.shielded((Body) null))
        .withMessage("body");
    assertThatNullPointerException()
        .isThrownBy(() -> Weft.shielded((Callable<String>) null))
        .withMessage("body");
  }
}
