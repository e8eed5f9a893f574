package dev.weft.internal.switching;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Mounting a virtual thread that is interrupted and inspected meanwhile. */
class MountingClassTest {
  private static final long NANOS = 2_000_000_000L;

  private final ConcurrentLinkedQueue<Runnable> slices = new ConcurrentLinkedQueue<>();
  private volatile boolean done;

  /**
   * A thread that takes the stack of a ready thread keeps that thread from being mounted at that
   * moment: by then an interrupt may have reached the carrier.
   */
  @Test
  @Feature("H4")
  void anInterruptThatMeetsAFailedMountDoesNotStayWithTheCarrier() throws Exception {
    Thread virtual = VirtualThreads.create(slices::add, "mounted", false, this::yieldUntilDone);
    VirtualThreads.Container container =
        new VirtualThreads.Container("mounting", () -> Stream.of(virtual));
    VirtualThreads.start(virtual, container);
    Thread interrupter = begin(virtual::interrupt);
    Thread looker = begin(virtual::getStackTrace);
    try {
      long end = System.nanoTime() + NANOS;
      int left = 0;
      while (System.nanoTime() < end) {
        runSlice(virtual);
        if (Thread.interrupted()) {
          left++;
        }
      }
      assertThat(left).as("interrupts that stayed with the carrier").isZero();
    } finally {
      done = true;
      interrupter.join();
      looker.join();
      while (virtual.isAlive()) {
        runSlice(virtual);
      }
      container.deregister();
      Thread.interrupted();
    }
  }

  private void yieldUntilDone() {
    while (!done) {
      Thread.interrupted();
      Thread.yield();
    }
  }

  private Thread begin(Runnable disturb) {
    return Thread.ofPlatform()
        .start(
            () -> {
              while (!done) {
                disturb.run();
              }
            });
  }

  /** Runs a slice as a worker does. */
  private void runSlice(Thread virtual) {
    Runnable slice = slices.poll();
    if (slice != null) {
      int end = Mounting.run(virtual, slice);
      if (end != Mounting.LEFT && Mounting.leave(virtual, end)) {
        slices.add(Objects.requireNonNull(slice));
      }
    }
  }
}
