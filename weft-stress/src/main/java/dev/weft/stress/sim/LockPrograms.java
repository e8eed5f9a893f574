package dev.weft.stress.sim;

import static dev.weft.stress.sim.Party.check;
import static dev.weft.stress.sim.Party.equal;

import dev.weft.Fiber;
import dev.weft.sync.Barrier;
import dev.weft.sync.ConditionVariable;
import dev.weft.sync.Mutex;
import dev.weft.sync.Semaphore;
import dev.weft.sync.SharedMutex;
import dev.weft.sync.WaitGroup;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/**
 * Locks and their kin: holders exclude each other, no permit or signal is lost, and a waiter that
 * gave up leaves no trace.
 */
@SuppressWarnings({"LockNotBeforeTry", "JdkObsolete"}) // a failure ends the run; fibers share it
final class LockPrograms {
  private static final Duration MOMENT = Duration.ofMillis(1);
  private static final Duration HOUR = Duration.ofHours(1);

  static final List<OwnProgram> ALL =
      List.of(
          new OwnProgram("mutexExcludes", () -> excludes(Mutex::new)),
          new OwnProgram("fairMutexExcludes", () -> excludes(Mutex::fair)),
          new OwnProgram("mutexWaitersGiveUp", () -> waitersGiveUp(Mutex::new)),
          new OwnProgram("fairMutexWaitersGiveUp", () -> waitersGiveUp(Mutex::fair)),
          new OwnProgram("mutexHandsOver", LockPrograms::handsOver),
          new OwnProgram("mutexHandsOverToImpatient", LockPrograms::handsOverToImpatient),
          new OwnProgram("fairMutexIsFair", LockPrograms::isFair),
          new OwnProgram(
              "writersExclude", () -> waitersGiveUp(() -> new SharedMutex().writeLock())),
          new OwnProgram("sharedMutexExcludes", LockPrograms::sharedExcludes),
          new OwnProgram("sharedMutexWriterGivesUp", LockPrograms::writerGivesUp),
          new OwnProgram("semaphoreKeepsPermits", LockPrograms::keepsPermits),
          new OwnProgram("semaphoreTimesOut", LockPrograms::semaphoreTimesOut),
          new OwnProgram("conditionBuffer", LockPrograms::boundedBuffer),
          new OwnProgram("conditionSignalMeetsCancel", LockPrograms::signalMeetsCancel),
          new OwnProgram("conditionSignalMeetsTimeout", LockPrograms::signalMeetsTimeout),
          new OwnProgram("waitGroup", LockPrograms::waitGroup),
          new OwnProgram("barrierRounds", LockPrograms::barrierRounds),
          new OwnProgram("barrierWithdrawal", LockPrograms::barrierWithdrawal));

  private LockPrograms() {}

  /** Counts the holders of a lock, and their work. */
  private static final class Section {
    private final AtomicInteger holders = new AtomicInteger();
    private int work; // as a counter without protection: the lock has to protect it

    void run() {
      check(holders.incrementAndGet() == 1, "two holders");
      int before = work;
      work = before + 1;
      holders.decrementAndGet();
    }
  }

  private static void excludes(Supplier<Lock> made) throws Exception {
    Lock lock = made.get();
    Section section = new Section();
    Party party = new Party();
    for (int i = 0; i < 3; i++) {
      party.go("holder " + i, () -> holdTwice(lock, section));
    }
    party.join();
    equal(section.work, 6, "work done");
    check(lock.tryLock(), "the lock is not free at the end");
  }

  private static void holdTwice(Lock lock, Section section) {
    for (int k = 0; k < 2; k++) {
      lock.lock();
      try {
        section.run();
      } finally {
        lock.unlock();
      }
    }
  }

  private static void waitersGiveUp(Supplier<Lock> made) throws Exception {
    Lock lock = made.get();
    Section section = new Section();
    Party party = new Party();
    AtomicInteger held = new AtomicInteger();
    Fiber<Void> victim =
        party.go(
            "victim",
            () -> {
              lock.lockInterruptibly();
              try {
                section.run();
                held.incrementAndGet();
              } finally {
                lock.unlock();
              }
            });
    party.go("canceller", victim::cancel);
    party.go(
        "impatient",
        () -> {
          if (lock.tryLock(1, TimeUnit.MILLISECONDS)) {
            section.run();
            held.incrementAndGet();
            lock.unlock();
          }
        });
    party.go(
        "slow",
        () -> {
          lock.lock();
          Fiber.sleep(MOMENT);
          section.run();
          held.incrementAndGet();
          lock.unlock();
        });
    party.join();
    equal(section.work, held.get(), "work of the holders");
    check(lock.tryLock(), "the lock is not free at the end");
    lock.unlock();
  }

  /** A waiter that has waited for long is handed the lock; meanwhile a fiber takes it again. */
  private static void handsOver() throws Exception {
    Mutex mutex = new Mutex();
    Section section = new Section();
    Party party = new Party();
    party.go(
        "greedy",
        () -> {
          for (int i = 0; i < 3; i++) {
            mutex.lock();
            Fiber.sleep(MOMENT);
            section.run();
            mutex.unlock();
          }
        });
    for (int i = 0; i < 2; i++) {
      party.go("patient " + i, () -> holdTwice(mutex, section));
    }
    party.join();
    equal(section.work, 7, "work done");
    check(mutex.tryLock(), "the mutex is not free at the end");
  }

  /** The limit of a waiter passes when it is handed the lock. */
  private static void handsOverToImpatient() throws Exception {
    Mutex mutex = new Mutex();
    Section section = new Section();
    AtomicInteger held = new AtomicInteger();
    Party party = new Party();
    party.go(
        "greedy",
        () -> {
          for (int i = 0; i < 3; i++) {
            mutex.lock();
            Fiber.sleep(MOMENT);
            section.run();
            held.incrementAndGet();
            mutex.unlock();
          }
        });
    for (int i = 2; i <= 3; i++) {
      Duration limit = MOMENT.multipliedBy(i);
      party.go(
          "impatient " + i,
          () -> {
            if (mutex.tryLock(limit)) {
              section.run();
              held.incrementAndGet();
              mutex.unlock();
            }
          });
    }
    party.join();
    equal(section.work, held.get(), "work of the holders");
    check(mutex.tryLock(), "the mutex is not free at the end");
  }

  private static void isFair() throws Exception {
    Mutex mutex = Mutex.fair();
    Party party = new Party();
    StringBuffer order = new StringBuffer();
    mutex.lock();
    for (int i = 0; i < 3; i++) {
      int number = i;
      party.go(
          "waiter " + i,
          () -> {
            Fiber.sleep(MOMENT.multipliedBy(number + 1));
            mutex.lock();
            order.append(number);
            mutex.unlock();
          });
    }
    Fiber.sleep(MOMENT.multipliedBy(10));
    mutex.unlock();
    party.join();
    equal(order.toString(), "012", "the order of the holders");
  }

  private static void sharedExcludes() throws Exception {
    SharedMutex mutex = new SharedMutex();
    AtomicInteger readers = new AtomicInteger();
    AtomicInteger writers = new AtomicInteger();
    Party party = new Party();
    for (int i = 0; i < 2; i++) {
      party.go(
          "reader " + i,
          () -> {
            mutex.readLock().lock();
            readers.incrementAndGet();
            check(writers.get() == 0, "a reader beside a writer");
            readers.decrementAndGet();
            mutex.readLock().unlock();
          });
      party.go(
          "writer " + i,
          () -> {
            mutex.writeLock().lock();
            check(writers.incrementAndGet() == 1, "two writers");
            check(readers.get() == 0, "a writer beside a reader");
            writers.decrementAndGet();
            mutex.writeLock().unlock();
          });
    }
    party.join();
    check(mutex.writeLock().tryLock(), "the mutex is not free at the end");
  }

  /** Readers behind a writer that gives up are let in. */
  private static void writerGivesUp() throws Exception {
    SharedMutex mutex = new SharedMutex();
    Party party = new Party();
    mutex.readLock().lock();
    Fiber<Void> victim =
        party.go(
            "writer",
            () -> {
              mutex.writeLock().lockInterruptibly();
              mutex.writeLock().unlock();
            });
    Fiber<Void> second =
        party.go(
            "reader",
            () -> {
              mutex.readLock().lock();
              mutex.readLock().unlock();
            });
    party.go("canceller", victim::cancel);
    second.join(HOUR); // main still reads
    mutex.readLock().unlock();
    party.join();
    check(mutex.writeLock().tryLock(), "the mutex is not free at the end");
  }

  private static void keepsPermits() throws Exception {
    Semaphore semaphore = new Semaphore(2);
    Party party = new Party();
    AtomicInteger held = new AtomicInteger();
    Fiber<Void> victim = party.go("victim", () -> hold(semaphore, 2, held));
    party.go("canceller", victim::cancel);
    party.go("one", () -> hold(semaphore, 1, held));
    party.go("two", () -> hold(semaphore, 2, held));
    party.go("other", () -> hold(semaphore, 1, held));
    party.join();
    equal(semaphore.availablePermits(), 2, "permits at the end");
  }

  private static void hold(Semaphore semaphore, int permits, AtomicInteger held)
      throws InterruptedException {
    semaphore.acquire(permits);
    check(held.addAndGet(permits) <= 2, "more permits are held than exist");
    held.addAndGet(-permits);
    semaphore.release(permits);
  }

  private static void semaphoreTimesOut() throws Exception {
    Semaphore semaphore = new Semaphore(1);
    Party party = new Party();
    for (int i = 0; i < 3; i++) {
      int permits = i == 1 ? 2 : 1;
      party.go(
          "acquirer " + i,
          () -> {
            if (semaphore.tryAcquire(permits, MOMENT)) {
              Fiber.sleep(MOMENT);
              semaphore.release(permits);
            }
          });
    }
    party.join();
    equal(semaphore.availablePermits(), 1, "permits at the end");
  }

  private static void boundedBuffer() throws Exception {
    Mutex mutex = new Mutex();
    Condition changed = mutex.newCondition();
    int[] size = new int[1];
    int[] sum = new int[1];
    Party party = new Party();
    for (int i = 0; i < 2; i++) {
      party.go("producer " + i, () -> change(mutex, changed, size, sum, 1));
      party.go("consumer " + i, () -> change(mutex, changed, size, sum, -1));
    }
    party.join();
    equal(size[0], 0, "left in the buffer");
    equal(sum[0], 4, "items that passed");
  }

  /** Adds to a buffer of one item, or takes from it, twice. */
  private static void change(Mutex mutex, Condition changed, int[] size, int[] sum, int by)
      throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      mutex.lock();
      try {
        while (size[0] + by < 0 || size[0] + by > 1) {
          changed.await();
        }
        size[0] += by;
        sum[0] += by > 0 ? 1 : 0;
        changed.signalAll();
      } finally {
        mutex.unlock();
      }
    }
  }

  /** A signal goes to a waiter that stays: not to one that is cancelled at that moment. */
  private static void signalMeetsCancel() throws Exception {
    Mutex mutex = new Mutex();
    ConditionVariable ready = new ConditionVariable();
    AtomicInteger woken = new AtomicInteger();
    Party party = new Party();
    Fiber<Void> victim = party.go("victim", () -> await(mutex, ready, woken));
    party.go("waiter", () -> await(mutex, ready, woken));
    Fiber.sleep(MOMENT); // both wait
    party.go("canceller", victim::cancel);
    party.go("signaller", ready::signal);
    Fiber.sleep(MOMENT);
    equal(woken.get(), 1, "waiters that one signal has woken");
    ready.signalAll();
    party.join();
    check(mutex.tryLock(), "the mutex is not free at the end");
  }

  private static void await(Mutex mutex, ConditionVariable ready, AtomicInteger woken)
      throws InterruptedException {
    mutex.lock();
    try {
      ready.await(mutex);
      woken.incrementAndGet();
    } finally {
      mutex.unlock();
    }
  }

  private static void signalMeetsTimeout() throws Exception {
    Mutex mutex = new Mutex();
    ConditionVariable ready = new ConditionVariable();
    AtomicInteger woken = new AtomicInteger();
    Party party = new Party();
    for (int i = 1; i <= 2; i++) {
      Duration limit = MOMENT.multipliedBy(i);
      party.go(
          "waiter " + i,
          () -> {
            mutex.lock();
            try {
              woken.addAndGet(ready.await(mutex, limit) ? 1 : 0);
            } finally {
              mutex.unlock();
            }
          });
    }
    Fiber.sleep(MOMENT); // at that time the limit of the first passes
    ready.signal();
    party.join();
    equal(woken.get(), 1, "waiters that one signal has woken");
  }

  private static void waitGroup() throws Exception {
    WaitGroup group = new WaitGroup();
    AtomicInteger done = new AtomicInteger();
    AtomicInteger passed = new AtomicInteger();
    Party party = new Party();
    group.add(2);
    Fiber<Void> victim = party.go("victim", group::await);
    party.go("canceller", victim::cancel);
    for (int i = 0; i < 2; i++) {
      party.go(
          "worker " + i,
          () -> {
            done.incrementAndGet();
            group.done();
          });
      party.go(
          "waiter " + i,
          () -> {
            group.await();
            check(done.get() == 2, "passed before all was done");
            passed.incrementAndGet();
          });
    }
    check(group.await(HOUR), "an hour was not enough");
    party.join();
    equal(passed.get(), 2, "waiters that passed");
  }

  private static void barrierRounds() throws Exception {
    Barrier barrier = new Barrier(2);
    AtomicInteger[] arrived = {new AtomicInteger(), new AtomicInteger()};
    Party party = new Party();
    for (int i = 0; i < 2; i++) {
      party.go(
          "party " + i,
          () -> {
            for (AtomicInteger round : arrived) {
              round.incrementAndGet();
              int before = barrier.await();
              check(before == 0 || before == 1, "the number of arrival is " + before);
              check(round.get() == 2, "passed alone");
            }
          });
    }
    party.join();
  }

  /** A party that gives up does not count, and the round goes on with another. */
  private static void barrierWithdrawal() throws Exception {
    Barrier barrier = new Barrier(2);
    AtomicInteger passed = new AtomicInteger();
    Party party = new Party();
    Fiber<Void> victim =
        party.go(
            "victim",
            () -> {
              barrier.await();
              passed.incrementAndGet();
            });
    party.go("canceller", victim::cancel);
    for (int i = 0; i < 2; i++) {
      party.go("party " + i, () -> passed.addAndGet(barrier.await(MOMENT) ? 1 : 0));
    }
    party.join();
    equal(passed.get() % 2, 0, "parties that passed, modulo 2");
    equal(barrier.await(MOMENT), false, "an empty barrier lets pass");
  }
}
