package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.Coroutine.State;
import dev.weft.testkit.Feature;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** The owner of a coroutine: which thread may resume it, and while it holds which monitors. */
class CoroutineOwnerTest {
  @Test
  @Feature("C11")
  void anotherThreadIsRefusedByIdStateAndOwner() throws Exception {
    Coroutine coroutine = Coroutine.of(Coroutine::yield);
    coroutine.resume();
    String owner = Thread.currentThread().toString();
    for (Runnable attempt : new Runnable[] {coroutine::resume, coroutine::close}) {
      onAnotherThread(
          () ->
              assertThatIllegalStateException()
                  .isThrownBy(attempt::run)
                  .withMessageContaining("coroutine " + coroutine.id() + ": it is READY")
                  .withMessageContaining("belongs to " + owner));
    }
    onAnotherThread(
        () -> {
          Coroutine.of(
                  () ->
                      assertThatIllegalStateException()
                          .isThrownBy(() -> Coroutine.transferTo(coroutine))
                          .withMessageContaining("belongs to " + owner))
              .resume();
          return null;
        });
    coroutine.resume();
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  @Feature("C11")
  void aResetCoroutineMayBelongToAnotherThread() throws Exception {
    Coroutine coroutine = Coroutine.of(() -> {});
    coroutine.resume();
    coroutine.reset(() -> {});
    onAnotherThread(
        () -> {
          coroutine.resume();
          return null;
        });
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  @Feature("C11")
  void ofManyThreadsThatRaceForTheFirstResumeExactlyOneWins() throws Exception {
    for (int round = 0; round < 500; round++) {
      AtomicInteger runs = new AtomicInteger();
      AtomicInteger refused = new AtomicInteger();
      Coroutine coroutine =
          Coroutine.of(
              () -> {
                runs.incrementAndGet();
                Coroutine.yield();
              });
      CountDownLatch go = new CountDownLatch(1);
      Thread[] threads = new Thread[3];
      for (int i = 0; i < threads.length; i++) {
        threads[i] =
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        go.await();
                        coroutine.resume();
                      } catch (IllegalStateException e) {
                        refused.incrementAndGet();
                      } catch (InterruptedException e) {
                        throw new AssertionError(e);
                      }
                    });
      }
      go.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(runs).hasValue(1);
      assertThat(refused).hasValue(threads.length - 1);
    }
  }

  @Test
  @Feature("C16")
  void withAssertionsOnResumingWithAMonitorIsRefused() {
    Coroutine coroutine = Coroutine.of(Coroutine::yield);
    Object monitor = new Object();
    synchronized (monitor) {
      assertThatIllegalStateException()
          .isThrownBy(coroutine::resume)
          .withMessageContaining("cannot resume coroutine " + coroutine.id())
          .withMessageContaining("monitor of a java.lang.Object")
          .withMessageContaining("withAssertionsOnResumingWithAMonitorIsRefused");
      assertThat(Thread.holdsLock(monitor)).isTrue();
    }
    coroutine.resume();
    synchronized (monitor) {
      assertThatIllegalStateException().isThrownBy(coroutine::close);
    }
    coroutine.close();
  }

  @Test
  @Feature({"C11", "C16"})
  void aResumerRefusedForAMonitorDoesNotBecomeTheOwner() throws Exception {
    Coroutine coroutine = Coroutine.of(() -> {});
    synchronized (coroutine) {
      assertThatIllegalStateException().isThrownBy(coroutine::resume);
    }
    onAnotherThread(
        () -> {
          coroutine.resume();
          return null;
        });
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  private static final Coroutine CLAIMED = Coroutine.of(() -> {});

  /** A class with an initializer, which runs below a native frame and so pins the coroutine. */
  private static final class Pinned {
    static {
      assertThatIllegalStateException()
          .isThrownBy(() -> Coroutine.transferTo(CLAIMED))
          .withMessageContaining("native");
    }

    private Pinned() {}

    static void touch() {}
  }

  @Test
  @Feature({"C5", "C11"})
  void resetAlsoFreesACoroutineThatAFailedTransferHasClaimed() throws Exception {
    Coroutine.of(Pinned::touch).resume();
    CLAIMED.reset(() -> {});
    onAnotherThread(
        () -> {
          CLAIMED.resume();
          return null;
        });
    assertThat(CLAIMED.state()).isEqualTo(State.TERMINATED);
  }

  @Test
  @Feature("C16")
  void withAssertionsOnYieldingInsideSynchronizedIsRefused() {
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              assertThatIllegalStateException()
                  .isThrownBy(CoroutineOwnerTest::yieldSynchronized)
                  .withMessageContaining("cannot yield coroutine")
                  .withMessageContaining("yieldSynchronized");
              Coroutine.yield();
            });
    coroutine.resume();
    assertThat(coroutine.state()).isEqualTo(State.READY);
    coroutine.resume();
    assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
  }

  private static synchronized void yieldSynchronized() {
    Coroutine.yield();
  }

  @Test
  @Feature("C16")
  void aLockMayBeHeldAcrossAYield() {
    ReentrantLock lock = new ReentrantLock();
    Coroutine coroutine =
        Coroutine.of(
            () -> {
              lock.lock();
              try {
                Coroutine.yield();
              } finally {
                lock.unlock();
              }
            });
    coroutine.resume();
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    coroutine.resume();
    assertThat(lock.isLocked()).isFalse();
  }

  private static void onAnotherThread(Callable<?> body) throws Exception {
    FutureTask<?> task = new FutureTask<>(body);
    Thread.ofPlatform().start(task);
    task.get();
  }
}
