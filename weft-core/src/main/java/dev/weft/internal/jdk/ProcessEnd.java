package dev.weft.internal.jdk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Saves a third of a second at the end of a process. The JVM gives threads in native code 300 ms to
 * return before it exits, and a thread in {@code epoll_wait} never does: neither the JDK's poller
 * nor an idle worker with descriptors. So after the last shutdown hook they are woken, and do not
 * wait there again.
 *
 * <p>If the JDK is not as expected, the process exits as late as without Weft.
 */
public final class ProcessEnd {
  /** The last slot of {@code java.lang.Shutdown}; the program's hooks share the second slot. */
  private static final int LAST = 9;

  /** As in epoll.h. */
  private static final int ADD = 1;

  private static final int WRITABLE = 4;

  private ProcessEnd() {}

  /** Has the JDK's poller, and by the given task other threads, woken at the end; called once. */
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
      // another JDK, the slot is taken, or the shutdown has begun
    }
  }

  /**
   * Registers a writable pipe, which is always ready, so that the JDK's poller returns again and
   * again until the JVM stops it at a safepoint, after a few milliseconds.
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
