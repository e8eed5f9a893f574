package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A waiter that gives up leaves no trace, wherever it was: before the call, in the queue, and when
 * the hand-over and the cancel meet.
 */
@Feature({"Y7", "Y6"})
@SuppressWarnings("LockNotBeforeTry") // the test checks single steps
class SyncCancelTest {
  private static final Duration LONG = Duration.ofHours(1);

  /** A resource for one holder at a time. */
  record Thing(Body take, Body giveBack, Body check) {}

  private static Arguments thing(String name, Supplier<Thing> thing) {
    return Arguments.of(name, thing);
  }

  static Stream<Arguments> things() {
    return Stream.of(
        thing("Mutex.lockInterruptibly", () -> mutex(new Mutex(), false)),
        thing("Mutex.tryLock with a limit", () -> mutex(new Mutex(), true)),
        thing("Mutex.fair", () -> mutex(Mutex.fair(), false)),
        thing("Mutex.fair with a limit", () -> mutex(Mutex.fair(), true)),
        thing("SharedMutex, write", () -> write(new SharedMutex(), false)),
        thing("SharedMutex, write with a limit", () -> write(new SharedMutex(), true)),
        thing("Semaphore.acquire", () -> semaphore(new Semaphore(1), 1)),
        thing("Semaphore.acquire, many", () -> semaphore(new Semaphore(5), 5)),
        thing("Semaphore.tryAcquire with a limit", () -> timedSemaphore(new Semaphore(1))),
        thing("ConditionVariable", () -> token(new Mutex(), false)),
        thing("ConditionVariable with a limit", () -> token(new Mutex(), true)),
        thing("ConditionVariable until", () -> tokenUntil(new Mutex())),
        thing(
            "ConditionVariable with another lock",
            () -> token(new java.util.concurrent.locks.ReentrantLock(), false)));
  }

  private static Thing mutex(Mutex mutex, boolean timed) {
    return new Thing(
        () -> {
          if (timed) {
            assertThat(mutex.tryLock(LONG)).isTrue();
          } else {
            mutex.lockInterruptibly();
          }
        },
        mutex::unlock,
        () -> assertThat(mutex.isLocked()).isFalse());
  }

  private static Thing write(SharedMutex shared, boolean timed) {
    return new Thing(
        () -> {
          if (timed) {
            assertThat(shared.writeLock().tryLock(1, java.util.concurrent.TimeUnit.HOURS)).isTrue();
          } else {
            shared.writeLock().lockInterruptibly();
          }
        },
        () -> shared.writeLock().unlock(),
        () -> {
          assertThat(shared.readLock().tryLock()).isTrue();
          assertThat(shared.writeLock().tryLock()).isFalse();
          shared.readLock().unlock();
        });
  }

  private static Thing semaphore(Semaphore semaphore, int count) {
    return new Thing(
        () -> semaphore.acquire(count),
        () -> semaphore.release(count),
        () -> assertThat(semaphore.availablePermits()).isEqualTo(count));
  }

  private static Thing timedSemaphore(Semaphore semaphore) {
    return new Thing(
        () -> assertThat(semaphore.tryAcquire(LONG)).isTrue(),
        semaphore::release,
        () -> assertThat(semaphore.availablePermits()).isEqualTo(1));
  }

  /** A token behind a condition variable, one signal for each token. */
  @SuppressWarnings("WaitNotInLoop")
  private static Thing token(java.util.concurrent.locks.Lock lock, boolean timed) {
    ConditionVariable free = new ConditionVariable();
    AtomicInteger tokens = new AtomicInteger(1);
    return new Thing(
        () -> {
          lock.lock();
          try {
            while (tokens.get() == 0) {
              if (timed) {
                assertThat(free.await(lock, LONG)).isTrue();
              } else {
                free.await(lock);
              }
            }
            tokens.decrementAndGet();
          } finally {
            lock.unlock();
          }
        },
        () -> {
          lock.lock();
          try {
            tokens.incrementAndGet();
            free.signal();
          } finally {
            lock.unlock();
          }
        },
        () -> assertThat(tokens).hasValue(1));
  }

  /** The same, but the loop is in the condition variable. */
  private static Thing tokenUntil(Mutex mutex) {
    ConditionVariable free = new ConditionVariable();
    AtomicInteger tokens = new AtomicInteger(1);
    return new Thing(
        () -> {
          mutex.lock();
          try {
            free.await(mutex, () -> tokens.get() > 0);
            tokens.decrementAndGet();
          } finally {
            mutex.unlock();
          }
        },
        () -> {
          mutex.lock();
          try {
            tokens.incrementAndGet();
            free.signal();
          } finally {
            mutex.unlock();
          }
        },
        () -> assertThat(tokens).hasValue(1));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("things")
  void aWaiterThatGivesUpIsPassedOver(String name, Supplier<Thing> supplier) throws Exception {
    for (int leaver = 0; leaver < 3; leaver++) { // the first, the middle, the last waiter
      Thing thing = supplier.get();
      try (Crew crew = new Crew()) {
        thing.take.run();
        List<Crew.Member> members =
            Stream.generate(
                    () ->
                        crew.start(
                                () -> {
                                  thing.take.run();
                                  thing.giveBack.run();
                                })
                            .waits())
                .limit(3)
                .toList();
        members.get(leaver).giveUp();
        assertThatExceptionOfType(Exception.class)
            .isThrownBy(members.get(leaver)::join)
            .withRootCauseInstanceOf(InterruptedException.class);
        thing.giveBack.run();
        for (int i = 0; i < 3; i++) {
          if (i != leaver) {
            members.get(i).join();
          }
        }
      }
      thing.check.run();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("things")
  void allWaitersMayGiveUp(String name, Supplier<Thing> supplier) throws Exception {
    Thing thing = supplier.get();
    try (Crew crew = new Crew()) {
      thing.take.run();
      List<Crew.Member> members =
          Stream.generate(() -> crew.start(thing.take).waits()).limit(6).toList();
      members.forEach(Crew.Member::giveUp);
      for (Crew.Member member : members) {
        assertThatExceptionOfType(Exception.class).isThrownBy(member::join);
      }
      thing.giveBack.run();
    }
    thing.check.run();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("things")
  void aLimitAroundTheWaitEndsIt(String name, Supplier<Thing> supplier) throws Exception {
    Thing thing = supplier.get();
    thing.take.run();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler
          .go(
              () ->
                  assertThatExceptionOfType(TimeoutException.class)
                      .isThrownBy(
                          () ->
                              Weft.withTimeout(
                                  Duration.ofMillis(2),
                                  () -> {
                                    thing.take.run();
                                    return "unreachable";
                                  })))
          .join();
    }
    thing.giveBack.run();
    thing.check.run();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("things")
  void aCancelThatMeetsTheHandOverLosesNothing(String name, Supplier<Thing> supplier)
      throws Exception {
    Thing thing = supplier.get();
    AtomicInteger had = new AtomicInteger();
    AtomicInteger gaveUp = new AtomicInteger();
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      for (int i = 0; i < 300; i++) {
        thing.take.run();
        Fiber<Void> fiber =
            scheduler.go(
                () -> {
                  try {
                    thing.take.run();
                  } catch (InterruptedException e) {
                    gaveUp.incrementAndGet();
                    throw e;
                  }
                  had.incrementAndGet();
                  thing.giveBack.run();
                });
        if (i % 3 == 0) {
          dev.weft.Eventually.waits(fiber);
        }
        Thread giver = Thread.ofPlatform().start(() -> spin(300));
        spin(i);
        if (i % 2 == 0) {
          fiber.cancel();
          thing.giveBack.run();
        } else {
          thing.giveBack.run();
          fiber.cancel();
        }
        giver.join();
        try {
          fiber.join();
        } catch (CancellationException e) {
          // expected
        }
      }
    }
    assertThat(had.get() + gaveUp.get()).isPositive();
    thing.check.run();
  }

  private static void spin(int times) {
    for (int i = 0; i < times; i++) {
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("things")
  void aCancelledFiberDoesNotEvenBegin(String name, Supplier<Thing> supplier) throws Exception {
    if (name.startsWith("ConditionVariable") && !name.endsWith("until")) {
      return; // the token is free, so the loop calls no await
    }
    Thing thing = supplier.get();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      AtomicInteger failed = new AtomicInteger();
      Fiber<Void> fiber =
          scheduler.go(
              () -> {
                Fiber.current().orElseThrow().cancel();
                for (int i = 0; i < 3; i++) {
                  try {
                    thing.take.run();
                  } catch (InterruptedException e) {
                    failed.incrementAndGet();
                  }
                }
              });
      assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join).withNoCause();
      assertThat(failed).as("a cancel is a level, not an edge").hasValue(3);
    }
    thing.check.run();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("things")
  void aWaiterThatItsSchedulerGaveUpOnIsPassedOver(String name, Supplier<Thing> supplier)
      throws Exception {
    if (name.contains("limit")) {
      return; // no deadlock, so the scheduler gives up on no fiber
    }
    Thing thing = supplier.get();
    thing.take.run();
    Scheduler scheduler = Scheduler.builder().threads(1).failOnDeadlock(true).build().start();
    Fiber<Void> gone = scheduler.go(thing.take);
    dev.weft.Eventually.waits(gone);
    assertThatIllegalStateException().isThrownBy(scheduler::stop);
    thing.giveBack.run();
    thing.check.run();
  }
}
