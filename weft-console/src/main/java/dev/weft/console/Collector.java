package dev.weft.console;

import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import dev.weft.channel.Channel;
import dev.weft.internal.events.Lane;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.SchedulerCore;
import dev.weft.internal.watch.FiberLooks;
import dev.weft.internal.watch.FiberWalk;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the schedulers while a page is open. One fiber takes all looks, of two kinds:
 *
 * <pre>
 *   a tick  each second: threads, lanes, the process     the same message for each page
 *   a walk  through all fibers: counts, longest waits,   as often as its budget allows:
 *           and whatever the pages search and show       with a million fibers each ten seconds or so
 * </pre>
 *
 * <p>A search that a page asks for is part of the next walk, and waits until the budget allows one.
 * The stack of a fiber that a page has listed is taken at once and paid for afterwards: a user's
 * click gets an answer. So whatever pages ask for, looks take at most a fiftieth of one core in the
 * long run: see {@link Budget}.
 */
final class Collector {
  private static final int MOST_VIEWERS = 16;
  private static final int MOST_WAITS = 25;
  private static final long EVERY_NANOS = 1_000_000_000;
  private static final long RAREST_NANOS = 20_000_000_000L;

  // of each second, in milliseconds; together a fiftieth
  private static final int TICKS_PER_THOUSAND = 4;
  private static final int WALKS_PER_THOUSAND = 16;

  /** For how long looks may follow each other at once, after a quiet time. */
  static final long MOST_SAVED_NANOS = 500_000_000;

  private final Scheduler scheduler;
  private final Set<Viewer> viewers = ConcurrentHashMap.newKeySet();
  private final long origin = System.nanoTime();
  private final ProcessNumbers process = new ProcessNumbers();
  private final Budget ticks =
      new Budget(System::nanoTime, TICKS_PER_THOUSAND, MOST_SAVED_NANOS, RAREST_NANOS);
  private final Budget walks =
      new Budget(System::nanoTime, WALKS_PER_THOUSAND, MOST_SAVED_NANOS, RAREST_NANOS);

  // filled by a page that asks for something, to wake the looking fiber
  private final Channel<Boolean> asked = Channel.buffered(1);

  // where the next read of each lane begins; the looking fiber only
  private final Map<Lane, Long> positions = new WeakHashMap<>();

  // the last walk, and when it was; the looking fiber only
  private FiberWalk.States states = new FiberWalk.States();
  private List<WeakReference<FiberCore<?>>> waits = List.of(); // weak: as in KnownFibers
  private long walkedAt = System.nanoTime();

  // the fibers that pages have listed
  private final KnownFibers known = new KnownFibers();

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

  /** Looks for a page that has asked for something, as soon as a walk may begin. */
  void lookFor(Viewer viewer) {
    pauseOrGo(); // the page may be paused
    asked.trySend(true);
  }

  /** Starts or stops to look, by whether a page is there that wants it. */
  synchronized void pauseOrGo() {
    boolean wanted =
        !closed && viewers.stream().anyMatch(viewer -> !viewer.isPaused() || viewer.asks());
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

  // ---- the looking fiber ----

  private void lookOnAndOn() throws InterruptedException {
    long nextTick = System.nanoTime();
    long every = EVERY_NANOS;
    while (true) {
      long begin = System.nanoTime();
      synchronized (this) {
        if (looking == null || closed) {
          return; // cancelled meanwhile: the lanes stay off
        }
        FiberLooks.setLanes(true);
      }
      boolean isTick = begin - nextTick >= 0;
      if ((isTick || asks()) && walks.nanosUntilFree() == 0) {
        walk();
      }
      if (isTick) {
        every = tick(every);
        nextTick = begin + every;
      }
      pauseOrGo(); // no page may want more
      rest(nextTick, asks());
    }
  }

  private boolean asks() {
    return viewers.stream().anyMatch(Viewer::asks);
  }

  /** Waits for the next tick, for a page that asks, or until a walk for it may begin. */
  private void rest(long nextTick, boolean asks) throws InterruptedException {
    long rest = Math.max(0, nextTick - System.nanoTime());
    if (asks) {
      Fiber.sleep(Duration.ofNanos(Math.min(rest, walks.nanosUntilFree())));
    } else {
      asked.receive(Duration.ofNanos(rest)); // empty at the tick
    }
  }

  /** Sends the numbers of all schedulers to each page; returns when to do so again. */
  private long tick(long every) {
    long begin = System.nanoTime();
    String message = numbers(every);
    viewers.forEach(viewer -> viewer.offer(message));
    ticks.spend(System.nanoTime() - begin);
    return Math.max(EVERY_NANOS, ticks.nanosUntilFree());
  }

  // ---- walks ----

  /** What a page wants of a walk. */
  private record Wish(Viewer viewer, boolean asks, String shown, List<Long> stacks) {}

  /** Goes through all fibers, once for all pages. */
  private void walk() {
    long begin = System.nanoTime();
    List<Wish> wishes = new ArrayList<>();
    Map<String, Shown> shown = new HashMap<>();
    Map<Long, FiberWalk.ById> stacks = new HashMap<>();
    for (Viewer viewer : viewers) {
      boolean asks = viewer.asks();
      Wish wish = new Wish(viewer, asks, viewer.takeShown(), viewer.takeStacks());
      wishes.add(wish);
      shown.computeIfAbsent(wish.shown, Shown::of);
      wish.stacks.forEach(id -> stacks.computeIfAbsent(id, FiberWalk.ById::new));
    }
    FiberWalk.States counted = new FiberWalk.States();
    FiberWalk.LongestWaits longest = new FiberWalk.LongestWaits(MOST_WAITS);
    List<FiberWalk.Visitor> visitors = new ArrayList<>(List.of(counted, longest));
    shown.values().forEach(each -> visitors.addAll(each.visitors()));
    visitors.addAll(stacks.values());
    FiberWalk.run(visitors);

    states = counted;
    waits = weak(longest.fibers());
    walkedAt = System.nanoTime();
    known.addAll(longest.fibers());
    Map<String, String> messages = new HashMap<>();
    shown.forEach(
        (look, found) -> {
          known.addAll(found.fibers());
          messages.put(look, found.message());
        });
    for (Wish wish : wishes) {
      wish.viewer.offerShown(messages.getOrDefault(wish.shown, ""), wish.asks);
      for (long id : wish.stacks) {
        FiberWalk.ById found = stacks.get(id);
        wish.viewer.offerStack(id, found == null ? Optional.empty() : found.entry());
      }
    }
    walks.spend(System.nanoTime() - begin);
  }

  private static List<WeakReference<FiberCore<?>>> weak(List<FiberCore<?>> fibers) {
    List<WeakReference<FiberCore<?>>> references = new ArrayList<>();
    fibers.forEach(fiber -> references.add(new WeakReference<>(fiber)));
    return references;
  }

  /** Returns those of the longest waits that have not ended since the walk. */
  private List<FiberCore<?>> stillWaiting() {
    List<FiberCore<?>> waiting = new ArrayList<>();
    for (WeakReference<FiberCore<?>> reference : waits) {
      FiberCore<?> fiber = reference.get();
      if (fiber != null && fiber.isWaiting()) {
        waiting.add(fiber);
      }
    }
    return waiting;
  }

  /**
   * Returns a fiber that a page has listed, with its stack, at once; empty if a walk has to find
   * it.
   */
  Optional<FiberDump.Entry> entryOfKnown(long id) {
    FiberCore<?> fiber = known.get(id);
    if (fiber == null || fiber.status() == Fiber.Status.DONE) {
      return Optional.empty();
    }
    long begin = System.nanoTime();
    FiberDump.Entry entry = FiberLooks.entry(fiber);
    walks.spend(System.nanoTime() - begin);
    return Optional.of(entry);
  }

  // ---- ticks ----

  /** Returns the numbers of all schedulers, as a message. */
  private String numbers(long every) {
    long now = System.nanoTime();
    Json json = new Json().object().field("type", "tick");
    json.key("now").millis(now - origin).key("every").millis(every);
    json.key("counted").millis(now - walkedAt);
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
    lines(json, stillWaiting());
    return json.endObject().toString();
  }

  private void writeScheduler(Json json, SchedulerCore shown, long resolution) {
    SchedulerStats stats = states.of(shown);
    json.object().field("id", "" + FiberLooks.id(shown)).field("name", shown.name());
    json.field("begun", stats.begun()).field("ended", stats.ended());
    json.field("ready", stats.ready()).field("running", stats.running());
    json.field("sleeping", stats.sleeping()).field("waiting", stats.waiting());
    json.field("blocking", stats.blocking()).field("awaitingHelper", stats.awaitingHelper());
    json.field("apart", stats.apart());
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

  static void lines(Json json, List<FiberCore<?>> fibers) {
    long now = System.nanoTime();
    json.array();
    fibers.forEach(fiber -> line(json, FiberLooks.line(fiber, now)));
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
