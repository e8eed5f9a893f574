package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

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
  void afterAWriterTheReadersThatWaitedGoBeforeTheNextWriter() throws Exception {
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    try (Crew crew = new Crew()) {
      write.lock();
      List<Crew.Member> members = new ArrayList<>();
      for (String name : List.of("writer", "reader", "writer", "reader")) {
        Lock lock = name.equals("writer") ? write : read;
        members.add(crew.start(() -> note(lock, name, order)).waits());
      }
      write.unlock();
      for (Crew.Member member : members) {
        member.join();
      }
    }
    assertThat(order).containsExactly("reader", "reader", "writer", "writer");
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
      Crew.Member reader = crew.start(read::lock).waits();
      assertThatIllegalStateException().isThrownBy(scheduler::stop);
      read.unlock();
      reader.join();
    }
  }
}
