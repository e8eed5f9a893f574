import dev.weft.*;
import dev.weft.sync.*;
import dev.weft.time.*;

static final int CALLS = 20;
static final int PER_PERIOD = 5;
static final Duration PERIOD = Duration.ofMillis(20);

/** Limits the number of calls in each period: a timer releases the permits again. */
void main() {
  long start = System.nanoTime();
  Semaphore permits = new Semaphore(PER_PERIOD);
  Timer refill = Scheduler.shared().timers()
      .every(PERIOD, () -> permits.release(PER_PERIOD - permits.availablePermits()));
  var called = new AtomicInteger();
  try (Scope callers = Scope.open()) {
    for (int i = 0; i < CALLS; i++) {
      callers.go(() -> {
        permits.acquire(); // fair: FIFO
        called.incrementAndGet();
      });
    }
    callers.join();
  }
  refill.cancel();
  Duration took = Duration.ofNanos(System.nanoTime() - start);
  IO.println(called + " calls");
  IO.println("in three periods or more: " + (took.compareTo(PERIOD.multipliedBy(3)) >= 0));
}
