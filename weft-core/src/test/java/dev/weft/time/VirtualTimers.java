package dev.weft.time;

import dev.weft.Body;
import dev.weft.internal.timer.TimerHost;
import dev.weft.internal.timer.TimerNode;
import dev.weft.internal.timer.TimerPlace;
import dev.weft.internal.timer.TimerQueue;
import dev.weft.internal.timer.TimersCore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Timers of a clock that stands until a test moves it, and callbacks that run when the test says
 * so.
 */
final class VirtualTimers implements TimerHost, TimerPlace {
  private record Begun(Body callback, Runnable after) {}

  private final long start = 1_234_567_890L;
  private final TimerQueue queue = new TimerQueue(start);
  private final Deque<Begun> begun = new ArrayDeque<>();
  private final List<TimerNode> due = new ArrayList<>();
  private long now = start;
  private int pending;
  private boolean callbacksHeld;
  private boolean refused;

  final Timers timers = new TimersCore(this);

  /** Returns how long the clock has run. */
  Duration elapsed() {
    return Duration.ofNanos(now - start);
  }

  /** Moves the clock on, stopping wherever a timer fires. */
  void advance(Duration time) {
    long target = now + time.toNanos();
    while (queue.nextWake() <= target) {
      now = Math.max(now, queue.nextWake());
      takeDue();
      callDue();
    }
    now = target;
  }

  /** Moves the clock on at once, as after a pause of the machine. */
  void jump(Duration time) {
    jumpAndTakeDue(time);
    callDue();
  }

  /** The first half of a worker's duty: takes due timers from the queue, but runs no callback. */
  void jumpAndTakeDue(Duration time) {
    now += time.toNanos();
    takeDue();
  }

  private void takeDue() {
    queue.expire(now, due::add);
  }

  /** The second half of a worker's duty: starts the callbacks. */
  void callDue() {
    due.forEach(TimerNode::onExpired);
    due.clear();
    if (!callbacksHeld) {
      runCallbacks();
    }
  }

  /** From now on the fibers of callbacks wait for {@link #releaseCallbacks}. */
  void holdCallbacks() {
    callbacksHeld = true;
  }

  /** From now on no fiber of a callback can start. */
  void refuseCallbacks(boolean refuse) {
    refused = refuse;
  }

  void releaseCallbacks() {
    callbacksHeld = false;
    runCallbacks();
  }

  private void runCallbacks() {
    for (Begun next = begun.poll(); next != null; next = begun.poll()) {
      try {
        next.callback.run();
      } catch (Exception e) {
        throw new AssertionError(e);
      } finally {
        next.after.run();
      }
    }
  }

  int callbacksBegun() {
    return begun.size();
  }

  int queued() {
    return queue.size();
  }

  @Override
  public long now() {
    return now;
  }

  @Override
  public TimerPlace place() {
    return this;
  }

  @Override
  public TimerHost host() {
    return this;
  }

  @Override
  public void checkOpen() {}

  @Override
  public void beginOneShot(TimerNode timer, long deadline) {
    pending++;
    add(timer, deadline);
  }

  @Override
  public boolean cancelOneShot(TimerNode timer) {
    pending -= timer.isQueued() ? 1 : 0;
    return remove(timer);
  }

  @Override
  public void endOneShot() {
    pending--;
  }

  @Override
  public boolean move(TimerNode timer, long deadline) {
    if (!remove(timer)) {
      return false;
    }
    add(timer, deadline);
    return true;
  }

  @Override
  public void add(TimerNode timer, long deadline) {
    queue.add(timer, deadline);
  }

  @Override
  public boolean remove(TimerNode timer) {
    return queue.remove(timer);
  }

  @Override
  public boolean fire(Body callback, boolean oneShot, Runnable after) {
    return !refused && begun.add(new Begun(callback, after));
  }

  @Override
  public void countRecurring(int change) {
    pending += change;
  }

  @Override
  public int pending() {
    return pending;
  }
}
