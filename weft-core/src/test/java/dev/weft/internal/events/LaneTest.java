package dev.weft.internal.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a lane keeps of a worker's slices and sleeps; times in microseconds. */
@Feature("O3")
class LaneTest {
  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Fiber<Void> fiber = scheduler.go(() -> {});
  private final Lane lane = new Lane();

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  private void slice(long from, long to) {
    lane.beginSlice(fiber, from * 1_000);
    lane.endSlice(to * 1_000);
  }

  private void sleep(long from, long to) {
    lane.beginSleep(from * 1_000);
    lane.endSleep(to * 1_000);
  }

  private List<Lane.Segment> segments() {
    return lane.since(0, 0).segments();
  }

  private Lane.Segment segment(
      int kind, long start, long end, long busy, int slices, int stolen, boolean named) {
    return new Lane.Segment(
        kind, start * 1_000, end * 1_000, busy * 1_000, slices, stolen, named ? fiber : null);
  }

  @Test
  void shortSlicesAreMergedUntilAMillisecondIsFull() {
    for (int i = 0; i < 20; i++) {
      slice(100 + 100 * i, 150 + 100 * i);
    }
    assertThat(segments())
        .containsExactly(segment(Lane.MIXED, 100, 1_150, 550, 11, 0, false)); // the rest grows on
    sleep(3_000, 9_000);
    assertThat(segments())
        .containsExactly(
            segment(Lane.MIXED, 100, 1_150, 550, 11, 0, false),
            segment(Lane.MIXED, 1_200, 2_050, 450, 9, 0, false),
            segment(Lane.SLEEP, 3_000, 9_000, 0, 0, 0, false));
  }

  @Test
  void aLongSliceHasItsFiberAndStealsBelongToTheSlicesAfterThem() {
    slice(100, 5_100);
    lane.stole(3);
    slice(5_200, 5_300);
    sleep(5_300, 5_400); // too short to be seen
    slice(9_000, 9_100); // after a gap
    slice(9_200, 12_000);
    assertThat(segments())
        .containsExactly(
            segment(Lane.SLICE, 100, 5_100, 5_000, 1, 0, true),
            segment(Lane.MIXED, 5_200, 5_300, 100, 1, 3, false),
            segment(Lane.MIXED, 9_000, 9_100, 100, 1, 0, false),
            segment(Lane.SLICE, 9_200, 12_000, 2_800, 1, 0, true));
  }

  @Test
  void anOpenSegmentIsTheLastAndComesAgain() {
    slice(100, 5_100);
    lane.beginSlice(fiber, 6_000_000);
    Lane.Part part = lane.since(0, 30_000_000);
    assertThat(part.segments().getLast())
        .isEqualTo(segment(Lane.SLICE, 6_000, 30_000, 24_000, 1, 0, true));
    lane.endSlice(50_000_000);
    lane.beginSleep(50_000_000);
    Lane.Part next = lane.since(part.position(), 80_000_000);
    assertThat(next.segments())
        .containsExactly(
            segment(Lane.SLICE, 6_000, 50_000, 44_000, 1, 0, true),
            segment(Lane.SLEEP, 50_000, 80_000, 0, 0, 0, false));
    assertThat(lane.since(next.position(), 50_000_001).segments()).isEmpty();
  }

  @Test
  void theOldestSegmentsAreOverwritten() {
    for (int i = 0; i < 10_000; i++) {
      slice(2_000L * i, 2_000L * i + 1_500);
    }
    List<Lane.Segment> kept = segments();
    assertThat(kept).hasSizeBetween(4_000, 4_096);
    assertThat(kept.getLast().start()).isEqualTo(2_000_000L * 9_999);
    assertThat(kept.getFirst().start()).isEqualTo(2_000_000L * (10_000 - kept.size()));
  }

  @Test
  void aSliceThatBeganBeforeTheLaneIsLeftOut() {
    lane.endSlice(5_000_000);
    lane.endSleep(9_000_000);
    assertThat(segments()).isEmpty();
  }
}
