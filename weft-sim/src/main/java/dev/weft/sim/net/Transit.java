package dev.weft.sim.net;

import java.util.SplittableRandom;

/** A single packet under way, such as a request to connect; a partition holds it up. */
final class Transit {
  private Transit() {}

  /** Runs an action when the packet arrives; returns when that is, without partitions. */
  static long send(NetworkWorld world, Path path, SplittableRandom random, Runnable arrives) {
    long due = world.now() + path.delay(random) + path.stall(random);
    world.at(
        due,
        () -> {
          if (path.isCut()) {
            path.hold(() -> send(world, path, random, arrives));
          } else {
            arrives.run();
          }
        });
    return due;
  }
}
