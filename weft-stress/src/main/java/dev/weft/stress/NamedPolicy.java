package dev.weft.stress;

import dev.weft.Policy;
import java.time.Duration;
import java.util.SplittableRandom;

/** A policy that Weft ships, with a name for reports. */
record NamedPolicy(String name, Policy policy) {
  static NamedPolicy any(SplittableRandom random) {
    return switch (random.nextInt(5)) {
      case 0 -> new NamedPolicy("fifo", Policy.fifo());
      case 1 -> new NamedPolicy("priority", Policy.priority());
      case 2 -> new NamedPolicy("responseRatio", Policy.responseRatio());
      case 3 -> {
        Duration slice = Duration.ofNanos(20_000 + random.nextInt(500_000));
        yield new NamedPolicy("timeSlice", Policy.timeSlice(slice));
      }
      default -> new NamedPolicy("workStealing", Policy.workStealing());
    };
  }
}
