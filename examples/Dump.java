import dev.weft.*;
import dev.weft.channel.*;
import dev.weft.sync.*;

/** A dump tells what each fiber of a scheduler waits for, and which fiber holds the lock. */
void main() throws InterruptedException {
  Mutex mutex = new Mutex();
  Channel<String> never = Channel.rendezvous();
  try (Scheduler scheduler = Scheduler.builder().name("demo").build().start()) {
    Fiber<?> holder = scheduler.go(FiberOptions.named("holder"), () -> {
      mutex.lock();
      try {
        never.receive();
      } finally {
        mutex.unlock();
      }
    });
    while (!mutex.isLocked()) {
      Fiber.sleep(Duration.ofMillis(1));
    }
    Fiber<?> waiter = scheduler.go(FiberOptions.named("waiter"), () -> mutex.lockInterruptibly());
    while (waiter.status() != Fiber.Status.WAITING) {
      Fiber.sleep(Duration.ofMillis(1));
    }

    FiberDump dump = scheduler.dump(); // dump.text() and dump.json() have numbers, times and stacks too
    for (FiberDump.Entry fiber : dump.fibers()) {
      String what = fiber.waitsFor().replaceFirst(" (of|from) .*", "");
      String owner = fiber.heldBy().isEmpty() ? "" : ", which another fiber holds";
      IO.println(fiber.name() + " is " + fiber.status() + " for " + what + owner);
    }
    waiter.cancel();
    holder.cancel();
  }
}
