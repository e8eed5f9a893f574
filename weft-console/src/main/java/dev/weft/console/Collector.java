package dev.weft.console;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import dev.weft.internal.events.Lane;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.watch.FiberLooks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the schedulers once a second, while a page is open, and gives each page the same
 * message. If looks take long, as with a million fibers, they become rarer: the collector works for
 * a fiftieth of the time at most.
 */
final class Collector {
  private static final int MOST_VIEWERS = 16;
  private static final int MOST_WAITS = 25;
  private static final long EVERY_NANOS = 1_000_000_000;
  private static final long RAREST_NANOS = 20_000_000_000L;
  private static final int REST_FACTOR = 50;

  private final Scheduler scheduler;
  private final Set<Viewer> viewers = ConcurrentHashMap.newKeySet();
  private final long origin = System.nanoTime();
  private final ProcessNumbers process = new ProcessNumbers();

  // where the next read of each lane begins; the looking fiber only
  private final Map<Lane, Long> positions = new WeakHashMap<>();

  private @Nullable Fiber<Void> looking; // guarded by this
  private boolean closed; // guarded by this

  /** Creates a collector that runs on this scheduler. */
  Collector(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Takes a page in; returns false if there are too many. */
  synchronized boolean add(Viewer viewer) {
    if (closed || viewers.size() >= MOST_VIEWERS) {
      return false;
    }
    viewers.add(viewer);
    pauseOrGo();
    return true;
  }

  synchronized void remove(Viewer viewer) {
    viewers.remove(viewer);
    pauseOrGo();
  }

  /** Starts or stops to look, by whether a page is there that wants it. */
  synchronized void pauseOrGo() {
    boolean wanted = !closed && viewers.stream().anyMatch(viewer -> !viewer.isPaused());
    if (wanted && looking == null) {
      looking = scheduler.go(FiberOptions.named("collector"), this::lookOnAndOn);
    } else if (!wanted && looking != null) {
      looking.cancel();
      looking = null;
      FiberLooks.setLanes(false);
    }
  }

  /** Ends all pages. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    endAll();
    FiberLooks.setLanes(false);
  }

  /** Tells all pages at once: a page that does not answer takes a second. */
  private void endAll() {
    List<Fiber<Void>> ending =
        viewers.stream().map(viewer -> scheduler.go(() -> viewer.end())).toList();
    for (Fiber<Void> each : ending) {
      try {
        each.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // the server's stop closes the others
        return;
      } catch (RuntimeException e) {
        // the page has gone
      }
    }
  }

  private void lookOnAndOn() throws InterruptedException {
    long every = EVERY_NANOS;
    long tookBefore = 0;
    while (true) {
      long begin = System.nanoTime();
      synchronized (this) {
        if (looking == null || closed) {
          return; // cancelled meanwhile: the lanes stay off
        }
        FiberLooks.setLanes(true);
      }
      String message = look(every);
      viewers.forEach(viewer -> viewer.offer(message));
      long took = System.nanoTime() - begin;
      // of two looks the shorter: a look may have lost its core, or been interpreted
      every = Math.clamp(Math.min(took, tookBefore) * REST_FACTOR, EVERY_NANOS, RAREST_NANOS);
      tookBefore = took;
      Fiber.sleep(Duration.ofNanos(every));
    }
  }

  /** Returns the numbers of all schedulers, as a message. */
  private String look(long every) {
    long now = System.nanoTime();
    Json json = new Json().object().field("type", "tick");
    json.key("now").millis(now - origin).key("every").millis(every);
    process.write(json.key("process"));
    List<SchedulerCore> schedulers = FiberLooks.schedulers();
    long resolution = LaneWriter.resolution(schedulers.stream().mapToInt(s -> s.threads()).sum());
    json.key("schedulers").array();
    for (SchedulerCore each : schedulers) {
      if (each.live.begun() > 0) { // a scheduler that was never used has nothing to show
        writeScheduler(json, each, resolution);
      }
    }
    json.endArray().key("waits");
    lines(json, FiberLooks.longestWaits(MOST_WAITS));
    return json.endObject().toString();
  }

  private void writeScheduler(Json json, SchedulerCore shown, long resolution) {
    SchedulerStats stats = shown.stats();
    json.object().field("name", shown.name());
    json.field("begun", stats.begun()).field("ended", stats.ended());
    json.field("ready", stats.ready()).field("running", stats.running());
    json.field("sleeping", stats.sleeping()).field("waiting", stats.waiting());
    json.field("blocking", stats.blocking()).field("awaitingHelper", stats.awaitingHelper());
    json.field("rescues", stats.rescues()).key("workers").array();
    for (SchedulerStats.OfThread thread : stats.threads()) {
      json.object().field("ready", thread.ready()).field("timers", thread.timers());
      json.field("switches", thread.switches()).field("stolen", thread.stolen());
      json.field("sleeps", thread.sleeps()).field("asleep", thread.asleep());
      json.field("held", FiberLooks.isHeld(shown, thread.index())).key("lane");
      Lane lane = shown.workers[thread.index()].lane;
      List<Lane.Segment> segments = lane == null ? List.of() : newSegments(lane);
      LaneWriter.write(json, segments, resolution, origin);
      json.endObject();
    }
    json.endArray().endObject();
  }

  private List<Lane.Segment> newSegments(Lane lane) {
    Lane.Part part = lane.since(positions.getOrDefault(lane, 0L), System.nanoTime());
    positions.put(lane, part.position());
    return part.segments();
  }

  static void lines(Json json, List<FiberLooks.Line> lines) {
    json.array();
    lines.forEach(line -> line(json, line));
    json.endArray();
  }

  static void line(Json json, FiberLooks.Line line) {
    json.object().field("id", line.id()).field("name", line.name());
    json.field("scheduler", line.scheduler()).field("state", line.state());
    json.field("thread", line.thread()).field("waitsFor", line.waitsFor());
    json.key("waited").millis(line.nanos() / 1_000_000 * 1_000_000);
    json.endObject();
  }
}
