package dev.weft.internal.jdk;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;

/**
 * Everything inside the JDK that Weft copies, replaces, calls or reads: the one table from which
 * the checks of the hook at start and the page {@code docs/jdk-internals.md} come. (Fibers,
 * switching and the scheduler of all threads are checked by their own look-ups, which take less
 * time than a search by name.) A test compares it with the look-ups in the code, so a new look-up
 * needs a line here.
 */
public final class JdkInternals {
  /** A part of Weft, and how Weft works on a JDK that does not fit it. */
  public enum Part {
    /** Virtual threads with executors of Weft's. */
    FIBERS("Weft does not run: it needs JDK 25"),
    /** Explicit coroutines. */
    COROUTINES("Weft does not run: it needs JDK 25"),
    /** Weft's own mounting of fibers. */
    SWITCHING("the JDK mounts and unmounts fibers itself, about a tenth slower"),
    /** The timers of the hook. */
    TIMERS("timed waits of the JDK use the JDK's own timer threads"),
    /** The sockets of the hook. */
    SOCKETS("blocking sockets of the JDK use the JDK's own pollers"),
    /** One system call for each read or write of a hooked socket. */
    DISPATCHER("hooked sockets make one or two system calls more a message"),
    /** Queues of the JDK that do not spin on a worker. */
    CARRIER("SynchronousQueue and its like spin before they park"),
    /** All virtual threads of the JVM, with {@code -Dweft.threads=all}. */
    THREADS("virtual threads that platform threads start run on the JDK's scheduler"),
    /** Owners of monitors in dumps and deadlock reports. */
    MONITORS("dumps do not name the owners of monitors, and cycles of monitors are not found"),
    /** Grouped dumps. */
    DUMPS("a grouped dump takes two to three times as long"),
    /** The main of a program as a fiber, and other conveniences. */
    PROGRAMS("threads that main starts inherit from a fiber; the end of a process takes longer");

    private final String without;

    Part(String without) {
      this.without = without;
    }

    /** Says how Weft works without this part. */
    public String without() {
      return without;
    }
  }

  /**
   * One member of a class of the JDK.
   *
   * @param type the binary name of the class
   * @param member a field or a method; empty for the class itself
   * @param why what Weft does with it
   */
  public record Row(Part part, String type, String member, String why) {}

  private static final String VIRTUAL = "java.lang.VirtualThread";
  private static final String UNSAFE = "jdk.internal.misc.Unsafe";

  private JdkInternals() {}

  private static Row row(Part part, String type, String member, String why) {
    return new Row(part, type, member, why);
  }

  /** Returns the whole table. */
  public static List<Row> table() {
    return List.of(
        row(
            Part.FIBERS,
            VIRTUAL,
            "scheduler",
            "the executor of a thread: tells whether it is a fiber; a guest gets its own"),
        row(
            Part.FIBERS,
            "java.lang.Thread",
            "start",
            "starts a fiber's thread in the container of its scheduler"),
        row(
            Part.FIBERS,
            "java.lang.Thread",
            "inheritableThreadLocals",
            "whether a new fiber inherits anything"),
        row(Part.FIBERS, "java.lang.Thread", "contextClassLoader", "likewise"),
        row(
            Part.FIBERS,
            "java.lang.Thread",
            "scopedValueBindings",
            "scoped values that fibers of a scope inherit"),
        row(
            Part.FIBERS,
            "jdk.internal.vm.ThreadContainer",
            "",
            "groups fibers by scheduler in the JDK's thread dumps"),
        row(
            Part.FIBERS,
            VIRTUAL,
            "runContinuation",
            "what the JDK hands to executors: names the thread of a slice"),
        row(Part.FIBERS, VIRTUAL, "afterDone", "ends a slice in which the thread has ended"),
        row(
            Part.FIBERS,
            VIRTUAL,
            "afterYield",
            "ends a slice in which the thread waits for a time or a monitor"),
        row(Part.FIBERS, VIRTUAL, "yieldContinuation", "unmounts the current thread"),
        row(Part.FIBERS, VIRTUAL, "cont", "the continuation of a thread: whether it is done"),
        row(Part.FIBERS, VIRTUAL, "state", "where a thread is: parked, runnable, ended"),
        row(Part.FIBERS, VIRTUAL, "parkPermit", "whether a parked thread may go on"),
        row(
            Part.FIBERS,
            "java.lang.Thread",
            "interrupted",
            "an interrupt reaches the carrier of a mounted thread"),
        row(Part.FIBERS, "java.lang.Thread", "interruptLock", "likewise"),
        row(Part.FIBERS, VIRTUAL, "RUNNING", "a value of state, as all names in capitals"),
        row(Part.FIBERS, VIRTUAL, "PARKING", "likewise"),
        row(Part.FIBERS, VIRTUAL, "PARKED", "likewise"),
        row(Part.FIBERS, VIRTUAL, "UNPARKED", "likewise"),
        row(Part.FIBERS, VIRTUAL, "YIELDING", "likewise"),
        row(Part.FIBERS, VIRTUAL, "YIELDED", "likewise"),
        row(Part.FIBERS, VIRTUAL, "STARTED", "likewise"),
        row(Part.FIBERS, VIRTUAL, "UNBLOCKED", "likewise"),
        row(Part.FIBERS, VIRTUAL, "TERMINATED", "likewise"),
        row(Part.COROUTINES, "jdk.internal.vm.Continuation", "run", "resumes a coroutine"),
        row(
            Part.SWITCHING,
            VIRTUAL,
            "notifyJvmtiMount",
            "tells debuggers of a mount, as VirtualThread.mount does"),
        row(Part.SWITCHING, VIRTUAL, "notifyJvmtiUnmount", "likewise"),
        row(Part.SWITCHING, VIRTUAL, "compareAndSetState", "takes a thread to run it"),
        row(Part.SWITCHING, VIRTUAL, "cancelTimeoutTask", "as VirtualThread.runContinuation does"),
        row(Part.SWITCHING, VIRTUAL, "setParkPermit", "likewise"),
        row(
            Part.SWITCHING,
            VIRTUAL,
            "CARRIER_THREAD",
            "the offset of the field that names the carrier"),
        row(Part.SWITCHING, VIRTUAL, "U", "sets that field without a fence"),
        row(Part.SWITCHING, "java.lang.Thread", "currentCarrierThread", "the worker's thread"),
        row(
            Part.SWITCHING,
            "java.lang.Thread",
            "setCurrentThread",
            "makes the fiber the current thread"),
        row(
            Part.SWITCHING,
            "java.lang.Thread",
            "setInterrupt",
            "passes an interrupt to the carrier"),
        row(Part.SWITCHING, UNSAFE, "putReferenceRelease", "see U"),
        row(
            Part.TIMERS,
            "java.lang.VirtualThread$DelayedTaskSchedulers",
            "INSTANCE",
            "the array of executors that end timed waits; each slot gets a wrapper"),
        row(
            Part.SOCKETS,
            "sun.nio.ch.Poller",
            "POLLERS",
            "holds the arrays of pollers; each slot gets a poller of Weft's"),
        row(
            Part.SOCKETS,
            "sun.nio.ch.Poller",
            "map",
            "the threads that wait at a poller of the JDK's"),
        row(
            Part.SOCKETS,
            "sun.nio.ch.Poller",
            "implRegister",
            "what the poller of Weft's overrides"),
        row(Part.SOCKETS, "sun.nio.ch.Poller", "implDeregister", "likewise"),
        row(Part.SOCKETS, "sun.nio.ch.Poller", "poll", "likewise"),
        row(
            Part.DISPATCHER,
            "sun.nio.ch.SocketDispatcher",
            "read",
            "what the dispatcher of Weft's overrides"),
        row(Part.DISPATCHER, "sun.nio.ch.SocketDispatcher", "write", "likewise"),
        row(Part.DISPATCHER, "sun.nio.ch.SocketDispatcher", "close", "likewise"),
        row(
            Part.DISPATCHER,
            "sun.nio.ch.IOStatus",
            "",
            "what a read or write returns that moves no byte"),
        row(
            Part.DISPATCHER,
            "java.lang.Thread",
            "nioBlocker",
            "whether the caller of a channel waits"),
        row(
            Part.CARRIER,
            "java.util.concurrent.ForkJoinWorkerThread",
            "workQueue",
            "a worker's thread looks like one with work queued, so that nothing spins on it"),
        row(Part.CARRIER, "java.lang.Thread", "holder", "the group of that thread"),
        row(
            Part.THREADS,
            VIRTUAL,
            "DEFAULT_SCHEDULER",
            "the pool of threads that platform threads start; Weft's stands in its place"),
        row(Part.THREADS, VIRTUAL, "U", "sets that field, which is final"),
        row(Part.THREADS, UNSAFE, "staticFieldBase", "likewise"),
        row(Part.THREADS, UNSAFE, "staticFieldOffset", "likewise"),
        row(Part.THREADS, UNSAFE, "putReferenceVolatile", "likewise"),
        row(
            Part.DUMPS,
            "java.lang.ClassFrameInfo",
            "classOrMemberName",
            "tells whether two frames are of the same method, without a look at names"),
        row(
            Part.MONITORS,
            "jdk.internal.vm.ThreadSnapshot",
            "of",
            "asks a suspended thread for its monitors"),
        row(Part.MONITORS, "jdk.internal.vm.ThreadSnapshot", "locks", "the monitors it holds"),
        row(Part.MONITORS, "jdk.internal.vm.ThreadSnapshot", "blocker", "the monitor it waits for"),
        row(Part.MONITORS, "jdk.internal.vm.ThreadSnapshot$ThreadLock", "lockObject", "a monitor"),
        row(
            Part.MONITORS,
            "jdk.internal.vm.ThreadSnapshot$ThreadBlocker",
            "type",
            "whether the thread waits to enter or to be notified"),
        row(Part.MONITORS, "jdk.internal.vm.ThreadSnapshot$ThreadBlocker", "obj", "the object"),
        row(
            Part.MONITORS,
            "java.util.concurrent.locks.AbstractOwnableSynchronizer",
            "getExclusiveOwnerThread",
            "the owner of a ReentrantLock"),
        row(
            Part.MONITORS,
            VIRTUAL,
            "SUSPENDED",
            "the bit of state that keeps a thread from being mounted during a look"),
        row(Part.MONITORS, VIRTUAL, "TIMED_PARKED", "a value of state"),
        row(Part.MONITORS, VIRTUAL, "BLOCKED", "likewise"),
        row(Part.MONITORS, VIRTUAL, "WAIT", "likewise"),
        row(Part.MONITORS, VIRTUAL, "TIMED_WAIT", "likewise"),
        row(Part.MONITORS, VIRTUAL, "blockPermit", "whether a wake-up came during the look"),
        row(Part.MONITORS, VIRTUAL, "notified", "likewise"),
        row(
            Part.MONITORS,
            VIRTUAL,
            "submitRunContinuation",
            "submits a thread that was woken during the look"),
        row(
            Part.PROGRAMS,
            "java.lang.ThreadLocal$ThreadLocalMap",
            "size",
            "the inheritable locals that main had before it ran as a fiber"),
        row(
            Part.PROGRAMS,
            "java.lang.Thread$FieldHolder",
            "group",
            "puts threads that main makes into the group main"),
        row(
            Part.PROGRAMS,
            "java.lang.BaseVirtualThread",
            "",
            "the class of threads that main starts"),
        row(
            Part.PROGRAMS,
            "java.lang.LiveStackFrame",
            "getStackWalker",
            "finds monitors that the caller holds, and threads on its stack"),
        row(Part.PROGRAMS, "java.lang.LiveStackFrame", "getMonitors", "likewise"),
        row(Part.PROGRAMS, "java.lang.LiveStackFrame", "getLocals", "likewise"),
        row(Part.PROGRAMS, "java.lang.Shutdown", "add", "wakes idle workers when the process ends"),
        row(
            Part.PROGRAMS,
            "sun.nio.ch.Poller$Pollers",
            "masterPoller",
            "wakes the JDK's poller when the process ends"),
        row(Part.PROGRAMS, "sun.nio.ch.EPollPoller", "epfd", "likewise"),
        row(Part.PROGRAMS, "sun.nio.ch.IOUtil", "makePipe", "likewise"),
        row(Part.PROGRAMS, "sun.nio.ch.EPoll", "ctl", "likewise"),
        row(Part.PROGRAMS, "java.lang.Module", "implAddExports", "opens packages without flags"),
        row(Part.PROGRAMS, "java.lang.Module", "implAddOpens", "likewise"));
  }

  /**
   * Checks that this JDK has what a part needs.
   *
   * @throws UnsupportedJdk if a class or a member is missing
   */
  public static void check(Part part) throws UnsupportedJdk {
    for (Row row : table()) {
      if (row.part == part && !exists(row)) {
        throw new UnsupportedJdk(
            "it has no " + row.type + (row.member.isEmpty() ? "" : "." + row.member));
      }
    }
  }

  private static boolean declares(Class<?> type, String member) {
    for (Field field : type.getDeclaredFields()) {
      if (field.getName().equals(member)) {
        return true;
      }
    }
    for (Method method : type.getDeclaredMethods()) {
      if (method.getName().equals(member)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether this JDK has the class and the member, be it inherited. */
  static boolean exists(Row row) {
    try {
      Class<?> type = Class.forName(row.type, false, null);
      if (row.member.isEmpty()) {
        return true;
      }
      for (Class<?> at = type; at != null; at = at.getSuperclass()) {
        if (declares(at, row.member)) {
          return true;
        }
      }
      return false;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }
}
