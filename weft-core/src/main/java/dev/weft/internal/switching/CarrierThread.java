package dev.weft.internal.switching;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.jdk.PrivateField;
import dev.weft.internal.jdk.UnsupportedJdk;
import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import org.jspecify.annotations.Nullable;

/**
 * A worker's thread, which the JDK takes for a carrier with more virtual threads to run. {@code
 * SynchronousQueue}, {@code LinkedTransferQueue} and {@code Exchanger} spin before they park, which
 * wastes time on a carrier that should run the other side; they do not spin if {@code
 * ForkJoinWorkerThread.hasKnownQueuedWork} says that the carrier's queue has a task. So this thread
 * belongs to a {@link ForkJoinPool} that never runs, with a queue that never looks empty.
 */
public final class CarrierThread extends ForkJoinWorkerThread {
  private static final ForkJoinPool NO_POOL = new ForkJoinPool(1);
  private static final @Nullable Internals INTERNALS;
  private static final @Nullable Throwable UNSUPPORTED;

  static {
    Internals found = null;
    Throwable unsupported = null;
    try {
      found = Internals.find();
      found.prepare(new CarrierThread(() -> {}), 0);
    } catch (ReflectiveOperationException | RuntimeException e) {
      unsupported = e;
    }
    INTERNALS = unsupported == null ? found : null;
    UNSUPPORTED = unsupported;
  }

  private final Runnable loop;

  private CarrierThread(Runnable loop) {
    super(null, NO_POOL, true);
    this.loop = loop;
  }

  /**
   * Creates a thread, still to be started; a plain {@code Thread} if the JDK is not as expected, or
   * if the hook is off.
   *
   * @param stackSize in bytes; 0: the JVM's default
   */
  public static Thread create(String name, boolean daemon, long stackSize, Runnable loop) {
    if (HookFamilies.WANTED && INTERNALS != null) {
      try {
        CarrierThread thread = new CarrierThread(loop);
        INTERNALS.prepare(thread, stackSize);
        thread.setName(name);
        thread.setDaemon(daemon);
        return thread;
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("it was possible before", e);
      }
    }
    return Thread.ofPlatform().name(name).daemon(daemon).stackSize(stackSize).unstarted(loop);
  }

  /**
   * Throws if {@link #create} makes plain threads.
   *
   * @throws UnsupportedJdk if the JDK's pools are not as expected
   */
  public static void check() throws UnsupportedJdk {
    if (UNSUPPORTED != null) {
      throw new UnsupportedJdk(UNSUPPORTED);
    }
  }

  @Override
  public void run() {
    loop.run();
  }

  /** The JDK's fields that make a thread look busy, and that hold its stack size. */
  private record Internals(Field queue, Field top, Field holder, Field stackSize) {
    static Internals find() throws ReflectiveOperationException {
      return new Internals(
          PrivateField.of(ForkJoinWorkerThread.class, "workQueue"),
          PrivateField.of(Class.forName("java.util.concurrent.ForkJoinPool$WorkQueue"), "top"),
          PrivateField.of(Thread.class, "holder"),
          PrivateField.of(Class.forName("java.lang.Thread$FieldHolder"), "stackSize"));
    }

    void prepare(CarrierThread thread, long bytes) throws ReflectiveOperationException {
      Object ofThread = queue.get(thread);
      top.setInt(ofThread, top.getInt(ofThread) + 1);
      stackSize.setLong(holder.get(thread), bytes);
    }
  }
}
