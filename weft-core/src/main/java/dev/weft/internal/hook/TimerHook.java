package dev.weft.internal.hook;

import dev.weft.internal.jdk.PrivateField;
import dev.weft.internal.jdk.UnsupportedJdk;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Puts Weft in front of the executors that end the timed parks and waits of virtual threads which
 * have a scheduler of their own. They are asked on the carrier, after the thread has left it.
 *
 * <pre>
 *   VirtualThread.DelayedTaskSchedulers.INSTANCE  [ original ]  becomes  [ InFront ─► original ]
 * </pre>
 */
public final class TimerHook {
  /** Who is asked first. */
  public interface Front {
    /**
     * Returns what cancels the command, which runs after the delay; null to leave it to the JDK.
     */
    @Nullable ScheduledFuture<?> schedule(Runnable command, long nanos);
  }

  private TimerHook() {}

  /**
   * Puts the front there. To be called once.
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

  /** Has no threads of its own: all that is ever called is this one method. */
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
