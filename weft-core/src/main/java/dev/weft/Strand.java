package dev.weft;

import dev.weft.internal.jdk.VirtualThreads;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** The fiber as its virtual thread sees it: the body it runs and the executor of its slices. */
final class Strand implements Executor, Runnable {
  private static final VarHandle GUESTS;

  static {
    try {
      GUESTS = MethodHandles.lookup().findVarHandle(Strand.class, "guests", Map.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Fiber<?> fiber;

  // virtual threads started in this one inherit its executor; by slice and by thread
  private volatile @Nullable Map<Object, Fiber<?>> guests;

  Strand(Fiber<?> fiber) {
    this.fiber = fiber;
  }

  @Override
  public void run() {
    fiber.runBody();
  }

  /** Called by the JDK whenever the thread can go on. Must not block: see submitRunContinuation. */
  @Override
  public void execute(Runnable slice) {
    if (fiber.takeFirstSlice(slice)) {
      return; // the thread starts, on the worker that will run it
    }
    (fiber.isSlice(slice) ? fiber : guestOf(slice)).becomeReady();
  }

  private Fiber<?> guestOf(Runnable slice) {
    Map<Object, Fiber<?>> known = guests();
    Fiber<?> guest = known.get(slice);
    if (guest == null) {
      Fiber<?> starter = Fiber.currentOrNull(); // another guest, as a rule this fiber
      Fiber<?> host = starter != null ? starter : fiber;
      Thread thread = VirtualThreads.threadOf(slice);
      guest = new Fiber<>(host, thread, slice);
      known.put(slice, guest);
      known.put(thread, guest);
      guest.scheduler().countBegun(null);
    }
    return guest;
  }

  private Map<Object, Fiber<?>> guests() {
    Map<Object, Fiber<?>> known = guests;
    if (known == null) {
      known = new ConcurrentHashMap<>();
      if (!GUESTS.compareAndSet(this, null, known)) {
        known = guests;
      }
    }
    return known;
  }

  Fiber<?> of(Thread thread) {
    if (guests == null || fiber.threadOrNull() == thread) {
      return fiber;
    }
    Fiber<?> guest = guests().get(thread);
    return guest != null ? guest : fiber;
  }

  void forget(Thread guestThread, Runnable guestSlice) {
    guests().remove(guestThread);
    guests().remove(guestSlice);
  }
}
