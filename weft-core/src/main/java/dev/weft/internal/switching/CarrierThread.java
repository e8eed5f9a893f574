package dev.weft.internal.switching;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.jdk.PrivateField;
import dev.weft.internal.jdk.UnsupportedJdk;
import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import org.jspecify.annotations.Nullable;

/**
 * A thread that carries virtual threads, and always has more of them to run as far as the JDK can
 * see. {@code SynchronousQueue}, {@code LinkedTransferQueue} and {@code Exchanger} spin before they
 * park, which on a thread that should run the other side meanwhile only wastes time; they do not if
 * the carrier is a thread of a {@link ForkJoinPool} with something in its queue. This is one, of a
 * pool that never runs.
 */
public final class CarrierThread extends ForkJoinWorkerThread {
  private static final ForkJoinPool NO_POOL = new ForkJoinPool(1);
  private static final @Nullable Internals INTERNALS;
  private static final @Nullable Throwable MISFIT;

  static {
    Internals found = null;
    Throwable misfit = null;
    try {
      found = Internals.find();
      found.prepare(new CarrierThread(() -> {}), 0);
    } catch (ReflectiveOperationException | RuntimeException e) {
      misfit = e;
    }
    INTERNALS = misfit == null ? found : null;
    MISFIT = misfit;
  }

  private final Runnable loop;

  private CarrierThread(Runnable loop) {
    super(null, NO_POOL, true);
    this.loop = loop;
  }

  /**
   * Creates a thread, still to be started; a plain one if the JDK does not fit, or if there is to
   * be no hook.
   *
   * @param stackSize in bytes; 0: the JVM's
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
   * Says why plain threads are made, if they are.
   *
   * @throws UnsupportedJdk if the JDK's pools are not as expected
   */
  public static void check() throws UnsupportedJdk {
    if (MISFIT != null) {
      throw new UnsupportedJdk(MISFIT);
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
