package dev.weft.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Weft;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** The snippets of the Javadoc of locks: compiled, run and checked here. */
class SyncSnippetsTest {
  private int balance = 100;

  @Test
  void mutex() {
    int amount = 30;
    // @start region="mutex"
    Mutex mutex = new Mutex();
    mutex.lock();
    try {
      balance -= amount;
    } finally {
      mutex.unlock();
    }
    // @end
    assertThat(balance).isEqualTo(70);
  }

  @Test
  void shared() {
    // @start region="shared"
    Map<String, String> config = new HashMap<>();
    SharedMutex shared = new SharedMutex();
    shared.writeLock().lock();
    try {
      config.put("colour", "blue");
    } finally {
      shared.writeLock().unlock();
    }
    shared.readLock().lock();
    try {
      config.get("colour"); // many readers at a time
    } finally {
      shared.readLock().unlock();
    }
    // @end
    assertThat(config).containsEntry("colour", "blue");
  }

  @Test
  void condition() throws Exception {
    // @start region="condition"
    Mutex mutex = new Mutex();
    ConditionVariable notEmpty = new ConditionVariable();
    Queue<String> letters = new ArrayDeque<>();
    Fiber<String> reader =
        Weft.go(
            () -> {
              mutex.lock();
              try {
                notEmpty.await(mutex, () -> !letters.isEmpty());
                return letters.remove();
              } finally {
                mutex.unlock();
              }
            });
    mutex.lock();
    try {
      letters.add("hello");
      notEmpty.signal();
    } finally {
      mutex.unlock();
    }
    // @end
    assertThat(reader.join()).isEqualTo("hello");
  }

  @Test
  void semaphore() throws Exception {
    List<String> out = new ArrayList<>();
    // @start region="semaphore"
    Semaphore connections = new Semaphore(10);
    connections.acquire();
    try {
      out.add("at most ten at a time");
    } finally {
      connections.release();
    }
    // @end
    assertThat(out).hasSize(1);
    assertThat(connections.availablePermits()).isEqualTo(10);
  }

  @Test
  void waitGroup() throws Exception {
    List<Integer> out = Collections.synchronizedList(new ArrayList<>());
    // @start region="wait-group"
    WaitGroup group = new WaitGroup();
    for (int i = 0; i < 3; i++) {
      int number = i;
      group.add(1);
      Weft.go(
          () -> {
            out.add(number);
            group.done();
          });
    }
    group.await(); // until all three are done
    // @end
    assertThat(out).containsExactlyInAnyOrder(0, 1, 2);
  }

  @Test
  void barrier() throws Exception {
    List<String> out = Collections.synchronizedList(new ArrayList<>());
    // @start region="barrier"
    Barrier barrier = new Barrier(2);
    Fiber<Void> other =
        Weft.go(
            () -> {
              out.add("prepared");
              barrier.await();
              out.add("go");
            });
    out.add("prepared");
    barrier.await(); // both have prepared before either continues
    out.add("go");
    // @end
    other.join();
    assertThat(out).containsExactly("prepared", "prepared", "go", "go");
  }
}
