package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.Body;
import dev.weft.Eventually;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** Shared mutexes: which readers and writers hold the lock together, and which comes next. */
@Feature({"Y2", "Y6"})
@SuppressWarnings("LockNotBeforeTry") // the test checks single steps
class SharedMutexTest {
  private final SharedMutex shared = new SharedMutex();
  private final Lock read = shared.readLock();
  private final Lock write = shared.writeLock();

  @Test
  void readersShareAndAWriterIsAlone() throws Exception {
    AtomicInteger readers = new AtomicInteger();
    int[] value = {0, 0};
    AtomicBoolean torn = new AtomicBoolean();
    try (Crew crew = new Crew()) {
      CountDownLatch together = new CountDownLatch(3);
      List<Crew.Member> members = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        members.add(
            crew.start(
                () -> {
                  read.lock();
                  together.countDown();
                  together.await(); // all three readers hold the lock
                  readers.incrementAndGet();
                  read.unlock();
                  for (int k = 0; k < 300; k++) {
                    write.lock();
                    value[0]++;
                    Thread.yield();
                    value[1]++;
                    write.unlock();
                    read.lock();
                    if (value[0] != value[1]) {
                      torn.set(true);
                    }
                    read.unlock();
                  }
                }));
      }
      for (Crew.Member member : members) {
        member.join();
      }
    }
    assertThat(readers).hasValue(3);
    assertThat(torn).isFalse();
    assertThat(value).containsExactly(900, 900);
  }

  @Test
  void onceAWriterWaitsNoNewReaderEnters() throws Exception {
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    try (Crew crew = new Crew()) {
      read.lock();
      Crew.Member writer = crew.start(() -> note(write, "writer", order)).waits();
      assertThat(read.tryLock()).isFalse();
      Crew.Member reader = crew.start(() -> note(read, "reader", order)).waits();
      read.unlock();
      writer.join();
      reader.join();
    }
    assertThat(order).containsExactly("writer", "reader");
  }

  private static void note(Lock lock, String name, List<String> order) {
    lock.lock();
    order.add(name);
    lock.unlock();
  }

  @Test
  void onceAWriterWaitsBehindAWriterNoNewReaderEnters() throws Exception {
    List<String> order = new ArrayList<>();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build()) {
      Fiber<?> first =
          scheduler.go(
              () -> {
                write.lock();
                Fiber.yield(); // the second writer queues
                write.unlock();
                order.add(read.tryLock() ? "entered" : "refused");
                note(read, "reader", order);
              });
      Fiber<?> second = scheduler.go(() -> note(write, "writer", order));
      scheduler.start();
      first.join();
      second.join();
    }
    assertThat(order).containsExactly("refused", "writer", "reader");
  }

  @Test
  void ofThoseThatWaitTheWritersGoFirst() throws Exception {
    List<String> order = List.of();
    for (int round = 0; round < 100 && !order.equals(List.of("writer", "reader")); round++) {
      order = orderBehindAWriter(() -> {}); // the readers go first if a millisecond passes
    }
    assertThat(order).containsExactly("writer", "reader");
  }

  @Test
  void afterAMillisecondTheReadersThatWaitGoBeforeTheNextWriter() throws Exception {
    assertThat(
            orderBehindAWriter(
                () -> {
                  long began = System.nanoTime();
                  while (System.nanoTime() - began < 2_000_000) {
                    Thread.onSpinWait();
                  }
                }))
        .containsExactly("reader", "writer");
  }

  /** Returns the order of a writer and a reader that wait for a writer. */
  private List<String> orderBehindAWriter(Body meanwhile) throws Exception {
    List<String> order = new ArrayList<>();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build()) {
      List<Fiber<?>> all = new ArrayList<>();
      all.add(
          scheduler.go(
              () -> {
                write.lock();
                Fiber.yield(); // the others queue
                meanwhile.run();
                write.unlock();
              }));
      all.add(scheduler.go(() -> note(write, "writer", order)));
      all.add(scheduler.go(() -> note(read, "reader", order)));
      scheduler.start();
      for (Fiber<?> fiber : all) {
        fiber.join();
      }
    }
    return order;
  }

  @Test
  void afterAWriterThatWasWaitedForLongTheReadersGoTogether() throws Exception {
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    try (Crew crew = new Crew()) {
      write.lock();
      long began = System.nanoTime();
      List<Crew.Member> members = new ArrayList<>();
      for (String name : List.of("writer", "reader", "writer", "reader")) {
        Lock lock = name.equals("writer") ? write : read;
        members.add(crew.start(() -> note(lock, name, order)).waits());
      }
      while (System.nanoTime() - began < 100_000_000) {
        Thread.onSpinWait(); // far more than a millisecond, whenever the first has begun to wait
      }
      write.unlock();
      for (Crew.Member member : members) {
        member.join();
      }
    }
    assertThat(order).containsExactly("reader", "reader", "writer", "writer");
  }

  @Test
  void runningFibersLockAgainWithoutASwitchAfterAWriter() throws Exception {
    int fibers = 20;
    int times = 1000;
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      List<Fiber<Void>> all = new ArrayList<>();
      for (int i = 0; i < fibers; i++) {
        all.add(scheduler.go(() -> readAndSometimesWrite(times)));
      }
      for (Fiber<Void> fiber : all) {
        fiber.join();
      }
      long switches = scheduler.stats().threads().getFirst().switches();
      assertThat(switches).isLessThan((long) fibers * times / 4);
    }
  }

  /** Writes once in a hundred times, and is suspended then. */
  private void readAndSometimesWrite(int times) {
    for (int i = 1; i <= times; i++) {
      boolean writes = i % 100 == 0;
      Lock lock = writes ? write : read;
      lock.lock();
      if (writes) {
        Fiber.yield();
      }
      lock.unlock();
    }
  }

  @Test
  void writersWithoutEndDoNotStarveReadersNorReadersWriters() throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      List<Fiber<Void>> flood = new ArrayList<>();
      for (Lock lock : List.of(write, write, read, read, read)) {
        flood.add(
            scheduler.go(
                () -> {
                  while (!stop.get()) {
                    lock.lock();
                    Fiber.yield();
                    lock.unlock();
                  }
                }));
      }
      for (int i = 0; i < 20; i++) {
        assertThat(read.tryLock(15, TimeUnit.SECONDS)).isTrue();
        read.unlock();
        assertThat(write.tryLock(15, TimeUnit.SECONDS)).isTrue();
        write.unlock();
      }
      stop.set(true);
      for (Fiber<Void> fiber : flood) {
        fiber.join();
      }
    }
  }

  @Test
  @Feature("Y7")
  void whenTheWriterGivesUpTheReadersBehindItEnter() throws Exception {
    try (Crew crew = new Crew()) {
      read.lock();
      for (int i = 0; i < 3; i++) {
        Crew.Member writer = crew.start(write::lockInterruptibly).waits();
        Crew.Member reader =
            crew.start(
                    () -> {
                      read.lock();
                      read.unlock();
                    })
                .waits();
        writer.giveUp();
        reader.join();
        assertThatExceptionOfType(Exception.class).isThrownBy(writer::join);
      }
      Crew.Member patient =
          crew.start(
              () -> {
                read.lock();
                read.unlock();
              });
      assertThat(write.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
      patient.join();
      read.unlock();
      assertThat(write.tryLock()).isTrue();
      write.unlock();
    }
  }

  @Test
  void misuseIsRefused() throws Exception {
    assertThatExceptionOfType(IllegalMonitorStateException.class)
        .isThrownBy(read::unlock)
        .withMessageContaining("does not hold it");
    assertThatExceptionOfType(IllegalMonitorStateException.class)
        .isThrownBy(write::unlock)
        .withMessageContaining("does not hold it");
    write.lock();
    assertThatIllegalStateException()
        .isThrownBy(write::lock)
        .withMessageContaining("would wait for itself");
    assertThatIllegalStateException().isThrownBy(read::lockInterruptibly);
    assertThat(read.tryLock()).isFalse();
    write.unlock();
    assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(read::newCondition);
  }

  @Test
  @SuppressWarnings("WaitNotInLoop")
  void theWriteLockHasConditions() throws Exception {
    var condition = write.newCondition();
    try (Crew crew = new Crew()) {
      Crew.Member waiting =
          crew.start(
                  () -> {
                    write.lock();
                    condition.await();
                    write.unlock();
                  })
              .waits();
      assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(condition::signal);
      write.lock();
      condition.signal();
      write.unlock();
      waiting.join();
    }
  }

  @Test
  void aLimitWithoutUnitIsRefusedAndTheLocksAreNotLost() {
    read.lock();
    assertThatNullPointerException().isThrownBy(() -> write.tryLock(1, null));
    assertThat(read.tryLock()).as("no writer waits").isTrue();
    read.unlock();
    read.unlock();
    assertThat(write.tryLock()).isTrue();
    assertThatNullPointerException()
        .isThrownBy(() -> new SharedMutex().readLock().tryLock(1, null));
    write.unlock();
  }

  @Test
  @Feature("Y7")
  void readersBehindAWriterThatItsSchedulerGaveUpOnEnter() throws Exception {
    read.lock();
    Scheduler scheduler = Scheduler.builder().threads(1).failOnDeadlock(true).build().start();
    Fiber<Void> writer = scheduler.go(write::lock);
    Eventually.waits(writer);
    try (Crew crew = new Crew()) {
      Crew.Member reader = crew.start(read::lockInterruptibly).waits();
      assertThatIllegalStateException().isThrownBy(scheduler::stop);
      reader.join(); // while the first reader holds the lock still
      assertThat(read.tryLock()).as("no writer waits any more").isTrue();
      read.unlock();
    }
  }

  @Test
  @Feature("Y7")
  void aReaderEntersThoughTheWriterThatWaitedAloneIsGone() throws Exception {
    read.lock();
    Scheduler scheduler = Scheduler.builder().threads(1).failOnDeadlock(true).build().start();
    Eventually.waits(scheduler.go(write::lock));
    assertThatIllegalStateException().isThrownBy(scheduler::stop);
    assertThat(read.tryLock(15, TimeUnit.SECONDS)).as("no writer waits any more").isTrue();
  }

  /** A writer that was woken, but not handed the lock, never runs. */
  @Test
  @Feature("Y7")
  void aWokenWriterThatItsSchedulerGaveUpOnIsNotOnItsWay() throws Exception {
    write.lock();
    try (StuckScheduler stuck = wokenWriter()) {
      stuck.giveUp();
      boolean tookItFirst = false;
      for (int i = 0; i < 1_000 && !tookItFirst; i++) {
        Thread waiter = waitingWriter();
        write.unlock();
        tookItFirst = write.tryLock();
        if (!tookItFirst) { // the waiter has waited for a millisecond, or was faster
          waiter.join();
          write.lock();
        }
      }
      assertThat(tookItFirst).as("a running thread may lock before the waiter").isTrue();
      write.unlock();
    }
  }

  /** Returns a scheduler on which a writer is on its way; the caller has the write lock again. */
  private StuckScheduler wokenWriter() {
    while (true) {
      StuckScheduler stuck =
          new StuckScheduler(
              () -> {
                write.lock();
                write.unlock();
              });
      write.unlock();
      if (write.tryLock()) {
        return stuck;
      }
      stuck.close(); // the writer had waited for a millisecond and was handed the lock
      write.lock();
    }
  }

  private Thread waitingWriter() {
    Thread waiter =
        Thread.ofPlatform()
            .start(
                () -> {
                  write.lock();
                  write.unlock();
                });
    while (waiter.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    return waiter;
  }
}
