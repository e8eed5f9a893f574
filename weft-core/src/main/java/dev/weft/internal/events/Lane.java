package dev.weft.internal.events;

import dev.weft.Fiber;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one worker did in the last seconds, for the lane view of the console. A worker has a lane
 * only while a console is connected; without one a slice costs a field read.
 *
 * <p>The lane is a ring of segments of a millisecond or more, so that a second has at most some
 * thousand, however many slices it has: slices and sleeps that are shorter are merged, and only
 * their number and their time are kept.
 *
 * <pre>
 *   slices   ▪▪ ▪ ▪▪▪    ▬▬▬▬▬▬        ▪▪
 *   segments [ MIXED ]   [ SLICE ][SLEEP][MIXED]
 * </pre>
 *
 * <p>The worker's thread writes, without atomic operations but for the count; any thread reads. A
 * reader drops what may have been overwritten while it read. Considered and refused: the Flight
 * Recorder's event stream, which costs an event for each slice and is seconds late.
 */
public final class Lane {
  /** Several short slices. */
  public static final int MIXED = 0;

  /** One slice of a millisecond or more. */
  public static final int SLICE = 1;

  /** One sleep of a millisecond or more. */
  public static final int SLEEP = 2;

  private static final int SIZE = 4096;

  /** How many old segments a reader leaves alone: the writer may be about to overwrite them. */
  private static final int MARGIN = 64;

  private static final long SHORT_NANOS = 1_000_000;

  /** From when on a slice or sleep that goes on is shown. */
  private static final long GOES_ON_NANOS = 20_000_000;

  /**
   * A piece of a lane.
   *
   * @param kind {@link #MIXED}, {@link #SLICE} or {@link #SLEEP}
   * @param start its first nanosecond, as System.nanoTime() counts
   * @param end its end
   * @param busy how long slices ran in it
   * @param slices how many slices ran in it
   * @param stolen how many fibers the worker took from others in it
   * @param fiber the fiber that ran, in a SLICE; else null
   */
  public record Segment(
      int kind,
      long start,
      long end,
      long busy,
      int slices,
      int stolen,
      @Nullable Fiber<?> fiber) {}

  /**
   * What a reader has got.
   *
   * @param position where the next read begins
   */
  public record Part(List<Segment> segments, long position) {}

  private final @Nullable Segment[] ring = new Segment[SIZE];

  // how many segments have been written; a volatile store publishes the segment before it
  private volatile long written;

  // what the worker does now: since when it runs this fiber, or sleeps; 0 if it does not
  private volatile long sliceSince;
  private volatile @Nullable Fiber<?> sliceOf;
  private volatile long sleepSince;

  // the MIXED segment that is growing; the worker's thread only
  private long start;
  private long end;
  private long busy;
  private int slices;
  private int stolen;

  // ---- the worker's side ----

  /** Notes that a slice begins. */
  public void beginSlice(Fiber<?> fiber, long now) {
    sliceOf = fiber;
    sliceSince = now;
  }

  /** Notes that the slice ends. */
  public void endSlice(long now) {
    long from = sliceSince;
    Fiber<?> fiber = sliceOf;
    sliceSince = 0;
    if (from == 0 || fiber == null) {
      return; // the slice began before the worker had a lane
    }
    if (now - from >= SHORT_NANOS) {
      flush();
      put(new Segment(SLICE, from, now, now - from, 1, 0, fiber));
      return;
    }
    if (slices > 0 && from - end > SHORT_NANOS) {
      flush();
    }
    if (slices == 0) {
      start = from;
    }
    end = now;
    busy += now - from;
    slices++;
    if (end - start >= SHORT_NANOS) {
      flush();
    }
  }

  /** Notes that the worker goes to sleep. */
  public void beginSleep(long now) {
    sleepSince = now;
  }

  /** Notes that the worker is awake. */
  public void endSleep(long now) {
    long from = sleepSince;
    sleepSince = 0;
    if (from != 0 && now - from >= SHORT_NANOS) {
      flush();
      put(new Segment(SLEEP, from, now, 0, 0, 0, null));
    }
  }

  /** Notes that the worker took fibers over; they belong to the slices that follow. */
  public void stole(int count) {
    stolen += count;
  }

  private void flush() {
    if (slices > 0) {
      put(new Segment(MIXED, start, end, busy, slices, stolen, null));
      slices = 0;
      busy = 0;
      stolen = 0;
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // by the worker's thread alone
  private void put(Segment segment) {
    ring[(int) (written & (SIZE - 1))] = segment;
    written++;
  }

  // ---- the reader's side ----

  /**
   * Returns the segments since a position. A slice or sleep that goes on is the last of them, and
   * comes again, longer, with the next call.
   */
  public Part since(long position, long now) {
    long to = written;
    List<Segment> found = new ArrayList<>();
    for (long i = Math.max(position, to - SIZE + MARGIN); i < to; i++) {
      Segment segment = ring[(int) (i & (SIZE - 1))];
      if (segment != null) {
        found.add(segment);
      }
    }
    long slice = sliceSince;
    Fiber<?> fiber = sliceOf;
    long sleep = sleepSince;
    if (slice != 0 && fiber != null && now - slice >= GOES_ON_NANOS) {
      found.add(new Segment(SLICE, slice, now, now - slice, 1, 0, fiber));
    } else if (sleep != 0 && now - sleep >= GOES_ON_NANOS) {
      found.add(new Segment(SLEEP, sleep, now, 0, 0, 0, null));
    }
    return new Part(found, to);
  }
}
