package dev.weft.internal.jdk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Spares a process a third of a second at its end. The JVM gives threads that are in native code
 * 300 ms to leave it before it ends, and one that waits in {@code epoll_wait} never does: not the
 * JDK's poller, not an idle worker that has descriptors. So after the last shutdown hook they are
 * woken, and find that they need not wait there again.
 *
 * <p>Where the JDK is not as expected the process just ends as late as ever.
 */
public final class ProcessEnd {
  /** The last of the JDK's shutdown hooks; the program's own, all together, are the second. */
  private static final int LAST = 9;

  /** As in epoll.h. */
  private static final int ADD = 1;

  private static final int WRITABLE = 4;

  private ProcessEnd() {}

  /** Sees to it that the JDK's poller, and by this what else waits, is woken; called once. */
  public static void prepare(Runnable wakeOthers) {
    Runnable last =
        () -> {
          wakeOthers.run();
          wakeJdkPoller();
        };
    try {
      Class<?> shutdown = Class.forName("java.lang.Shutdown");
      MethodHandles.privateLookupIn(shutdown, MethodHandles.lookup())
          .findStatic(
              shutdown,
              "add",
              MethodType.methodType(void.class, int.class, boolean.class, Runnable.class))
          .invokeExact(LAST, false, last);
    } catch (Throwable e) {
      // another JDK, another one's hook, or the end has begun
    }
  }

  /**
   * Gives it an event that is always there, a pipe that can be written, so that it comes back again
   * and again until the JVM stops it at the door: that is after a few milliseconds.
   */
  private static void wakeJdkPoller() {
    try {
      MethodHandles.Lookup lookup =
          MethodHandles.privateLookupIn(Class.forName("sun.nio.ch.Poller"), MethodHandles.lookup());
      Class<?> group = Class.forName("sun.nio.ch.Poller$Pollers");
      Class<?> epoll = Class.forName("sun.nio.ch.EPollPoller");
      Object pollers = lookup.findStaticVarHandle(lookup.lookupClass(), "POLLERS", group).get();
      Object master =
          lookup.findVarHandle(group, "masterPoller", lookup.lookupClass()).get(pollers);
      int descriptor =
          (int)
              MethodHandles.privateLookupIn(epoll, MethodHandles.lookup())
                  .findVarHandle(epoll, "epfd", int.class)
                  .get(master);
      long pipe =
          (long)
              lookup
                  .findStatic(
                      Class.forName("sun.nio.ch.IOUtil"),
                      "makePipe",
                      MethodType.methodType(long.class, boolean.class))
                  .invokeExact(false);
      int _ =
          (int)
              lookup
                  .findStatic(
                      Class.forName("sun.nio.ch.EPoll"),
                      "ctl",
                      MethodType.methodType(int.class, int.class, int.class, int.class, int.class))
                  .invokeExact(descriptor, ADD, (int) pipe, WRITABLE);
    } catch (Throwable e) {
      // not Linux, another JDK, no descriptor left
    }
  }
}
