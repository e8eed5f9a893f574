package dev.weft.internal.events;

import dev.weft.Fiber;
import dev.weft.internal.Log;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * Weft's events in the JDK's Flight Recorder. Without a recording they cost a field read; in a JVM
 * without the module {@code jdk.jfr}, nothing.
 *
 * <p>An event never fails its caller, which has a fiber in hand: the first failure is logged and
 * ends all recording.
 *
 * <p>The events of a fiber's life are recorded on its worker's or helper's thread, not on its own:
 * JDK 25 drops the first event of a carrier after one of a virtual thread that ran on it. So the
 * slice of a fiber that records events itself may be missing.
 */
public final class FlightEvents {
  private static final boolean AVAILABLE = isAvailable();

  private static final AtomicBoolean FAILED = new AtomicBoolean();

  private FlightEvents() {}

  private static boolean isAvailable() {
    try {
      FlightRecorder.isInitialized();
      return true;
    } catch (LinkageError e) { // no module jdk.jfr, or none that Weft's module reads
      return false;
    }
  }

  @Name("dev.weft.FiberStart")
  @Label("Fiber Start")
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
  @Category("Weft")
  @Threshold("10 ms")
  @StackTrace(false)
  static final class Blocking extends Event {
    @Label("Fiber")
    long fiber;

    @Label("Name")
    String name = "";
  }

  @Name("dev.weft.FibersStolen")
  @Label("Fibers Stolen")
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

  @Name("dev.weft.WorkerBlocked")
  @Label("Worker Blocked")
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
            event.commit();
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
              event.commit();
            }
          });
    }
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
              event.commit();
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

  public static void endBlockingCall(@Nullable Object begun, Fiber<?> fiber) {
    attempt(
        () -> {
          if (begun instanceof Blocking event) {
            event.end();
            if (event.shouldCommit()) {
              event.fiber = fiber.id();
              event.name = fiber.name();
              event.commit();
            }
          }
        });
  }

  public static void stolen(int thief, int victim, int count) {
    if (recording()) {
      attempt(
          () -> {
            FibersStolen event = new FibersStolen();
            event.from = victim;
            event.to = thief;
            event.count = count;
            event.commit();
          });
    }
  }

  public static void blocked(int thread, Fiber<?> fiber, long nanos) {
    if (recording()) {
      attempt(
          () -> {
            WorkerBlocked event = new WorkerBlocked();
            event.fiber = fiber.id();
            event.name = fiber.name();
            event.thread = thread;
            event.blockedFor = nanos;
            event.commit();
          });
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
        Log.error("Weft's events are off from now on: the Flight Recorder failed", e);
      } catch (Throwable unsaid) {
        // no memory: the fibers go on all the same
      }
    }
    return null;
  }
}
