package dev.weft.sim;

import dev.weft.sim.RunResult.TraceEvent;
import java.util.List;

/** Says why nothing goes on. */
final class Deadlocks {
  private Deadlocks() {}

  static String describe(List<Lane> lanes) {
    StringBuilder text = new StringBuilder("deadlock: all fibers wait, and no timer is left");
    for (Lane lane : lanes) {
      if (!lane.ended) {
        Thread thread = lane.fiber.threadOrNull();
        if (thread != null) {
          TraceEvent at = Where.of(0, lane.number, thread, "waits");
          text.append("\n    ").append(lane.name()).append(' ').append(at.what());
          text.append(at.place().isEmpty() ? "" : " at " + at.place());
        }
      }
    }
    return text.toString();
  }
}
