package dev.weft.proof;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Holds the callers of a server back until the test has counted them. */
final class Gate {
  private final AtomicInteger arrived = new AtomicInteger();
  private final CountDownLatch open = new CountDownLatch(1);

  /** Waits until the gate is open. */
  void pass() throws InterruptedException {
    arrived.incrementAndGet();
    open.await();
  }

  int arrived() {
    return arrived.get();
  }

  void open() {
    open.countDown();
  }
}
