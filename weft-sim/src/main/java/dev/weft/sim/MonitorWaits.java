package dev.weft.sim;

import dev.weft.sim.boot.RewrittenCalls;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The fibers that wait for a monitor, or in {@code Object.wait}. The JVM makes them ready on a
 * thread of its own, {@code VirtualThread-unblocker}: a thread that leaves a monitor, or notifies,
 * puts the waiter on a list ({@code onWaitingList}), and the unblocker takes it from there. {@link
 * #settle} waits until that is done, so that the choice of the next fiber does not depend on it.
 */
final class MonitorWaits {
  private static final VarHandle ON_LIST;
  private static final VarHandle STATE;

  /** The states of {@code VirtualThread} from BLOCKING to TIMED_WAIT, without SUSPENDED. */
  private static final int FIRST;

  private static final int LAST;
  private static final int STATE_MASK = 0xff;

  /** After so many looks the thread yields its core between looks. */
  private static final int SPINS = 200;

  static {
    try {
      Class<?> type = Class.forName("java.lang.VirtualThread");
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      ON_LIST = lookup.findVarHandle(type, "onWaitingList", boolean.class);
      STATE = lookup.findVarHandle(type, "state", int.class);
      FIRST = (int) lookup.findStaticVarHandle(type, "BLOCKING", int.class).get();
      LAST = (int) lookup.findStaticVarHandle(type, "TIMED_WAIT", int.class).get();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "cannot simulate on this JDK (" + Runtime.version() + "): it has other virtual threads",
          e);
    }
  }

  private final List<Thread> waiting = new ArrayList<>();

  /** Notes a thread whose slice has ended, if it waits for a monitor. */
  void noteAfterSlice(Thread thread) {
    if (isMonitorWait(thread)) {
      waiting.add(thread);
    }
  }

  private static boolean isMonitorWait(Thread thread) {
    int state = (int) STATE.getVolatile(thread) & STATE_MASK;
    return state >= FIRST && state <= LAST;
  }

  /** Waits until no thread is on its way from a monitor to the ready queue. */
  void settle() {
    if (waiting.isEmpty()) {
      return;
    }
    for (int looks = 0; isUnderWay(); looks++) {
      if (looks < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
    waiting.removeIf(thread -> !isMonitorWait(thread));
  }

  private boolean isUnderWay() {
    for (int i = 0; i < waiting.size(); i++) {
      if ((boolean) ON_LIST.getVolatile(waiting.get(i))) {
        return true;
      }
    }
    return RewrittenCalls.unblocks();
  }

  void clear() {
    waiting.clear();
  }
}
