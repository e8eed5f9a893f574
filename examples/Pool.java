import dev.weft.*;

/** A pool bounds how much runs at once: three fibers and a queue of four tasks, then submitters wait. */
void main() throws Exception {
  var running = new AtomicInteger();
  var most = new AtomicInteger();
  List<Future<Integer>> squares = new ArrayList<>();
  try (FiberPool pool = FiberPool.builder().fibers(3).queue(4).build()) {
    for (int i = 1; i <= 20; i++) {
      int number = i;
      squares.add(pool.submit(() -> { // waits while the queue is full
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        Fiber.sleep(Duration.ofMillis(2));
        running.decrementAndGet();
        return number * number;
      }));
    }
  } // close() waits for the tasks
  int sum = 0;
  for (Future<Integer> square : squares) {
    sum += square.get();
  }
  IO.println("sum of squares: " + sum);
  IO.println("never more than three at once: " + (most.get() <= 3));
}
