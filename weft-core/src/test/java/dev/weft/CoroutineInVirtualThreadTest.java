package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Coroutine.State;
import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Coroutines inside threads that park: the whole thread waits, with its coroutines. */
@Feature("C15")
class CoroutineInVirtualThreadTest {
  @Test
  void aCoroutineMaySleepLockAndHandOver() throws Exception {
    SynchronousQueue<String> queue = new SynchronousQueue<>();
    ReentrantLock lock = new ReentrantLock();
    List<String> seen = new ArrayList<>();
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              Coroutine coroutine =
                  Coroutine.of(
                      () -> {
                        Thread.sleep(1);
                        lock.lock();
                        try {
                          seen.add(queue.take());
                        } finally {
                          lock.unlock();
                        }
                        Coroutine.yield();
                        seen.add(queue.take());
                      });
              coroutine.resume();
              assertThat(coroutine.state()).isEqualTo(State.READY);
              assertThat(Coroutine.current()).isEmpty();
              coroutine.resume();
              assertThat(coroutine.state()).isEqualTo(State.TERMINATED);
            },
            null);
    Thread.startVirtualThread(task);
    queue.put("one");
    queue.put("two");
    task.get();
    assertThat(seen).containsExactly("one", "two");
  }

  @Test
  void manyMoreParkedInCoroutinesThanThereAreCarriers() throws Exception {
    int many = 1_000;
    CountDownLatch allParked = new CountDownLatch(many);
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      threads.add(
          Thread.startVirtualThread(
              () ->
                  Coroutine.of(
                          () -> {
                            allParked.countDown();
                            go.await();
                          })
                      .resume()));
    }
    allParked.await();
    go.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
  }
}
