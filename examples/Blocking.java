import dev.weft.*;

/** A fiber reads a file on a helper thread; the only thread of its scheduler runs other fibers meanwhile. */
void main() throws Exception {
  Path file = Files.createTempFile("weft", ".txt");
  try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
    Fiber<Void> reader = scheduler.go(() -> {
      IO.println("before: on thread " + Fiber.threadIndex());
      List<String> lines = Weft.blocking(() -> {
        Files.writeString(file, "warp\nweft\n");
        return Files.readAllLines(file);
      });
      IO.println(lines);
      IO.println("after: on thread " + Fiber.threadIndex() + " again");
    });
    reader.join();

    // the proof: this body blocks its thread until another fiber has run on the scheduler's thread
    var otherFiberRan = new CountDownLatch(1);
    Fiber<Boolean> blocked = scheduler.go(() -> Weft.blocking(() -> otherFiberRan.await(10, TimeUnit.SECONDS)));
    scheduler.go(otherFiberRan::countDown);
    IO.println("another fiber ran during the blocking call: " + blocked.join());
  } finally {
    Files.delete(file);
  }
}
