import dev.weft.*;

/** One scheduler, no thread but the caller's: fibers run inside stop(), in FIFO order. */
void main() {
  Scheduler scheduler = Scheduler.builder().threads(1).useCaller(true).build();
  Fiber<?> first = scheduler.go(() -> {
    IO.println("f1 begin");
    IO.println("f1 before");
    Fiber.suspend(); // until f4 schedules it
    IO.println("f1 after");
  });
  scheduler.go(() -> IO.println("f2"));
  scheduler.go(() -> IO.println("f3"));
  scheduler.go(() -> {
    IO.println("f4 begin");
    scheduler.schedule(first);
    IO.println("f4 end");
  });
  scheduler.start();
  IO.println("nothing has run yet");
  scheduler.stop();
}
