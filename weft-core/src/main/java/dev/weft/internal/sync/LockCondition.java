package dev.weft.internal.sync;

import dev.weft.internal.sched.SchedulerCore;
import dev.weft.sync.ConditionVariable;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** A {@link ConditionVariable} that knows its lock. */
public final class LockCondition implements Condition {
  private final ConditionVariable variable = new ConditionVariable();
  private final Lock lock;
  private final Runnable checkHeld;

  /**
   * Creates a condition of a lock.
   *
   * @param checkHeld throws if the caller does not hold the lock
   */
  public LockCondition(Lock lock, Runnable checkHeld) {
    this.lock = lock;
    this.checkHeld = checkHeld;
  }

  @Override
  public void await() throws InterruptedException {
    variable.await(lock);
  }

  @Override
  public void awaitUninterruptibly() {
    variable.awaitUninterruptibly(lock);
  }

  @Override
  public long awaitNanos(long nanos) throws InterruptedException {
    long start = SchedulerCore.timeHere();
    variable.await(lock, Duration.ofNanos(nanos));
    return Math.max(nanos, 0) - (SchedulerCore.timeHere() - start);
  }

  @Override
  public boolean await(long time, TimeUnit unit) throws InterruptedException {
    return variable.await(lock, Duration.ofNanos(unit.toNanos(time)));
  }

  @Override
  @SuppressWarnings("JavaUtilDate") // the interface's
  public boolean awaitUntil(Date deadline) throws InterruptedException {
    Instant time = Instant.ofEpochMilli(deadline.getTime()); // some subclasses refuse toInstant()
    return variable.await(lock, Duration.between(Instant.now(), time));
  }

  @Override
  public void signal() {
    checkHeld.run();
    variable.signal();
  }

  @Override
  public void signalAll() {
    checkHeld.run();
    variable.signalAll();
  }
}
