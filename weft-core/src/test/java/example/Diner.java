package example;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;

/** A user's code, outside Weft's packages: reports name its lines and not Weft's own. */
public final class Diner {
  private Diner() {}

  /** Takes one fork after the other, the second when all diners have their first. */
  public static void dine(Lock first, Lock second, CountDownLatch all) throws InterruptedException {
    first.lockInterruptibly();
    try {
      all.countDown();
      all.await();
      second.lockInterruptibly();
      second.unlock();
    } finally {
      first.unlock();
    }
  }
}
