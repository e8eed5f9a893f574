package dev.weft.internal.events;

import dev.weft.Fiber;
import dev.weft.internal.Log;
import dev.weft.internal.WaitWords;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Throttle;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * Weft's events in the JDK's Flight Recorder. Without a recording they cost a field read; in a JVM
 * without the module {@code jdk.jfr}, nothing.
 *
 * <p>An event never fails its caller, which has a fiber in hand: the first failure is logged and
 * ends all recording.
 *
 * <p>The events of a fiber's life and its slices are recorded on its worker's thread; what it waits
 * for and its blocking calls on its own, because the Flight Recorder takes the stack of the thread
 * that commits. JDK 25 drops the first event of a carrier after one of a virtual thread that ran on
 * it (the writer of the carrier is invalid until the end of one event), so each event of a worker
 * is preceded by a {@link CarrierMark}, which is dropped in its place.
 *
 * <p>{@code docs/instruments.md} lists the events; {@code InstrumentsDocTest} compares.
 */
public final class FlightEvents {
  private static final boolean AVAILABLE = isAvailable();

  private static final AtomicBoolean FAILED = new AtomicBoolean();

  /** Shorter waits in code of the JDK are not recorded. */
  private static final long LONG_PARK_NANOS = 10_000_000;

  /** The depth of stacks as text, the default of the Flight Recorder. */
  private static final int MOST_FRAMES = 64;

  /** How long ready fibers have waited, by id, until their next slice: for {@link FiberPark}. */
  private static final Map<Long, Long> LONG_PARKS = new ConcurrentHashMap<>();

  private FlightEvents() {}

  private static boolean isAvailable() {
    try {
      FlightRecorder.isInitialized();
      return true;
    } catch (LinkageError e) { // no module jdk.jfr, or none that Weft's module reads
      return false;
    }
  }

  @Name("dev.weft.CarrierMark")
  @Label("Carrier Mark")
  @Description("Without meaning: takes the place of an event that JDK 25 would drop")
  @Category("Weft")
  @StackTrace(false)
  static final class CarrierMark extends Event {}

  @Name("dev.weft.FiberWait")
  @Label("Fiber Wait")
  @Description("A fiber waited for a lock, a channel, a timer, another fiber or an I/O event")
  @Category("Weft")
  @Threshold("10 ms")
  @Throttle("1000/s")
  static final class FiberWait extends Event {
    @Label("Waits For")
    String waitsFor = "";
  }

  @Name("dev.weft.FiberPark")
  @Label("Fiber Park")
  @Description("A fiber goes on after a wait of 10 ms or more in code of the JDK")
  @Category("Weft")
  @StackTrace(false)
  @Throttle("100/s") // each walks a stack
  static final class FiberPark extends Event {
    @Label("Fiber")
    long fiber;

    @Label("Name")
    String name = "";

    @Label("Waited")
    @Timespan(Timespan.NANOSECONDS)
    long waited;

    @Label("Waits For")
    String waitsFor = "";

    @Label("Stack")
    @Description("The stack of the fiber, a line for each frame")
    String stack = "";
  }

  @Name("dev.weft.FiberStart")
  @Label("Fiber Start")
  @Description("A fiber has its first slice")
  @Category("Weft")
  @Enabled(false) // one event per fiber: off by default, like jdk.VirtualThreadStart and End
  @StackTrace(false)
  static final class FiberStart extends Event {
    @Label("Fiber")
    long fiber;

    @Label("Name")
    String name = "";

    @Label("Scheduler")
    String scheduler = "";
  }

  @Name("dev.weft.FiberEnd")
  @Label("Fiber End")
  @Description("A fiber has had its last slice")
  @Category("Weft")
  @Enabled(false) // one event per fiber: off by default, like jdk.VirtualThreadStart and End
  @StackTrace(false)
  static final class FiberEnd extends Event {
    @Label("Fiber")
    long fiber;

    @Label("Name")
    String name = "";
  }

  @Name("dev.weft.FiberSlice")
  @Label("Fiber Slice")
  @Description("A fiber ran on a thread of its scheduler without a wait or a yield")
  @Category("Weft")
  @Threshold("10 ms")
  @StackTrace(false)
  static final class FiberSlice extends Event {
    @Label("Fiber")
    long fiber;

    @Label("Name")
    String name = "";

    @Label("Thread")
    int thread;
  }

  @Name("dev.weft.BlockingCall")
  @Label("Blocking Call")
  @Description("A fiber ran the body of Weft.blocking, or a call that Weft hooks, on a helper")
  @Category("Weft")
  @Threshold("10 ms")
  static final class Blocking extends Event {
    @Label("Fiber")
    long fiber;

    @Label("Name")
    String name = "";

    @Label("Helper")
    String helper = "";
  }

  @Name("dev.weft.FibersStolen")
  @Label("Fibers Stolen")
  @Description("A thread without work took ready fibers of another thread")
  @Category("Weft")
  @StackTrace(false)
  static final class FibersStolen extends Event {
    @Label("From Thread")
    int from;

    @Label("To Thread")
    int to;

    @Label("Count")
    int count;
  }

  @Name("dev.weft.FiberApart")
  @Label("Fiber Apart")
  @Description("A fiber that computes was set apart on separate threads, or went back")
  @Category("Weft")
  @StackTrace(false)
  static final class FiberApart extends Event {
    @Label("Fiber")
    long fiber;

    @Label("Name")
    String name = "";

    @Label("Apart")
    @Description("Whether the fiber was set apart; if not, it went back to its scheduler's threads")
    boolean apart;
  }

  @Name("dev.weft.WorkerBlocked")
  @Label("Worker Blocked")
  @Description("A fiber has held a thread for longer than the scheduler's limit, and still does")
  @Category("Weft")
  @StackTrace(false)
  static final class WorkerBlocked extends Event {
    @Label("Fiber")
    long fiber;

    @Label("Name")
    String name = "";

    @Label("Thread")
    int thread;

    @Label("Blocked For")
    @Timespan(Timespan.NANOSECONDS)
    long blockedFor;

    @Label("Stack")
    @Description("The stack of the fiber, a line for each frame")
    String stack = "";
  }

  /** Returns whether there is a recording; checked before an event is made. */
  public static boolean recording() {
    return AVAILABLE && FlightRecorder.isInitialized() && !FAILED.get();
  }

  public static void started(Fiber<?> fiber) {
    attempt(
        () -> {
          FiberStart event = new FiberStart();
          if (event.shouldCommit()) {
            event.fiber = fiber.id();
            event.name = fiber.name();
            event.scheduler = fiber.scheduler().name();
            commitOnCarrier(event);
          }
        });
  }

  public static void ended(Fiber<?> fiber) {
    if (recording()) {
      attempt(
          () -> {
            FiberEnd event = new FiberEnd();
            if (event.shouldCommit()) {
              event.fiber = fiber.id();
              event.name = fiber.name();
              commitOnCarrier(event);
            }
          });
    }
  }

  /** Notes that a fiber is ready after so long a wait; its next slice records the wait. */
  public static void noteWait(Fiber<?> fiber, long nanos) {
    if (nanos >= LONG_PARK_NANOS) {
      LONG_PARKS.put(fiber.id(), nanos);
    }
  }

  /**
   * Records a long wait, if one was noted; called by the worker that is about to mount the fiber.
   * The stack shows what the fiber waited in. Weft's own waits are skipped: the fiber itself will
   * record a {@link FiberWait}.
   *
   * @param stack takes the stack of the fiber, innermost frame first
   */
  public static void recordPark(Fiber<?> fiber, Supplier<StackTraceElement[]> stack) {
    Long waited = LONG_PARKS.isEmpty() ? null : LONG_PARKS.remove(fiber.id());
    if (waited == null) {
      return;
    }
    attempt(
        () -> {
          FiberPark event = new FiberPark();
          if (event.shouldCommit()) {
            StackTraceElement[] frames = stack.get();
            if (!isWeftsWait(frames)) {
              event.fiber = fiber.id();
              event.name = fiber.name();
              event.waited = waited;
              event.waitsFor = WaitWords.of(List.of(frames), null);
              event.stack =
                  Arrays.stream(frames)
                      .limit(MOST_FRAMES)
                      .map(StackTraceElement::toString)
                      .collect(Collectors.joining("\n"));
              new CarrierMark().commit();
              event.commit();
            }
          }
        });
  }

  private static boolean isWeftsWait(StackTraceElement[] frames) {
    return Arrays.stream(frames)
        .limit(8)
        .anyMatch(
            frame ->
                frame.getMethodName().equals("park")
                    && frame.getClassName().startsWith("dev.weft.internal.switching."));
  }

  /** Returns an event for the slice that begins, for {@link #endSlice}; null if that fails. */
  public static @Nullable Object beginSlice() {
    try {
      FiberSlice event = new FiberSlice();
      event.begin();
      return event;
    } catch (Throwable e) {
      return fail(e);
    }
  }

  public static void endSlice(@Nullable Object begun, int thread, Fiber<?> fiber) {
    attempt(
        () -> {
          if (begun instanceof FiberSlice event) {
            event.end();
            if (event.shouldCommit()) {
              event.fiber = fiber.id();
              event.name = fiber.name();
              event.thread = thread;
              commitOnCarrier(event);
            }
          }
        });
  }

  /** Returns an event for the call that begins, for {@link #endBlockingCall}; null if it fails. */
  public static @Nullable Object beginBlockingCall() {
    try {
      Blocking event = new Blocking();
      event.begin();
      return event;
    } catch (Throwable e) {
      return fail(e);
    }
  }

  /** Called by the fiber, on its helper. */
  public static void endBlockingCall(@Nullable Object begun, Fiber<?> fiber, String helper) {
    attempt(
        () -> {
          if (begun instanceof Blocking event) {
            event.end();
            if (event.shouldCommit()) {
              event.fiber = fiber.id();
              event.name = fiber.name();
              event.helper = helper;
              event.commit();
            }
          }
        });
  }

  /** Returns an event for a wait of the current thread, for {@link #endWait}; null if it fails. */
  public static @Nullable Object beginWait() {
    try {
      FiberWait event = new FiberWait();
      event.begin();
      return event;
    } catch (Throwable e) {
      return fail(e);
    }
  }

  /** Called by the thread that has waited. */
  public static void endWait(@Nullable Object begun, Object blocker) {
    attempt(
        () -> {
          if (begun instanceof FiberWait event) {
            event.end();
            if (event.shouldCommit()) {
              event.waitsFor = describe(blocker);
              event.commit();
            }
          }
        });
  }

  private static String describe(Object blocker) {
    if (blocker instanceof Fiber<?> fiber) {
      return "the end of " + fiber;
    }
    try {
      return "" + blocker; // toString() may return null
    } catch (Throwable e) { // a blocker may be any object, with any toString()
      return "a " + blocker.getClass().getName();
    }
  }

  public static void stolen(int thief, int victim, int count) {
    if (recording()) {
      attempt(
          () -> {
            FibersStolen event = new FibersStolen();
            event.from = victim;
            event.to = thief;
            event.count = count;
            commitOnCarrier(event);
          });
    }
  }

  /** Called when a fiber is set apart because it computes, or goes back. */
  public static void setApart(Fiber<?> fiber, boolean apart) {
    if (recording()) {
      attempt(
          () -> {
            FiberApart event = new FiberApart();
            event.fiber = fiber.id();
            event.name = fiber.name();
            event.apart = apart;
            commitOnCarrier(event);
          });
    }
  }

  /** Called by the watchdog. */
  public static void blocked(int thread, Fiber<?> fiber, long nanos, String stack) {
    if (recording()) {
      attempt(
          () -> {
            WorkerBlocked event = new WorkerBlocked();
            event.fiber = fiber.id();
            event.name = fiber.name();
            event.thread = thread;
            event.blockedFor = nanos;
            event.stack = stack;
            event.commit();
          });
    }
  }

  /**
   * Commits an event of a worker's thread, on which a fiber may have committed one. The parameter
   * is an Object because the verifier would load jdk.jfr.Event, which may be missing.
   */
  private static void commitOnCarrier(Object event) {
    if (((Event) event).shouldCommit()) {
      new CarrierMark().commit();
      ((Event) event).commit();
    }
  }

  private static void attempt(Runnable recording) {
    try {
      recording.run();
    } catch (Throwable e) {
      fail(e);
    }
  }

  private static @Nullable Object fail(Throwable e) {
    if (FAILED.compareAndSet(false, true)) {
      try {
        Log.logger()
            .log(Level.ERROR, "Weft's events are off from now on: the Flight Recorder failed", e);
      } catch (Throwable notLogged) {
        // no memory: the fibers go on all the same
      }
    }
    return null;
  }
}
