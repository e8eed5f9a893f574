package dev.weft.internal.hook;

import dev.weft.internal.jdk.PrivateField;
import dev.weft.internal.jdk.UnsupportedJdk;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Puts Weft in front of the JDK's timers of timed parks and waits: the executors that {@code
 * VirtualThread.schedule} uses for virtual threads with a custom scheduler. The JDK calls them on
 * the carrier, after the thread has unmounted ({@code VirtualThread.afterYield}).
 *
 * <pre>
 *   VirtualThread.DelayedTaskSchedulers.INSTANCE  [ original ]  becomes  [ InFront ─► original ]
 * </pre>
 */
public final class TimerHook {
  /** The callback in front of the JDK's executors. */
  public interface Front {
    /**
     * Runs the command after the delay; returns a future that cancels it, or null to leave the
     * command to the JDK.
     */
    @Nullable ScheduledFuture<?> schedule(Runnable command, long nanos);
  }

  private TimerHook() {}

  /**
   * Replaces the executors. To be called once.
   *
   * @throws UnsupportedJdk if the JDK's timers are not as expected; then nothing has been changed
   */
  public static void install(Front front) throws UnsupportedJdk {
    try {
      Class<?> holder = Class.forName("java.lang.VirtualThread$DelayedTaskSchedulers");
      ScheduledExecutorService[] schedulers =
          (ScheduledExecutorService[]) PrivateField.of(holder, "INSTANCE").get(null);
      for (int i = 0; i < schedulers.length; i++) {
        schedulers[i] = new InFront(front, schedulers[i]);
      }
    } catch (Throwable e) {
      throw new UnsupportedJdk(e);
    }
  }

  /** An executor without threads: the JDK calls {@code schedule} only. */
  private static final class InFront extends ScheduledThreadPoolExecutor {
    private final Front front;
    private final ScheduledExecutorService original;

    InFront(Front front, ScheduledExecutorService original) {
      super(0);
      this.front = front;
      this.original = original;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
      ScheduledFuture<?> ours = front.schedule(command, unit.toNanos(delay));
      return ours != null ? ours : original.schedule(command, delay, unit);
    }
  }
}
