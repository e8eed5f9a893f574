package dev.weft.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.events.Lane;
import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is told of a lane; times in milliseconds. */
@Feature("O3")
class LaneWriterTest {
  private final List<Lane.Segment> segments = new ArrayList<>();

  private void add(int kind, double from, double to) {
    long busy = kind == Lane.SLEEP ? 0 : nanos(to - from);
    segments.add(
        new Lane.Segment(kind, nanos(from), nanos(to), busy, kind == Lane.SLEEP ? 0 : 1, 0, null));
  }

  private static long nanos(double millis) {
    return (long) (millis * 1_000_000);
  }

  private String told() {
    Json json = new Json();
    LaneWriter.write(json, segments, nanos(5), 0);
    return json.toString();
  }

  /** As those of an idle worker that stands in for one that is held: it looks every millisecond. */
  @Test
  void shortSleepsWithoutSlicesBetweenAreOneSleep() {
    add(Lane.MIXED, 0, 1);
    for (int i = 1; i < 20; i++) {
      add(Lane.SLEEP, i + .1, i + 1);
    }
    add(Lane.MIXED, 21, 22);
    assertThat(told()).isEqualTo("[[0,0,1,1,1,0],[2,1.10,20,0,0,0],[0,21,22,1,1,0]]");
  }

  @Test
  void shortSleepsBetweenSlicesAreAPartOfThem() {
    for (int i = 0; i < 12; i += 2) {
      add(Lane.MIXED, i, i + 1);
      add(Lane.SLEEP, i + 1, i + 2);
    }
    assertThat(told()).isEqualTo("[[0,0,5,3,3,0],[0,6,11,3,3,0]]");
  }

  @Test
  void aLongSleepEndsTheSlicesBeforeIt() {
    add(Lane.MIXED, 0, 1);
    add(Lane.SLEEP, 1, 11);
    add(Lane.SLICE, 11, 17);
    assertThat(told()).isEqualTo("[[0,0,1,1,1,0],[2,1,11,0,0,0],[1,11,17,6,1,0]]");
  }
}
