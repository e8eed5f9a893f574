package dev.weft.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The spin lock: exclusion, and what it refuses of the JDK's interface. */
class SpinLockTest {
  private final SpinLock lock = new SpinLock();

  @GuardedBy("lock")
  private int count;

  @Test
  void theLockExcludesThreads() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(Thread.ofPlatform().start(this::addOften));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    lock.lock();
    try {
      assertThat(count).isEqualTo(4 * 20_000);
    } finally {
      lock.unlock();
    }
  }

  private void addOften() {
    for (int i = 0; i < 20_000; i++) {
      lock.lock();
      try {
        count++;
      } finally {
        lock.unlock();
      }
    }
  }

  @Test
  void tryLockTakesAFreeLockOnly() {
    assertThat(lock.tryLock()).isTrue();
    assertThat(lock.isTaken()).isTrue();
    assertThat(lock.tryLock()).isFalse();
    lock.unlock();
    assertThat(lock.isTaken()).isFalse();
  }

  @Test
  void operationsOfLockThatParkAreRefused() {
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(lock::lockInterruptibly)
        .withMessage("a spin lock does without an interruptible wait: use a Mutex");
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS));
    assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
  }
}
