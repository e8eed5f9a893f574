package dev.weft.console;

import dev.weft.Fiber;
import dev.weft.internal.PlainText;
import dev.weft.internal.events.Lane;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the segments of a lane as the page draws them: {@code [kind, start, end, busy, slices,
 * stolen, fiber, id]}, times in milliseconds. Segments that are shorter than a resolution are
 * merged, so that a message has some hundred for each worker at most, and fewer if there are many
 * workers. Sleeps without a slice between them are one sleep: an idle worker wakes each millisecond
 * while it stands in for a worker that is held.
 */
final class LaneWriter {
  private static final long FINEST_NANOS = 5_000_000;
  private static final int WORKERS_AT_FINEST = 8;

  private final Json json;
  private final long resolution;
  private final long origin;

  // the merged segment that is growing; empty if it has no slices
  private long start;
  private long end;
  private long busy;
  private int slices;
  private int stolen;
  private long longest;
  private @Nullable Fiber<?> fiber;

  // the sleeps since the last slice; none if there is no time between
  private long sleepStart;
  private long sleepEnd;

  private LaneWriter(Json json, long resolution, long origin) {
    this.json = json;
    this.resolution = resolution;
    this.origin = origin;
  }

  /** Returns the shortest segment for so many workers. */
  static long resolution(int workers) {
    return FINEST_NANOS * Math.max(1, (workers + WORKERS_AT_FINEST - 1) / WORKERS_AT_FINEST);
  }

  static void write(Json json, List<Lane.Segment> segments, long resolution, long origin) {
    LaneWriter writer = new LaneWriter(json, resolution, origin);
    json.array();
    segments.forEach(writer::add);
    writer.endSleep();
    writer.flush();
    json.endArray();
  }

  private void add(Lane.Segment segment) {
    if (segment.kind() == Lane.SLEEP) {
      if (sleepStart == sleepEnd) {
        sleepStart = segment.start();
      }
      sleepEnd = segment.end();
      return;
    }
    endSleep();
    boolean isLong = segment.end() - segment.start() >= resolution;
    if (slices > 0 && (isLong || segment.start() - end >= resolution)) {
      flush();
    }
    if (isLong && segment.kind() != Lane.MIXED) {
      emit(
          segment.kind(),
          segment.start(),
          segment.end(),
          segment.busy(),
          segment.slices(),
          0,
          segment.fiber());
    } else {
      merge(segment);
    }
  }

  private void endSleep() {
    if (sleepEnd - sleepStart >= resolution) {
      flush();
      emit(Lane.SLEEP, sleepStart, sleepEnd, 0, 0, 0, null);
    }
    sleepStart = sleepEnd;
  }

  private void merge(Lane.Segment segment) {
    if (slices == 0) {
      start = segment.start();
    }
    end = segment.end();
    busy += segment.busy();
    slices += segment.slices();
    stolen += segment.stolen();
    if (segment.fiber() != null && segment.busy() > longest) {
      longest = segment.busy();
      fiber = segment.fiber();
    }
    if (end - start >= resolution) {
      flush();
    }
  }

  private void flush() {
    if (slices > 0) {
      emit(Lane.MIXED, start, end, busy, slices, stolen, fiber);
      busy = 0;
      slices = 0;
      stolen = 0;
      longest = 0;
      fiber = null;
    }
  }

  private void emit(
      int kind, long from, long to, long ran, int count, int taken, @Nullable Fiber<?> of) {
    json.array().value(kind).millis(from - origin).millis(to - origin).millis(ran);
    json.value(count).value(taken);
    if (of != null) {
      json.value(PlainText.shortened(of.name())).value(of.id());
    }
    json.endArray();
  }
}
