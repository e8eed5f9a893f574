package dev.weft.internal.switching;

import static java.lang.invoke.MethodType.methodType;

import dev.weft.internal.Unchecked;
import dev.weft.internal.jdk.Inside;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An index from monitors to the threads that hold them, at about one moment. The JVM lists the
 * monitors of one thread at a time.
 *
 * <p>Virtual threads are asked by {@code jdk.internal.vm.ThreadSnapshot}, the source of {@code jcmd
 * Thread.dump_to_file}. In JDK 25 a snapshot of a virtual thread that is mounted or unmounted
 * meanwhile crashes the JVM, so a thread is asked only while {@link UnmountedThread} holds it
 * still: what a mounted virtual thread holds is not known. Platform threads are asked by {@code
 * ThreadMXBean}, if the JVM has it; that names a monitor by its class and identity hash code.
 *
 * <p>If a JDK has other snapshots, no monitor has a known owner. And a snapshot of a thread that
 * was notified and waits to enter its monitor again does not name the monitor once the JVM has
 * compiled {@code Object.wait}, and lists it as held: measured on 25.0.3, 20 of 20 snapshots name
 * it before and none after.
 */
public final class MonitorOwners {
  private static final @Nullable Snapshots SNAPSHOTS = Snapshots.orNull();
  private static final @Nullable MethodHandle EXCLUSIVE_OWNER = exclusiveOwner();
  private static final boolean HAS_MANAGEMENT =
      ModuleLayer.boot().findModule("java.management").isPresent();

  private static final LongAdder TAKEN = new LongAdder();

  private final Map<Object, Thread> ofVirtual = new IdentityHashMap<>();
  private final Map<MonitorName, Thread> ofPlatform = new HashMap<>();

  /** How {@code ThreadMXBean} names a monitor. */
  private record MonitorName(String type, int identityHashCode) {}

  private MonitorOwners() {}

  /**
   * Finds what the platform threads and these virtual threads hold. Takes some 30 µs for each
   * virtual thread.
   *
   * @param left returns the monitor that a virtual thread has left in {@code Object.wait}, or null
   *     if there is none or that is not known
   */
  public static MonitorOwners among(
      Stream<Thread> virtualThreads, Function<Thread, @Nullable Object> left) {
    MonitorOwners owners = new MonitorOwners();
    if (SNAPSHOTS != null) {
      virtualThreads.forEach(
          thread -> {
            Object leftOne = left.apply(thread);
            SNAPSHOTS.forEachHeld(
                thread,
                monitor -> {
                  if (monitor != leftOne) {
                    owners.ofVirtual.put(monitor, thread);
                  }
                });
          });
    }
    if (HAS_MANAGEMENT) {
      PlatformThreads.forEachHeld(owners.ofPlatform::put);
    }
    return owners;
  }

  /** Returns an index of no monitor. */
  public static MonitorOwners none() {
    return new MonitorOwners();
  }

  /** Returns how many snapshots of virtual threads this process has taken: for tests. */
  public static long snapshots() {
    return TAKEN.sum();
  }

  /** Returns the thread that holds the monitor of this object, or null if that is not known. */
  public @Nullable Thread ownerOf(Object monitor) {
    Thread owner = ofVirtual.get(monitor);
    return owner != null
        ? owner
        : ofPlatform.get(
            new MonitorName(monitor.getClass().getName(), System.identityHashCode(monitor)));
  }

  /**
   * Returns the monitor that the virtual thread waits to enter, or null if it waits for none or
   * that is not known. A thread that waits to be notified waits to enter no monitor.
   */
  public static @Nullable Object monitorThatBlocks(Thread virtual) {
    return SNAPSHOTS == null || virtual.getState() != Thread.State.BLOCKED
        ? null
        : SNAPSHOTS.blocker(virtual);
  }

  /** Returns the thread that holds a lock of {@code java.util.concurrent} alone, if one does. */
  public static @Nullable Thread ownerOf(AbstractOwnableSynchronizer lock) {
    if (EXCLUSIVE_OWNER == null) {
      return null;
    }
    try {
      return (Thread) EXCLUSIVE_OWNER.invokeExact(lock);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  private static @Nullable MethodHandle exclusiveOwner() {
    try {
      return Inside.of(AbstractOwnableSynchronizer.class)
          .findVirtual(
              AbstractOwnableSynchronizer.class,
              "getExclusiveOwnerThread",
              methodType(Thread.class));
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  /** Access to {@code jdk.internal.vm.ThreadSnapshot}. */
  private record Snapshots(
      MethodHandle of,
      MethodHandle locks,
      MethodHandle lockObject,
      MethodHandle blocker,
      MethodHandle blockerType,
      MethodHandle blockerObject) {
    /** Of its {@code BlockerLockType}: the thread is in {@code Object.wait}. */
    private static final String WAITING_ON = "WAITING_ON";

    /** Of its {@code BlockerLockType}: the thread waits to enter a monitor. */
    private static final String WAITING_TO_LOCK = "WAITING_TO_LOCK";

    static @Nullable Snapshots orNull() {
      try {
        MethodHandles.lookup().ensureInitialized(UnmountedThread.class);
        Class<?> snapshot = Class.forName("jdk.internal.vm.ThreadSnapshot");
        Class<?> lock = Class.forName("jdk.internal.vm.ThreadSnapshot$ThreadLock");
        Class<?> blocker = Class.forName("jdk.internal.vm.ThreadSnapshot$ThreadBlocker");
        Class<?> type = Class.forName("jdk.internal.vm.ThreadSnapshot$BlockerLockType");
        Lookup lookup = Inside.of(snapshot);
        return new Snapshots(
            lookup
                .findStatic(snapshot, "of", methodType(snapshot, Thread.class))
                .asType(methodType(Object.class, Thread.class)),
            lookup
                .findGetter(snapshot, "locks", lock.arrayType())
                .asType(methodType(Object[].class, Object.class)),
            ofObject(lookup.findVirtual(lock, "lockObject", methodType(Object.class))),
            ofObject(lookup.findGetter(snapshot, "blocker", blocker)),
            ofObject(lookup.findVirtual(blocker, "type", methodType(type))),
            ofObject(lookup.findVirtual(blocker, "obj", methodType(Object.class))));
      } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
        return null;
      }
    }

    private static MethodHandle ofObject(MethodHandle handle) {
      return handle.asType(methodType(Object.class, Object.class));
    }

    void forEachHeld(Thread virtual, Consumer<Object> visitor) {
      List<Object> held = UnmountedThread.holdStill(virtual, this::held);
      if (held != null) {
        held.forEach(visitor);
      }
    }

    @Nullable Object blocker(Thread virtual) {
      return UnmountedThread.holdStill(virtual, this::monitorToEnter);
    }

    /** The monitors that the thread holds, without the one that {@code Object.wait} released. */
    private @Nullable List<Object> held(Thread virtual) {
      try {
        Object snapshot = snapshot(virtual);
        if (snapshot == null) {
          return null;
        }
        Object left = blockerOf(snapshot, WAITING_ON);
        List<Object> held = new ArrayList<>();
        for (Object lock : (Object[]) locks.invokeExact(snapshot)) {
          Object monitor = (Object) lockObject.invokeExact(lock);
          if (monitor != null && monitor != left) { // null: the compiler has removed the lock
            held.add(monitor);
          }
        }
        return held;
      } catch (Throwable e) {
        throw Unchecked.rethrow(e);
      }
    }

    /** The monitor that a blocked thread waits to enter, maybe again after a notify. */
    private @Nullable Object monitorToEnter(Thread virtual) {
      try {
        Object snapshot = snapshot(virtual);
        if (snapshot == null) {
          return null;
        }
        Object monitor = blockerOf(snapshot, WAITING_TO_LOCK);
        return monitor != null ? monitor : blockerOf(snapshot, WAITING_ON);
      } catch (Throwable e) {
        throw Unchecked.rethrow(e);
      }
    }

    private @Nullable Object snapshot(Thread virtual) throws Throwable {
      TAKEN.increment();
      try {
        return (Object) of.invokeExact(virtual);
      } catch (UnsupportedOperationException e) {
        return null; // a JVM that takes none
      }
    }

    private @Nullable Object blockerOf(Object snapshot, String type) throws Throwable {
      Object found = (Object) blocker.invokeExact(snapshot);
      if (found == null) {
        return null;
      }
      Object itsType = (Object) blockerType.invokeExact(found);
      return type.equals(itsType.toString()) ? (Object) blockerObject.invokeExact(found) : null;
    }
  }

  /** A class of its own: {@code java.management} may be missing. */
  private static final class PlatformThreads {
    private PlatformThreads() {}

    interface Visitor {
      void visit(MonitorName monitor, Thread owner);
    }

    static void forEachHeld(Visitor visitor) {
      Map<Long, Thread> byId =
          LiveThreads.ofPlatform().collect(Collectors.toMap(Thread::threadId, thread -> thread));
      for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(true, false)) {
        Thread owner = byId.get(info.getThreadId());
        if (owner != null) {
          for (MonitorInfo monitor : info.getLockedMonitors()) {
            visitor.visit(
                new MonitorName(monitor.getClassName(), monitor.getIdentityHashCode()), owner);
          }
        }
      }
    }
  }
}
