package dev.weft.sim;

import dev.weft.internal.sched.FiberCore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The fibers of a run, numbered in the order in which they became ready for the first time. */
final class Lanes {
  private final List<Lane> all = new ArrayList<>();
  private final Map<FiberCore<?>, Lane> byFiber = new IdentityHashMap<>();

  @Nullable Lane get(FiberCore<?> fiber) {
    return byFiber.get(fiber);
  }

  Lane add(FiberCore<?> fiber, Host host) {
    Lane lane = new Lane(fiber, all.size(), host);
    all.add(lane);
    byFiber.put(fiber, lane);
    return lane;
  }

  List<Lane> all() {
    return Collections.unmodifiableList(all);
  }

  /** Freezes the fibers of a host; returns them. */
  List<Lane> freeze(Host host, ReadyLanes ready) {
    List<Lane> frozen = new ArrayList<>();
    for (Lane lane : all) {
      if (lane.host == host && !lane.ended && !lane.frozen) {
        lane.frozen = true;
        lane.readyWhileFrozen = ready.removeIfThere(lane);
        frozen.add(lane);
      }
    }
    return frozen;
  }

  /** After a run: interrupts the fibers that are left, the frozen ones too, so that they end. */
  void interruptAll(ReadyLanes ready) {
    for (Lane lane : List.copyOf(all)) {
      if (!lane.ended) {
        if (lane.thaw()) {
          ready.add(lane);
        }
        Thread thread = lane.fiber.threadOrNull();
        if (thread != null) {
          thread.interrupt();
        } else {
          lane.fiber.cancel();
        }
      }
    }
  }

  void clear() {
    all.clear();
    byFiber.clear();
  }
}
