package dev.weft.internal.jdk;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;

/**
 * Everything inside the JDK that Weft copies, replaces, calls or reads: the one table from which
 * the checks of the hook at start and the page {@code docs/jdk-internals.md} come. A test compares
 * it with the class files of Weft, in both directions: a new look-up needs a row here, and a row
 * needs a use.
 *
 * <p>Not every part is checked by a search for its names, which takes time at the start of each
 * program; {@link Part#check} says how each is checked.
 *
 * <p>The file is long because the table is: a row for each class or member.
 */
public final class JdkInternals {
  private static final String AT_FIRST_USE =
      "by its look-ups, which throw an error that names JDK 25, when the first scheduler or"
          + " coroutine is made";
  private static final String BY_THE_TABLE =
      "by this table, when the first scheduler is built; the log names what is missing";
  private static final String WHEN_NEEDED = "by its look-ups, when it is first needed";

  /** A part of Weft, how it is checked, and how Weft works on a JDK that does not fit it. */
  public enum Part {
    /** Virtual threads with executors of Weft's. */
    FIBERS("Weft does not run: it needs JDK 25", AT_FIRST_USE),
    /** Explicit coroutines, and the continuations of fibers. */
    COROUTINES("Weft does not run: it needs JDK 25", AT_FIRST_USE),
    /** Weft's own mounting of fibers. */
    SWITCHING(
        "the JDK mounts and unmounts fibers itself, about a tenth slower",
        "by the digests of three class files (TestedBuilds), when the first scheduler is built; the"
            + " log names the build"),
    /** The timers of the hook. */
    TIMERS("timed waits of the JDK use the JDK's own timer threads", BY_THE_TABLE),
    /** The sockets of the hook. */
    SOCKETS("blocking sockets of the JDK use the JDK's own pollers", BY_THE_TABLE),
    /** One system call for each read or write of a hooked socket. */
    DISPATCHER("hooked sockets make one or two system calls more a message", BY_THE_TABLE),
    /** Channels of the JDK that an IoManager watches. */
    CHANNELS(
        "an IoManager can watch descriptors and no channels: its call fails",
        "by the JVM, at the first such call"),
    /** Queues of the JDK that do not spin on a worker. */
    CARRIER("SynchronousQueue and its like spin before they park", BY_THE_TABLE),
    /** All virtual threads of the JVM, with {@code -Dweft.threads=all}. */
    THREADS("virtual threads that platform threads start run on the JDK's scheduler", BY_THE_TABLE),
    /** Owners of monitors in dumps and deadlock reports. */
    MONITORS(
        "dumps do not name the owners of monitors, and cycles of monitors are not found",
        WHEN_NEEDED),
    /** Grouped dumps. */
    DUMPS("a grouped dump takes two to three times as long", WHEN_NEEDED),
    /** Programs whose main thread runs fibers. */
    PROGRAMS(
        "no thread of the program's can run fibers: Weft.run and schedulers with useCaller fail,"
            + " schedulers on threads of their own do not",
        WHEN_NEEDED),
    /** The last moments of a process. */
    EXIT("the end of a process takes a third of a second longer", WHEN_NEEDED),
    /** Packages of the JDK, opened without flags. */
    OPENING("the JVM needs the flags of weft.args", "by its calls, when Weft is first used");

    private final String without;
    private final String check;

    Part(String without, String check) {
      this.without = without;
      this.check = check;
    }

    /** Says how Weft works without this part. */
    public String without() {
      return without;
    }

    /** Says how and when Weft finds out whether this JDK fits. */
    public String check() {
      return check;
    }
  }

  /** What Weft does with a member of the JDK. */
  public enum How {
    /** Weft has code of its own that does what the member does; annotations are copied too. */
    COPIES,
    /** Weft puts a value of its own into the field, or overrides the method. */
    REPLACES,
    /** Weft calls the method or the constructor. */
    CALLS,
    /** Weft reads the field, or needs the class as a type. */
    READS
  }

  /**
   * One member of a class of the JDK.
   *
   * @param type the binary name of the class
   * @param member a field, a method or {@code <init>}; empty for the class itself
   * @param why what Weft does with it
   */
  public record Row(Part part, How how, String type, String member, String why) {}

  private static final String VIRTUAL = "java.lang.VirtualThread";
  private static final String THREAD = "java.lang.Thread";
  private static final String CONTINUATION = "jdk.internal.vm.Continuation";

  /** Listing the thousand methods of this class would take longer than all other checks. */
  private static final String UNSAFE = "jdk.internal.misc.Unsafe";

  /** In the place of a class: a function of the Java Native Interface. */
  static final String JNI = "JNI";

  private JdkInternals() {}

  private static Row row(Part part, How how, String type, String member, String why) {
    return new Row(part, how, type, member, why);
  }

  /** Returns the whole table. */
  public static List<Row> table() {
    return List.of(
        row(
            Part.FIBERS,
            How.CALLS,
            VIRTUAL,
            "<init>",
            "creates a fiber's thread with an executor of Weft's"),
        row(
            Part.FIBERS,
            How.CALLS,
            THREAD,
            "start",
            "starts a fiber's thread in the container of its scheduler"),
        row(
            Part.FIBERS,
            How.READS,
            VIRTUAL,
            "scheduler",
            "the executor of a thread: tells whether the thread is a fiber"),
        row(Part.FIBERS, How.REPLACES, VIRTUAL, "scheduler", "a guest gets an executor of its own"),
        row(
            Part.FIBERS,
            How.READS,
            THREAD,
            "inheritableThreadLocals",
            "whether a new fiber inherits anything"),
        row(Part.FIBERS, How.READS, THREAD, "contextClassLoader", "likewise"),
        row(
            Part.FIBERS,
            How.READS,
            "java.lang.ThreadLocal$ThreadLocalMap",
            "",
            "the type of inheritableThreadLocals"),
        row(
            Part.FIBERS,
            How.READS,
            "java.lang.ThreadLocal$ThreadLocalMap",
            "size",
            "the inheritable locals that main had before it ran as a fiber"),
        row(
            Part.FIBERS,
            How.REPLACES,
            THREAD,
            "scopedValueBindings",
            "scoped values that fibers of a scope inherit, and that a coroutine keeps"),
        row(
            Part.FIBERS,
            How.CALLS,
            "java.lang.ScopedValue",
            "scopedValueBindings",
            "finds the scoped values of the caller"),
        row(
            Part.FIBERS,
            How.READS,
            "java.lang.ScopedValue$Snapshot",
            "",
            "the type that this method returns"),
        row(
            Part.FIBERS,
            How.CALLS,
            "jdk.internal.vm.ThreadContainer",
            "<init>",
            "a subclass of Weft's groups fibers by scheduler in the JDK's thread dumps"),
        row(
            Part.FIBERS,
            How.REPLACES,
            "jdk.internal.vm.ThreadContainer",
            "name",
            "overridden: the scheduler's name"),
        row(
            Part.FIBERS,
            How.REPLACES,
            "jdk.internal.vm.ThreadContainer",
            "threads",
            "overridden: the fibers of the scheduler, listed when a dump is taken"),
        row(
            Part.FIBERS,
            How.CALLS,
            "jdk.internal.vm.ThreadContainers",
            "registerContainer",
            "lists the container in dumps"),
        row(
            Part.FIBERS,
            How.CALLS,
            "jdk.internal.vm.ThreadContainers",
            "deregisterContainer",
            "ends that"),
        row(
            Part.FIBERS,
            How.READS,
            VIRTUAL,
            "runContinuation",
            "what the JDK hands to executors: names the thread of a slice"),
        row(
            Part.FIBERS,
            How.CALLS,
            VIRTUAL,
            "afterDone",
            "ends a slice in which the thread has ended"),
        row(
            Part.FIBERS,
            How.CALLS,
            VIRTUAL,
            "afterYield",
            "ends a slice in which the thread waits for a time or a monitor"),
        row(Part.FIBERS, How.CALLS, VIRTUAL, "yieldContinuation", "unmounts the current thread"),
        row(
            Part.FIBERS,
            How.READS,
            VIRTUAL,
            "cont",
            "the continuation of a thread: whether it is done"),
        row(
            Part.FIBERS,
            How.REPLACES,
            VIRTUAL,
            "state",
            "where a thread is: parked, runnable, ended; Weft parks and unparks by it"),
        row(Part.FIBERS, How.READS, VIRTUAL, "parkPermit", "whether a parked thread may go on"),
        row(
            Part.FIBERS,
            How.READS,
            THREAD,
            "interrupted",
            "an interrupt reaches the carrier of a mounted thread"),
        row(Part.FIBERS, How.READS, THREAD, "interruptLock", "likewise"),
        row(
            Part.FIBERS,
            How.READS,
            VIRTUAL,
            "RUNNING",
            "a value of state, as all names in capitals"),
        row(Part.FIBERS, How.READS, VIRTUAL, "PARKING", "likewise"),
        row(Part.FIBERS, How.READS, VIRTUAL, "PARKED", "likewise"),
        row(Part.FIBERS, How.READS, VIRTUAL, "TIMED_PARKED", "likewise"),
        row(Part.FIBERS, How.READS, VIRTUAL, "UNPARKED", "likewise"),
        row(Part.FIBERS, How.READS, VIRTUAL, "YIELDING", "likewise"),
        row(Part.FIBERS, How.READS, VIRTUAL, "YIELDED", "likewise"),
        row(Part.FIBERS, How.READS, VIRTUAL, "STARTED", "likewise"),
        row(Part.FIBERS, How.READS, VIRTUAL, "UNBLOCKED", "likewise"),
        row(Part.FIBERS, How.READS, VIRTUAL, "TERMINATED", "likewise"),
        row(
            Part.COROUTINES,
            How.CALLS,
            "jdk.internal.vm.ContinuationSupport",
            "isSupported",
            "whether the JVM has continuations"),
        row(
            Part.COROUTINES,
            How.CALLS,
            "jdk.internal.vm.ContinuationScope",
            "<init>",
            "the one scope of all coroutines"),
        row(
            Part.COROUTINES,
            How.CALLS,
            CONTINUATION,
            "<init>",
            "a subclass of Weft's is a coroutine"),
        row(Part.COROUTINES, How.CALLS, CONTINUATION, "run", "resumes a coroutine"),
        row(Part.COROUTINES, How.CALLS, CONTINUATION, "yield", "suspends it"),
        row(
            Part.COROUTINES,
            How.CALLS,
            CONTINUATION,
            "isDone",
            "whether a fiber's continuation has ended"),
        row(
            Part.COROUTINES,
            How.CALLS,
            CONTINUATION,
            "getCurrentContinuation",
            "finds the coroutine that runs"),
        row(
            Part.COROUTINES,
            How.CALLS,
            CONTINUATION,
            "pin",
            "Hook.disable: blocking calls hold the worker"),
        row(Part.COROUTINES, How.CALLS, CONTINUATION, "unpin", "ends that"),
        row(
            Part.COROUTINES,
            How.CALLS,
            CONTINUATION,
            "getStackTrace",
            "the stack of a fiber that is not mounted"),
        row(
            Part.COROUTINES,
            How.REPLACES,
            CONTINUATION,
            "onContinue",
            "overridden: unwinds a coroutine that is closed"),
        row(
            Part.COROUTINES,
            How.REPLACES,
            CONTINUATION,
            "onPinned",
            "overridden: says why a coroutine cannot yield"),
        row(Part.COROUTINES, How.READS, CONTINUATION + "$Pinned", "", "why it cannot"),
        row(Part.COROUTINES, How.READS, CONTINUATION + "$Pinned", "NATIVE", "likewise"),
        row(Part.COROUTINES, How.READS, CONTINUATION + "$Pinned", "MONITOR", "likewise"),
        row(Part.COROUTINES, How.READS, CONTINUATION + "$Pinned", "CRITICAL_SECTION", "likewise"),
        row(Part.COROUTINES, How.READS, CONTINUATION + "$Pinned", "EXCEPTION", "likewise"),
        row(
            Part.SWITCHING,
            How.COPIES,
            VIRTUAL,
            "runContinuation",
            "Mounting.run and the generated class do what it does, with half its fences"),
        row(Part.SWITCHING, How.COPIES, VIRTUAL, "mount", "likewise"),
        row(Part.SWITCHING, How.COPIES, VIRTUAL, "unmount", "likewise"),
        row(
            Part.SWITCHING,
            How.COPIES,
            VIRTUAL,
            "afterYield",
            "Mounting.leave, for a thread that parks or yields"),
        row(Part.SWITCHING, How.COPIES, VIRTUAL, "park", "Mounting.park"),
        row(Part.SWITCHING, How.COPIES, VIRTUAL, "unpark", "Mounting.unparkIfParked"),
        row(
            Part.SWITCHING,
            How.COPIES,
            CONTINUATION,
            "run",
            "its bytecode, read from the running JDK, without two calls"),
        row(
            Part.SWITCHING,
            How.COPIES,
            CONTINUATION,
            "mount",
            "one of these two: sets a flag by a volatile write, and is left out"),
        row(Part.SWITCHING, How.COPIES, CONTINUATION, "unmount", "the other"),
        row(
            Part.SWITCHING,
            How.COPIES,
            "jdk.internal.vm.annotation.ChangesCurrentThread",
            "",
            "tells the JIT compiler that Thread.currentThread() changes inside the generated"
                + " method"),
        row(
            Part.SWITCHING,
            How.CALLS,
            VIRTUAL,
            "notifyJvmtiMount",
            "tells debuggers of a mount, as VirtualThread.mount does"),
        row(Part.SWITCHING, How.CALLS, VIRTUAL, "notifyJvmtiUnmount", "likewise"),
        row(Part.SWITCHING, How.CALLS, VIRTUAL, "compareAndSetState", "takes a thread to run it"),
        row(
            Part.SWITCHING,
            How.CALLS,
            VIRTUAL,
            "cancelTimeoutTask",
            "as VirtualThread.runContinuation does"),
        row(Part.SWITCHING, How.CALLS, VIRTUAL, "setParkPermit", "likewise"),
        row(
            Part.SWITCHING,
            How.READS,
            VIRTUAL,
            "CARRIER_THREAD",
            "the offset of the field that names the carrier"),
        row(Part.SWITCHING, How.READS, VIRTUAL, "U", "sets that field without a fence"),
        row(
            Part.SWITCHING,
            How.REPLACES,
            VIRTUAL,
            "carrierThread",
            "the field that CARRIER_THREAD and U set"),
        row(Part.SWITCHING, How.CALLS, THREAD, "currentCarrierThread", "the worker's thread"),
        row(
            Part.SWITCHING,
            How.CALLS,
            THREAD,
            "setCurrentThread",
            "makes the fiber the current thread"),
        row(
            Part.SWITCHING,
            How.CALLS,
            THREAD,
            "setInterrupt",
            "passes an interrupt to the carrier"),
        row(Part.SWITCHING, How.CALLS, UNSAFE, "putReferenceRelease", "see U"),
        row(
            Part.TIMERS,
            How.REPLACES,
            "java.lang.VirtualThread$DelayedTaskSchedulers",
            "INSTANCE",
            "the array of executors that end timed waits; each slot gets a wrapper"),
        row(Part.SOCKETS, How.READS, "sun.nio.ch.Poller", "POLLERS", "holds the arrays of pollers"),
        row(
            Part.SOCKETS,
            How.REPLACES,
            "sun.nio.ch.Poller$Pollers",
            "readPollers",
            "each slot gets a poller of Weft's"),
        row(Part.SOCKETS, How.REPLACES, "sun.nio.ch.Poller$Pollers", "writePollers", "likewise"),
        row(
            Part.SOCKETS,
            How.REPLACES,
            "sun.nio.ch.Poller",
            "map",
            "the threads that wait at a poller of the JDK's"),
        row(
            Part.SOCKETS,
            How.CALLS,
            "sun.nio.ch.Poller",
            "<init>",
            "the poller of Weft's, a generated class, extends Poller"),
        row(
            Part.SOCKETS,
            How.REPLACES,
            "sun.nio.ch.Poller",
            "implRegister",
            "what the poller of Weft's overrides"),
        row(Part.SOCKETS, How.REPLACES, "sun.nio.ch.Poller", "implDeregister", "likewise"),
        row(Part.SOCKETS, How.REPLACES, "sun.nio.ch.Poller", "poll", "likewise"),
        row(
            Part.SOCKETS,
            How.COPIES,
            "jdk.internal.vm.annotation.Stable",
            "",
            "has the JIT compiler inline the final fields of generated classes; without it only"
                + " slower"),
        row(
            Part.DISPATCHER,
            How.REPLACES,
            "sun.nio.ch.NioSocketImpl",
            "nd",
            "the dispatcher of sockets"),
        row(
            Part.DISPATCHER,
            How.REPLACES,
            "sun.nio.ch.SocketChannelImpl",
            "nd",
            "the dispatcher of channels"),
        row(
            Part.DISPATCHER,
            How.CALLS,
            "sun.nio.ch.SocketDispatcher",
            "<init>",
            "the dispatcher of Weft's, a generated class, extends SocketDispatcher"),
        row(
            Part.DISPATCHER,
            How.REPLACES,
            "sun.nio.ch.SocketDispatcher",
            "read",
            "what the dispatcher of Weft's overrides"),
        row(Part.DISPATCHER, How.REPLACES, "sun.nio.ch.SocketDispatcher", "write", "likewise"),
        row(Part.DISPATCHER, How.REPLACES, "sun.nio.ch.SocketDispatcher", "close", "likewise"),
        row(
            Part.DISPATCHER,
            How.READS,
            "sun.nio.ch.IOStatus",
            "EOF",
            "what a read or write returns that moves no byte: the peer has ended its stream"),
        row(
            Part.DISPATCHER,
            How.READS,
            "sun.nio.ch.IOStatus",
            "UNAVAILABLE",
            "likewise: the call would block"),
        row(
            Part.DISPATCHER,
            How.READS,
            "sun.nio.ch.IOStatus",
            "INTERRUPTED",
            "likewise: a signal came"),
        row(
            Part.DISPATCHER,
            How.CALLS,
            "jdk.internal.access.SharedSecrets",
            "getJavaIOFileDescriptorAccess",
            "the number of a descriptor"),
        row(
            Part.DISPATCHER,
            How.CALLS,
            "jdk.internal.access.JavaIOFileDescriptorAccess",
            "get",
            "likewise"),
        row(
            Part.DISPATCHER,
            How.CALLS,
            "sun.net.ConnectionResetException",
            "<init>",
            "what a read of a reset connection throws"),
        row(
            Part.DISPATCHER,
            How.READS,
            THREAD,
            "nioBlocker",
            "whether the caller of a channel waits"),
        row(Part.DISPATCHER, How.READS, "sun.nio.ch.Interruptible", "", "the type of nioBlocker"),
        row(Part.DISPATCHER, How.CALLS, UNSAFE, "getUnsafe", "sets the fields nd, which are final"),
        row(Part.DISPATCHER, How.CALLS, UNSAFE, "staticFieldBase", "likewise"),
        row(Part.DISPATCHER, How.CALLS, UNSAFE, "staticFieldOffset", "likewise"),
        row(Part.DISPATCHER, How.CALLS, UNSAFE, "putReferenceVolatile", "likewise"),
        row(
            Part.CHANNELS,
            How.CALLS,
            "sun.nio.ch.SelChImpl",
            "getFDVal",
            "the number of a channel's descriptor"),
        row(
            Part.CHANNELS,
            How.CALLS,
            "sun.nio.ch.SelChImpl",
            "kill",
            "closes the descriptor of a channel that was closed while Weft watched it"),
        row(
            Part.CARRIER,
            How.READS,
            "java.util.concurrent.ForkJoinWorkerThread",
            "workQueue",
            "a worker's thread looks like one with work queued, so that nothing spins on it"),
        row(
            Part.CARRIER,
            How.REPLACES,
            "java.util.concurrent.ForkJoinPool$WorkQueue",
            "top",
            "likewise"),
        row(
            Part.CARRIER,
            How.READS,
            THREAD,
            "holder",
            "the group and the stack size of that thread"),
        row(Part.CARRIER, How.REPLACES, "java.lang.Thread$FieldHolder", "stackSize", "likewise"),
        row(
            Part.THREADS,
            How.REPLACES,
            VIRTUAL,
            "DEFAULT_SCHEDULER",
            "the pool of threads that platform threads start; Weft's stands in its place"),
        row(Part.THREADS, How.READS, VIRTUAL, "U", "sets that field, which is final"),
        row(Part.THREADS, How.CALLS, UNSAFE, "staticFieldBase", "likewise"),
        row(Part.THREADS, How.CALLS, UNSAFE, "staticFieldOffset", "likewise"),
        row(Part.THREADS, How.CALLS, UNSAFE, "putReferenceVolatile", "likewise"),
        row(
            Part.MONITORS,
            How.CALLS,
            "jdk.internal.vm.ThreadSnapshot",
            "of",
            "asks a suspended thread for its monitors"),
        row(
            Part.MONITORS,
            How.READS,
            "jdk.internal.vm.ThreadSnapshot",
            "locks",
            "the monitors it holds"),
        row(
            Part.MONITORS,
            How.READS,
            "jdk.internal.vm.ThreadSnapshot",
            "blocker",
            "the monitor it waits for"),
        row(
            Part.MONITORS,
            How.CALLS,
            "jdk.internal.vm.ThreadSnapshot$ThreadLock",
            "lockObject",
            "a monitor"),
        row(
            Part.MONITORS,
            How.CALLS,
            "jdk.internal.vm.ThreadSnapshot$ThreadBlocker",
            "type",
            "whether the thread waits to enter or to be notified"),
        row(
            Part.MONITORS,
            How.CALLS,
            "jdk.internal.vm.ThreadSnapshot$ThreadBlocker",
            "obj",
            "the object"),
        row(
            Part.MONITORS,
            How.READS,
            "jdk.internal.vm.ThreadSnapshot$BlockerLockType",
            "",
            "the type of that answer"),
        row(
            Part.MONITORS,
            How.READS,
            "jdk.internal.vm.ThreadSnapshot$BlockerLockType",
            "WAITING_ON",
            "the thread waits to be notified"),
        row(
            Part.MONITORS,
            How.READS,
            "jdk.internal.vm.ThreadSnapshot$BlockerLockType",
            "WAITING_TO_LOCK",
            "the thread waits to enter"),
        row(
            Part.MONITORS,
            How.CALLS,
            "java.util.concurrent.locks.AbstractOwnableSynchronizer",
            "getExclusiveOwnerThread",
            "the owner of a ReentrantLock"),
        row(
            Part.MONITORS,
            How.READS,
            VIRTUAL,
            "SUSPENDED",
            "the bit of state that keeps a thread from being mounted during a look"),
        row(Part.MONITORS, How.READS, VIRTUAL, "BLOCKED", "a value of state"),
        row(Part.MONITORS, How.READS, VIRTUAL, "WAIT", "likewise"),
        row(Part.MONITORS, How.READS, VIRTUAL, "TIMED_WAIT", "likewise"),
        row(
            Part.MONITORS,
            How.READS,
            VIRTUAL,
            "blockPermit",
            "whether a wake-up came during the look"),
        row(Part.MONITORS, How.READS, VIRTUAL, "notified", "likewise"),
        row(
            Part.MONITORS,
            How.CALLS,
            VIRTUAL,
            "submitRunContinuation",
            "submits a thread that was woken during the look"),
        row(
            Part.DUMPS,
            How.READS,
            "java.lang.ClassFrameInfo",
            "classOrMemberName",
            "tells whether two frames are of the same method, without a look at names"),
        row(
            Part.DUMPS,
            How.CALLS,
            CONTINUATION,
            "stackWalker",
            "the frames of a thread that is not mounted"),
        row(
            Part.PROGRAMS,
            How.REPLACES,
            "java.lang.Thread$FieldHolder",
            "group",
            "puts threads that main makes into the group main"),
        row(
            Part.PROGRAMS,
            How.READS,
            "java.lang.BaseVirtualThread",
            "",
            "the class of virtual threads that main makes"),
        row(
            Part.PROGRAMS,
            How.CALLS,
            "java.lang.LiveStackFrame",
            "getStackWalker",
            "finds the thread that is being made, and monitors that the caller holds"),
        row(Part.PROGRAMS, How.CALLS, "java.lang.LiveStackFrame", "getMonitors", "likewise"),
        row(Part.PROGRAMS, How.CALLS, "java.lang.LiveStackFrame", "getLocals", "likewise"),
        row(
            Part.EXIT,
            How.CALLS,
            "java.lang.Shutdown",
            "add",
            "wakes idle workers when the process ends"),
        row(
            Part.EXIT,
            How.READS,
            "sun.nio.ch.Poller$Pollers",
            "masterPoller",
            "wakes the JDK's poller when the process ends"),
        row(Part.EXIT, How.READS, "sun.nio.ch.EPollPoller", "epfd", "likewise"),
        row(Part.EXIT, How.CALLS, "sun.nio.ch.IOUtil", "makePipe", "likewise"),
        row(Part.EXIT, How.CALLS, "sun.nio.ch.EPoll", "ctl", "likewise"),
        row(
            Part.OPENING,
            How.CALLS,
            JNI,
            "JNI_GetCreatedJavaVMs",
            "finds the running JVM in libjvm, by foreign functions"),
        row(
            Part.OPENING,
            How.CALLS,
            JNI,
            "GetEnv",
            "finds the JNI environment of the current thread"),
        row(
            Part.OPENING,
            How.CALLS,
            JNI,
            "DefineClass",
            "defines one class in java.lang, which makes the two calls below"),
        row(
            Part.OPENING,
            How.CALLS,
            "java.lang.Module",
            "implAddExports",
            "exports packages without flags"),
        row(
            Part.OPENING,
            How.CALLS,
            "java.lang.Module",
            "implAddOpens",
            "opens packages without flags"));
  }

  /**
   * Checks that this JDK has what a part needs; but the members of {@code Unsafe}: the generated
   * classes that call them fail before they change anything.
   *
   * @throws UnsupportedJdk if a class or a member is missing
   */
  public static void check(Part part) throws UnsupportedJdk {
    for (Row row : table()) {
      if (row.part == part && !row.type.equals(UNSAFE) && !exists(row)) {
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
    if (row.type.equals(JNI)) {
      return true; // its specification fixes the functions and their positions
    }
    try {
      Class<?> type = Class.forName(row.type, false, null);
      if (row.member.isEmpty()) {
        return true;
      }
      if (row.member.equals("<init>")) {
        return type.getDeclaredConstructors().length > 0;
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
