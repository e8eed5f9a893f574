package dev.weft;

import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/**
 * Weft's events in the JDK's Flight Recorder. While nothing records they cost a field read.
 *
 * <p>The events of a fiber's life are recorded on its worker's or helper's thread, not on its own:
 * JDK 25 drops the first event of a carrier after one of a virtual thread that ran on it. So the
 * slice of a fiber that records events itself may be missing.
 */
final class FlightEvents {
  private FlightEvents() {}

  @Name("dev.weft.FiberStart")
  @Label("Fiber Start")
  @Category("Weft")
  @Enabled(false) // one for each fiber: as with the JDK's virtual threads, who wants them asks
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
  @Enabled(false) // one for each fiber: as with the JDK's virtual threads, who wants them asks
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

  /** Returns whether anything records: asked before any event is made. */
  static boolean recording() {
    return FlightRecorder.isInitialized();
  }

  static void started(Fiber<?> fiber) {
    FiberStart event = new FiberStart();
    if (event.shouldCommit()) {
      event.fiber = fiber.id();
      event.name = fiber.name();
      event.scheduler = fiber.scheduler().name();
      event.commit();
    }
  }

  static void ended(Fiber<?> fiber) {
    if (recording()) {
      FiberEnd event = new FiberEnd();
      if (event.shouldCommit()) {
        event.fiber = fiber.id();
        event.name = fiber.name();
        event.commit();
      }
    }
  }

  static int recordSlice(Worker worker, Fiber<?> fiber) {
    FiberSlice event = new FiberSlice();
    event.begin();
    int end = fiber.runSlice();
    event.end();
    if (event.shouldCommit()) {
      event.fiber = fiber.id();
      event.name = fiber.name();
      event.thread = worker.index;
      event.commit();
    }
    return end;
  }

  static int recordBlockingCall(Fiber<?> fiber) {
    Blocking event = new Blocking();
    event.begin();
    int end = fiber.runSlice();
    event.end();
    if (event.shouldCommit()) {
      event.fiber = fiber.id();
      event.name = fiber.name();
      event.commit();
    }
    return end;
  }

  static void stolen(Worker thief, Worker victim, int count) {
    if (recording()) {
      FibersStolen event = new FibersStolen();
      event.from = victim.index;
      event.to = thief.index;
      event.count = count;
      event.commit();
    }
  }

  static void blocked(Worker worker, Fiber<?> fiber, long nanos) {
    if (recording()) {
      WorkerBlocked event = new WorkerBlocked();
      event.fiber = fiber.id();
      event.name = fiber.name();
      event.thread = worker.index;
      event.blockedFor = nanos;
      event.commit();
    }
  }
}
